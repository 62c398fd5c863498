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

// onGoroutineOfLoop reports whether the executor has started the goroutine, whose loop may have ended.
func (h *harness) onGoroutineOfLoop() bool {
	s := &h.started
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[goid.Get()] > 0
}

// stackOfRun is more than most goroutines of a program need.
const stackOfRun = 8 << 10

// growStack makes room for stackOfRun on the stack of the calling goroutine, which calls it at its start. A
// stack begins with 2 KiB and doubles, and the runtime then copies it and corrects every frame. At the start
// there is hardly a frame. never must be false: the compiler does not know that, so that the frame of
// growStack has the array, and no time is spent to clear it.
//
//go:noinline
func growStack(never bool) {
	if never {
		var room [stackOfRun]byte
		use(&room)
	}
}

//go:noinline
func use(*[stackOfRun]byte) {}
