package core

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// sortedTimers is the oracle of timerHeap: a sorted slice.
type sortedTimers []*Timer

func (s *sortedTimers) sort() {
	slices.SortFunc(*s, func(a, b *Timer) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.id, b.id)) })
}

func (s *sortedTimers) remove(t *Timer) {
	*s = slices.DeleteFunc(*s, func(x *Timer) bool { return x == t })
}

func TestPropTimerHeap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h timerHeap
		var oracle sortedTimers
		var gone []*Timer
		id := uint64(0)
		anyOf := func(from []*Timer) *Timer {
			i := rapid.IntRange(0, len(from)-1).Draw(t, "which")
			if rapid.Bool().Draw(t, "from the last one") {
				i = len(from) - 1 - i
			}
			return from[i]
		}
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				for range rapid.SampledFrom([]int{1, 1, 2, 20}).Draw(t, "timers") { // a heap of three levels
					id++
					timer := &Timer{at: rapid.Int64Range(0, 99).Draw(t, "at"), id: id, index: -1}
					size := h.push(timer)
					oracle = append(oracle, timer)
					oracle.sort()
					wantSize(t, "push", size, oracle)
				}
			},
			"pop": func(t *rapid.T) {
				if len(oracle) == 0 {
					t.Skip("empty")
				}
				got, want := h.pop(), oracle[0]
				if got != want {
					t.Fatalf("G7: pop: got timer %d at %d, want %d at %d", got.id, got.at, want.id, want.at)
				}
				oracle = oracle[1:]
				gone = append(gone, got)
			},
			"remove": func(t *rapid.T) {
				if len(oracle) == 0 {
					t.Skip("empty")
				}
				timer := anyOf(oracle)
				size := h.remove(timer)
				oracle.remove(timer)
				gone = append(gone, timer)
				wantSize(t, "remove", size, oracle)
			},
			"remove what is not in": func(t *rapid.T) {
				if len(gone) == 0 {
					t.Skip("nothing")
				}
				wantSize(t, "remove", h.remove(anyOf(gone)), oracle)
			},
			"push again": func(t *rapid.T) {
				if len(gone) == 0 {
					t.Skip("nothing")
				}
				timer := anyOf(gone)
				gone = slices.DeleteFunc(gone, func(x *Timer) bool { return x == timer })
				timer.at += rapid.Int64Range(0, 5).Draw(t, "later")
				h.push(timer)
				oracle = append(oracle, timer)
				oracle.sort()
			},
			"removeAfter": func(t *rapid.T) {
				at := rapid.Int64Range(-1, 12).Draw(t, "horizon")
				out := sortedTimers(h.removeAfter(at))
				out.sort()
				want := slices.DeleteFunc(slices.Clone(oracle), func(x *Timer) bool { return x.at <= at })
				if !slices.Equal(out, want) {
					t.Fatalf("removeAfter(%d): got %d timers, want %d", at, len(out), len(want))
				}
				oracle = slices.DeleteFunc(oracle, func(x *Timer) bool { return x.at > at })
				gone = append(gone, out...)
			},
			"": func(t *rapid.T) { checkHeap(t, &h, oracle, gone) },
		})
		for len(oracle) > 0 {
			if got := h.pop(); got != oracle[0] {
				t.Fatalf("G7: final pop: got timer %d at %d, want %d at %d", got.id, got.at, oracle[0].id, oracle[0].at)
			}
			oracle = oracle[1:]
		}
	})
}

