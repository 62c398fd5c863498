package props

import (
	"time"

	"eventide/core"
	"eventide/props/history"
)

// executor is what runs the bodies of a program: an Executor, the Executor of an EventLoop, or a
// Pool.
type executor interface {
	core.EventExecutor
	TryExecute(task func()) error
	ScheduleTimer(t *core.Timer, delay time.Duration, task func()) error
	AddShutdownHook(run func()) (remove func() bool, err error)
	Running() string
	Name() string
	String() string
}

// single returns the executor of the run as an Executor, or nil if it is a Pool, which lacks the calls that
// need one loop.
func (h *harness) single() *core.Executor {
	ex, _ := h.ex.(*core.Executor)
	return ex
}

// pooled returns the executor of the run as a Pool, or nil.
func (h *harness) pooled() *core.Pool {
	pool, _ := h.ex.(*core.Pool)
	return pool
}

// forPool replaces a call that a pool does not have.
func forPool(op history.Op) history.Op {
	if op == history.OpAfterIteration {
		return history.OpExecute
	}
	return op
}

// askResize changes the size of the pool. A size below 1 is refused, and changes nothing.
func (h *harness) askResize(size int) {
	pool := h.pooled()
	n := h.resizing.Add(1)
	alone, from := h.resized.Load() == n-1, h.rec.log.Len()
	before := pool.Size()
	err := pool.Resize(size)
	after := pool.Size()
	h.mu.Lock()
	alone = h.resizing.Load() == n && alone
	h.resized.Add(1) // with mu held: the Resized of a call that begins now must come after this one
	switch {
	case !alone: // another call may be the last
		h.sizes = append(h.sizes, Resized{from, h.rec.log.Len(), 0})
	case size >= 1:
		h.sizes = append(h.sizes, Resized{from, h.rec.log.Len(), size})
	}
	h.mu.Unlock()
	want := size
	if size < 1 {
		want = before
	}
	switch {
	case (err == nil) != (size >= 1):
		h.blame("Resize(%d) returns %v", size, err)
	case alone && after != want:
		h.blame("Resize(%d) changes the size from %d to %d, want %d", size, before, after, want)
	}
}
