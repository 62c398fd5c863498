package props

import (
	"eventide/props/interleave/control"

	"github.com/petermattis/goid"
)

// goroutines are those on which the function of WithGoroutineStart was called. The log does not show
// these calls: the harness checks them.
type goroutines struct {
	mu    control.Mutex
	calls map[int64]int // by goroutine
}

// goroutineStarts is the function of WithGoroutineStart.
func (h *harness) goroutineStarts(name string) {
	if name != h.ex.Name() {
		h.blame("a goroutine of executor %q starts with the name %q", h.ex.Name(), name)
	}
	s := &h.started
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls == nil {
		s.calls = map[int64]int{}
	}
	s.calls[goid.Get()]++
}

// lookAtGoroutine checks, in a body of the loop, that the function was called once on its goroutine.
func (h *harness) lookAtGoroutine() {
	if !h.startsSeen {
		return
	}
	s, g := &h.started, goid.Get()
	s.mu.Lock()
	n := s.calls[g]
	s.mu.Unlock()
	if n != 1 {
		h.blame("a body runs on goroutine %d, on which the function of WithGoroutineStart was called %d times", g, n)
	}
}
