package core

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestPropG24ABurstOfRegistrationsGivesItsMemoryBack: when the last registration of an event loop has ended, the loop keeps no more
// room for others than a small number, however many it had (G24).
func TestPropG24ABurstOfRegistrationsGivesItsMemoryBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, err := NewEventLoop()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { <-l.Shutdown().Done() }()
		var open []*Registration
		for fd := range rapid.SampledFrom([]int{1, 255, 256, 257, 512, 513, 3000}).Draw(t, "registrations") {
			r, err := l.Register(fd, 0, func(Readiness) {}) // without interest no descriptor is needed
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, r)
		}
		if rapid.Bool().Draw(t, "the last one ends first") {
			slices.Reverse(open)
		}
		for _, r := range open {
			_ = r.Close() // always nil
		}
		l.mu.Lock()
		slots, free := cap(l.io.slots), cap(l.io.free)
		l.mu.Unlock()
		if most := 2 * keptCapacity; slots > most || free > most { // an array grows by twice at most
			t.Fatalf("G24: room for %d registrations and %d free slots, want no more than %d", slots, free, most)
		}
	})
}
