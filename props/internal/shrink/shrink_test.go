package shrink_test

import (
	"slices"
	"testing"

	"eventide/props/internal/shrink"

	"pgregory.net/rapid"
)

// tree is a value with every kind of reduction.
type tree struct {
	n    int
	flag bool
	kids []tree
}

func reduce(p *shrink.Pick, t tree) tree {
	shrink.Zero(p, &t.n)
	shrink.Zero(p, &t.flag)
	t.kids = shrink.List(p, t.kids, func(k *tree) { *k = reduce(p, *k) })
	if len(t.kids) == 2 {
		t = shrink.One(p, t, t.kids)
	}
	return t
}

func trees(depth int) *rapid.Generator[tree] {
	return rapid.Custom(func(t *rapid.T) tree {
		v := tree{n: rapid.IntRange(0, 5).Draw(t, "n"), flag: rapid.Bool().Draw(t, "flag")}
		if depth > 0 {
			v.kids = rapid.SliceOfN(trees(depth-1), 0, 3).Draw(t, "kids")
		}
		return v
	})
}

func (t tree) clone() tree {
	t.kids = slices.Clone(t.kids)
	for i := range t.kids {
		t.kids[i] = t.kids[i].clone()
	}
	return t
}

func (t tree) equal(u tree) bool {
	return t.n == u.n && t.flag == u.flag && slices.EqualFunc(t.kids, u.kids, tree.equal)
}

// count returns how many nodes satisfy what.
func (t tree) count(what func(tree) bool) (n int) {
	if what(t) {
		n++
	}
	for _, k := range t.kids {
		n += k.count(what)
	}
	return n
}

// TestLeastHasNoSmallerValueThatFails: the result fails, no single reduction of it does, and
// the given value is unchanged.
func TestLeastHasNoSmallerValueThatFails(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := trees(3).Draw(t, "value")
		want := rapid.IntRange(0, v.count(func(u tree) bool { return u.n > 2 })).Draw(t, "nodes")
		fails := func(u tree) bool { return u.count(func(u tree) bool { return u.n > 2 }) >= want }
		before, tried := v.clone(), []tree(nil)
		least := shrink.Least(v, reduce, func(u tree) bool {
			tried = append(tried, u)
			return fails(u)
		})
		if !fails(least) {
			t.Fatalf("%+v does not fail", least)
		}
		if !v.equal(before) {
			t.Fatalf("the value was changed: %+v, want %+v", v, before)
		}
		if nodes := least.count(func(tree) bool { return true }); want == 0 && (nodes != 1 || least.n != 0 || least.flag) {
			t.Fatalf("got %+v, want the empty value: each fails", least)
		}
		if least.count(func(u tree) bool { return u.flag }) > 0 {
			t.Fatalf("%+v has a flag, which the failure does not need", least)
		}
		shrink.Least(least, reduce, func(u tree) bool {
			if fails(u) {
				t.Fatalf("%+v fails and is smaller than %+v", u, least)
			}
			return false
		})
		for _, u := range tried {
			if u.equal(v) {
				t.Fatalf("a reduction changed nothing: %+v", u)
			}
		}
	})
}

// TestPartsLeaveOnlyWhatIsNeeded: exactly the needed elements are left, also if a try leaves
// out more than it was asked to.
func TestPartsLeaveOnlyWhatIsNeeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 40).Draw(t, "list")
		before := slices.Clone(list)
		var want []int
		for _, n := range list {
			if n < 2 {
				want = append(want, n)
			}
		}
		eager := rapid.Bool().Draw(t, "eager")
		least := shrink.Parts(list, func(fewer []int) ([]int, bool) {
			if eager {
				fewer = slices.DeleteFunc(fewer, func(n int) bool { return n > 7 })
			}
			needed := slices.DeleteFunc(slices.Clone(fewer), func(n int) bool { return n >= 2 })
			return fewer, slices.Equal(needed, want)
		})
		if !slices.Equal(least, want) || !slices.Equal(list, before) {
			t.Fatalf("got %v of %v, want %v of %v", least, list, want, before)
		}
	})
}
