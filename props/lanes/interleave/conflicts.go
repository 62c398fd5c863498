package interleave

import (
	"strings"

	"eventide/props/interleave/inprocess"
)

// Conflicts counts pairs of operations on one object by two goroutines, of which one
// changes the object: "core/a.go:1 unlock > core/b.go:2 lock" has the number of sampled
// schedules in which the second operation followed the first with no other operation on
// the object between them. A pair with 0 was not seen so: both operations were on one
// object, on two goroutines, but never in this order one right after the other. If
// something else orders them, no schedule shows the pair.
type Conflicts map[string]int

// visitor is an operation at a place: the first goroutine that made it, and whether
// others made it too.
type visitor struct {
	name   string
	op     string
	write  bool
	first  int
	others bool
}

// add enters a traced schedule.
func (c Conflicts) add(trace []inprocess.Event) {
	objects := map[int][]visitor{}
	last := map[int]inprocess.Event{}
	hit := map[[2]string]bool{}
	for _, e := range trace {
		if e.Object == 0 || e.Op == inprocess.Blocked || !strings.HasPrefix(e.Site, "core/") {
			continue
		}
		if p, ok := last[e.Object]; ok && p.G != e.G && meet(p.Op, e.Op, p.Write, e.Write) {
			hit[[2]string{place(p), place(e)}] = true
		}
		last[e.Object] = e
		objects[e.Object] = visit(objects[e.Object], e)
	}
	for _, at := range objects {
		for _, a := range at {
			for _, b := range at {
				if (a.first != b.first || a.others || b.others) && meet(a.op, b.op, a.write, b.write) {
					c[a.name+" > "+b.name] += 0
				}
			}
		}
	}
	for pair := range hit {
		c[pair[0]+" > "+pair[1]]++
	}
}

func place(e inprocess.Event) string { return e.Site + " " + e.Op }

func visit(at []visitor, e inprocess.Event) []visitor {
	name := place(e)
	for i := range at {
		if v := &at[i]; v.name == name {
			v.others = v.others || v.first != e.G
			v.write = v.write || e.Write
			return at
		}
	}
	return append(at, visitor{name: name, op: e.Op, write: e.Write, first: e.G})
}

// meet reports whether b may follow a at once, on another goroutine, and their order
// matters. For locks these are an unlock and the next lock.
func meet(a, b string, aWrites, bWrites bool) bool {
	locks := b == "lock" || b == "wlock" || b == "trylock"
	switch a {
	case "lock", "wlock", "rlock":
		return false
	case "unlock":
		return locks || b == "rlock" || b == "tryrlock"
	case "runlock":
		return locks
	}
	return (aWrites || bWrites) && b != "unlock" && b != "runlock"
}
