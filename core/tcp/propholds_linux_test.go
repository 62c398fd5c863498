package tcp

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestPropHolds compares the holds of a channel with a slice: they are in the order in which they began, whichever of them
// ends first, so that the report names the oldest one.
func TestPropHolds(t *testing.T) {
	check(t, func(t *rapid.T) {
		var l holds
		var want []*hold
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			if at := rapid.IntRange(0, 7).Draw(t, "the hold that ends"); at < len(want) {
				ended := want[at]
				if l.remove(ended); ended.prev != nil || ended.next != nil {
					t.Fatal("a hold that has ended keeps others in memory")
				}
				want = slices.Delete(want, at, at+1)
			} else {
				h := &hold{}
				l.add(h)
				want = append(want, h)
			}
			var forth, back []*hold
			for h := l.first; h != nil && len(forth) <= len(want); h = h.next {
				forth = append(forth, h)
			}
			for h := l.last; h != nil && len(back) <= len(want); h = h.prev {
				back = append(back, h)
			}
			slices.Reverse(back)
			if !slices.Equal(forth, want) || !slices.Equal(back, want) || l.count != len(want) {
				t.Fatalf("%d holds are counted, %d and %d are linked, want %d, or their order differs", l.count, len(forth), len(back), len(want))
			}
		}
	})
}
