// Package shrink makes a failing value smaller: a program, a schedule, or any other test case
// that is data. It knows no type of program. Least tries reductions of a value; Parts leaves
// out parts of a list.
package shrink

import "slices"

// Least returns a value to which no reduction can be applied so that it still fails. reduce
// walks over a value, offers each of its reductions to the Pick, and applies those that Hit
// allows to a copy. Least applies one at a time, in the order of the walk. A walk that offers
// large reductions first is faster. Each reduction must make the value smaller; otherwise
// Least does not return.
func Least[T any](v T, reduce func(*Pick, T) T, fails func(T) bool) T {
	for again := true; again; {
		again = false
		for i := 0; ; {
			pick := &Pick{left: i}
			smaller := reduce(pick, v)
			if pick.left >= 0 {
				break
			}
			if fails(smaller) {
				v, again = smaller, true // the next reduction now has the number i
			} else {
				i++
			}
		}
	}
	return v
}

// Pick selects one of the reductions that a walk offers.
type Pick struct{ left int }

// Hit reports whether the reduction that is offered is the selected one.
func (p *Pick) Hit() bool {
	p.left--
	return p.left == -1
}

// Zero offers to set v to its zero value, unless v has it already.
func Zero[T comparable](p *Pick, v *T) {
	var zero T
	if *v != zero && p.Hit() {
		*v = zero
	}
}

// One offers each of the values in place of v.
func One[T any](p *Pick, v T, smaller []T) T {
	for _, s := range smaller {
		if p.Hit() {
			return s
		}
	}
	return v
}

// List offers to leave out each element of a list, and then the reductions that inside offers
// for each. It returns a copy.
func List[E any](p *Pick, list []E, inside func(*E)) []E {
	list = slices.Clone(list)
	for i := range list {
		if p.Hit() {
			return slices.Delete(list, i, i+1)
		}
	}
	for i := range list {
		inside(&list[i])
	}
	return list
}

// Parts leaves out parts of a list: first halves, at last single elements, again until no
// element can be left out. try returns the list that remains of a shorter one, and whether
// that still fails; it may be shorter still, and then Parts continues with it.
func Parts[E any](list []E, try func([]E) ([]E, bool)) []E {
	for changed := true; changed; {
		changed = false
		for size := (len(list) + 1) / 2; size >= 1; size /= 2 {
			for at := 0; at+size <= len(list); {
				if left, ok := try(slices.Concat(list[:at], list[at+size:])); ok {
					list, changed = left, true
				} else {
					at++
				}
			}
		}
	}
	return list
}
