package core

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestPropInternalQueue compares the queue of internal tasks of a pool with a slice, and what it still refers to (G24).
func TestPropInternalQueue(t *testing.T) {
	some := rapid.SampledFrom([]int{1, 1, 2, 3, 100, keptCapacity, keptCapacity + 1, 3 * keptCapacity})
	rapid.Check(t, func(t *rapid.T) {
		var q internalQueue
		var want []int
		ran, next := -1, 0
		work := func() func() {
			n := next
			next++
			return func() { ran = n }
		}
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				for range some.Draw(t, "pushed") {
					want = append(want, next)
					q.push(work())
				}
			},
			"push in front": func(*rapid.T) {
				want = slices.Insert(want, 0, next)
				q.pushFront(work())
			},
			"room": func(t *rapid.T) { // a growing slice may jump over the largest that is kept
				if len(want) == 0 {
					q = internalQueue{work: make([]func(), 0, rapid.IntRange(keptCapacity-1, keptCapacity+1).Draw(t, "room"))}
					want = append(want, next)
					q.push(work())
				}
			},
			"pop": func(t *rapid.T) {
				for range min(some.Draw(t, "popped"), len(want)) {
					room := cap(q.work)
					if q.pop()(); ran != want[0] {
						t.Fatalf("G9: task %d, want %d", ran, want[0])
					}
					want = want[1:]
					if kept := cap(q.work); kept != room && (len(want) > 0 || room <= keptCapacity) {
						t.Fatalf("room for %d tasks, of which %d wait, has become room for %d", room, len(want), kept)
					}
				}
			},
			"": func(t *rapid.T) {
				if q.len() != len(want) {
					t.Fatalf("len is %d, want %d", q.len(), len(want))
				}
				if len(want) == 0 && cap(q.work) > keptCapacity {
					t.Fatalf("G24: an empty queue keeps room for %d tasks", cap(q.work))
				}
				refers := 0
				for _, task := range q.work[:cap(q.work)] {
					if task != nil {
						refers++
					}
				}
				if refers != len(want) {
					t.Fatalf("G24: it refers to %d tasks, want %d", refers, len(want))
				}
			},
		})
	})
}