func checkHeap(t *rapid.T, h *timerHeap, oracle sortedTimers, gone []*Timer) {
	if h.len() != len(oracle) {
		t.Fatalf("len is %d, want %d", h.len(), len(oracle))
	}
	if len(oracle) > 0 && h.first() != oracle[0].at {
		t.Fatalf("first is %d, want %d", h.first(), oracle[0].at)
	}
	for i, entry := range h.entries {
		if int(entry.t.index) != i || entry.at != entry.t.at || entry.id != entry.t.id {
			t.Fatalf("entry %d holds timer %d, which says index %d", i, entry.t.id, entry.t.index)
		}
		if parent := h.entries[max(0, i-1)/heapArity]; entry.before(parent) {
			t.Fatalf("G7: entry %d is before its parent", i)
		}
	}
	for _, timer := range gone {
		if timer.index != -1 {
			t.Fatalf("timer %d is out and says index %d, want -1", timer.id, timer.index)
		}
	}
	for _, entry := range h.entries[len(h.entries):cap(h.entries)] {
		if entry.t != nil {
			t.Fatalf("G24: a slot beyond the end still refers to timer %d", entry.t.id)
		}
	}
}

// TestPropG24TimerHeapMemory: after timers were removed, one by one or at once, the array of a heap is
// small or at most eight times as large as its timers need. Timers that are removed one by one do not each
// copy the array.
func TestPropG24TimerHeapMemory(t *testing.T) {
	some := rapid.SampledFrom([]int{0, 1, 10, 200, 1024, 1025, 1100, 2000, 5000})
	rapid.Check(t, func(t *rapid.T) {
		var h timerHeap
		removals, arrays := 0, 0
		check := func(how string) {
			if all := cap(h.entries); all > max(1024, 8*h.len()+8) {
				t.Fatalf("G24: an array of %d for %d timers, when others were removed %s", all, h.len(), how)
			}
		}
		bursts := rapid.IntRange(1, 4).Draw(t, "bursts")
		for range bursts {
			for i := range some.Draw(t, "pushed") {
				h.push(&Timer{at: int64(i % 100), id: uint64(i), index: -1})
			}
			if rapid.Bool().Draw(t, "at once") {
				h.removeAfter(rapid.Int64Range(-1, 99).Draw(t, "removed after"))
				check("at once")
			}
			for left := some.Draw(t, "left"); h.len() > max(left, 1); removals++ {
				was := &h.entries[0]
				h.remove(h.entries[h.len()/2].t)
				if &h.entries[0] != was {
					arrays++
					if cap(h.entries) < 2*h.len() {
						t.Fatalf("a smaller array for %d timers has room for %d, want twice as many: the next timer copies it again", h.len(), cap(h.entries))
					}
				}
				check("one by one")
			}
		}
		if arrays > removals/64+bursts {
			t.Fatalf("%d removals moved to another array %d times, want once for many of them", removals, arrays)
		}
	})
}

func TestAddTimeSaturates(t *testing.T) {
	for _, tt := range []struct{ at, d, want int64 }{
		{0, 0, 0}, {5, 7, 12}, {0, noDeadline, noDeadline}, {1, noDeadline, noDeadline},
		{noDeadline, 1, noDeadline}, {noDeadline - 1, 1, noDeadline}, {-5, 3, -2},
	} {
		if got := addTime(tt.at, asDuration(tt.d)); got != tt.want {
			t.Errorf("G7: addTime(%d, %d): got %d, want %d", tt.at, tt.d, got, tt.want)
		}
	}
}

// wantSize compares what a call returns with the number of timers that are left.
func wantSize(t *rapid.T, call string, size int, left sortedTimers) {
	if size != len(left) {
		t.Fatalf("%s returns %d, want %d timers", call, size, len(left))
	}
}

// TestPropG7TimersLeaveADeepHeap: timers that leave a heap of several levels, from any place, leave the others in order. In
// TestPropTimerHeap they seldom leave the lower levels, because rapid prefers small numbers.
func TestPropG7TimersLeaveADeepHeap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "timers")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var h timerHeap
		var oracle sortedTimers
		var gone []*Timer
		for i, at := range rng.Perm(n) {
			oracle = append(oracle, &Timer{at: int64(at), id: uint64(i), index: -1})
			h.push(oracle[i])
		}
		for oracle.sort(); len(oracle) > 0; {
			timer := oracle[rng.IntN(len(oracle))]
			h.remove(timer)
			oracle.remove(timer)
			gone = append(gone, timer)
			checkHeap(t, &h, oracle, gone)
		}
	})
}
