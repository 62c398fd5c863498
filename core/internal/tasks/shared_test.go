package tasks

import (
	"flag"
	"testing"

	"pgregory.net/rapid"
)

func init() {
	// A mechanical mutant must not be found by what another one has left behind.
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		panic(err)
	}
}

// TestPropShared: a Shared against a slice: tasks leave in the order pushed, each with its number, and
// end in any order; the counts; and the memory: at most maxFreeSegments spent segments are kept, and
// no task that has left (G24).
func TestPropShared(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Shared
		want := Counts{}
		begun, last := int64(0), int64(0)
		pop := func(t *rapid.T) {
			task, number := q.Pop()
			task()
			if begun++; number != begun || last != begun {
				t.Fatalf("G4: got task %d with the number %d, want %d", last, number, begun)
			}
			want.NotBegun--
		}
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				for range rapid.SampledFrom([]int{1, 2, 255, 256, 257, 1800}).Draw(t, "n") {
					want.Accepted++
					k := want.Accepted
					q.Push(func() { last = k })
					want.NotBegun++
				}
			},
			"pop": func(t *rapid.T) {
				for range min(want.NotBegun, rapid.SampledFrom([]int{1, 2, 256, 1800}).Draw(t, "n")) {
					pop(t)
				}
			},
			"end": func(t *rapid.T) {
				running := begun - want.Ran - want.Cancelled
				for range min(running, rapid.SampledFrom([]int64{1, 2, 1800}).Draw(t, "n")) {
					if rapid.Bool().Draw(t, "cancelled") {
						q.End(Cancelled)
						want.Cancelled++
					} else {
						q.End(Ran)
						want.Ran++
					}
				}
			},
			"release": func(t *rapid.T) {
				for want.NotBegun > 0 { // Release is for an empty queue
					pop(t)
				}
				if q.Release(); segmentsOf(t, &q) != 0 {
					t.Fatal("G24: an empty queue that was released has segments")
				}
			},
			"": func(t *rapid.T) {
				running := begun - want.Ran - want.Cancelled
				want.Pending, want.Running = want.NotBegun+int(running), running > 0
				if got := q.Counts(); got != want {
					t.Fatalf("G20: counts are %+v, want %+v", got, want)
				}
				if q.Size() != want.NotBegun || q.Begun() != begun {
					t.Fatalf("size %d, begun %d; want %d, %d", q.Size(), q.Begun(), want.NotBegun, begun)
				}
				if n, most := segmentsOf(t, &q), want.NotBegun/SegmentSize+2+maxFreeSegments; n > most {
					t.Fatalf("G24: %d segments for %d tasks, want at most %d", n, want.NotBegun, most)
				}
			},
		})
	})
}

// segmentsOf counts the segments of q. No slot outside the tasks that wait may hold a task, and spent
// segments that are reused make room for others.
func segmentsOf(t *rapid.T, q *Shared) (n int) {
	held, free := 0, 0
	for s := q.free; s != nil; s = s.next {
		free++
	}
	if free != q.nfree {
		t.Fatalf("G24: %d spent segments are kept, and count as %d", free, q.nfree)
	}
	for _, s := range []*segment{q.head, q.free} {
		for ; s != nil; s = s.next {
			n++
			for _, task := range s.tasks {
				if task != nil {
					held++
				}
			}
		}
	}
	if held != q.Size() {
		t.Fatalf("G24: segments hold %d tasks, and %d wait", held, q.Size())
	}
	return n
}
