package tcp

import (
	"context"
	"math"
	"slices"

	"eventide/core"
)

// WriteFuture is the outcome of a write: a small value, that costs nothing unless
// somebody asks it. It completes when the kernel has taken the last byte of the
// write, or when the channel is closed before. The futures of a channel complete in
// the order of its writes, empty ones and flushes too, each once (G22); that of a write
// which is refused has failed already, and does not wait for those before it, which may
// be pending for long. All methods may be called from any goroutine; the zero value has
// succeeded.
//
// That the kernel has taken a byte does not mean that the peer has it; see
// CloseGracefully for that.
type WriteFuture struct {
	ch  *Channel
	end int64 // offset of the first byte after the write
	n   int
	err error // it was not accepted
}

// Done returns a channel that is closed when the write has completed.
func (f WriteFuture) Done() <-chan struct{} { return f.future().Done() }

// Wait waits for the outcome: how many bytes of the write the kernel has taken, and
// nil if these are all; or, if ctx ends first, 0 and the cause of ctx. On the loop
// it returns core.ErrInEventLoop at once, unless the write has completed (G18).
func (f WriteFuture) Wait(ctx context.Context) (int, error) {
	r, err := f.future().Wait(ctx)
	if err != nil {
		return 0, err
	}
	return r.n, r.err
}

// OnDone calls listener with the outcome, once, as core.Future does: on the loop
// while it lives, after the body that completed the write.
// A nil listener is ignored.
func (f WriteFuture) OnDone(listener func(int, error)) {
	if listener != nil {
		f.future().OnDone(func(r writeResult, _ error) { listener(r.n, r.err) })
	}
}

// Err returns why the write failed; nil if it has not, or has not completed.
func (f WriteFuture) Err() error {
	if f.ch == nil || f.err != nil {
		return f.err
	}
	f.ch.mu.Lock()
	defer f.ch.mu.Unlock()
	if !f.ch.over(f.end) {
		return nil
	}
	return f.ch.outcome(f).err
}

// writeResult is the value of a write's promise, as a failed promise has none: a
// write that failed may have been sent in part.
type writeResult struct {
	n   int
	err error
}

// waiter is somebody who wants to hear of a write.
type waiter struct {
	WriteFuture
	promise *core.Promise[writeResult]
}

// waiters are in the order of the calls (isBefore). completing is set while the loop
// completes some.
type waiters struct {
	list       []waiter
	completing bool
}

// before reports whether somebody who waits for end or less is not told yet. The
// loop is about to: nobody gets ahead of them.
func (w *waiters) before(end int64) bool {
	return w.completing || len(w.list) > 0 && w.list[0].end <= end
}

// future returns the write's future as core has it.
func (f WriteFuture) future() *core.Future[writeResult] {
	if f.ch == nil {
		return completed(nil, writeResult{})
	}
	if f.err != nil {
		f.n, f.end = 0, math.MaxInt64 // after those that the close is completing
	}
	c := f.ch
	c.mu.Lock()
	waits := !c.over(f.end) && f.err == nil || c.over(f.end) && c.observers != nil && c.observers.waiters.before(f.end)
	if !waits {
		r := c.outcome(f)
		c.mu.Unlock()
		return completed(c, r)
	}
	defer c.mu.Unlock()
	list := c.observe().waiters.list
	at := len(list)
	for at > 0 && f.isBefore(list[at-1].WriteFuture) {
		at--
	}
	if at > 0 && list[at-1].WriteFuture == f {
		return list[at-1].promise.Future()
	}
	p := core.NewPromise[writeResult](c.loop)
	p.SetUncancellable()
	c.observers.waiters.list = slices.Insert(list, at, waiter{f, p})
	return p.Future()
}

// isBefore reports whether f was written before g. Of those that end at one offset only
// the first has bytes; the empty ones behind it, those of Flush among them, are the same
// future. The tempting wrong version looks at the offset alone: who asks for the empty
// one first gets it ahead of the write before it.
func (f WriteFuture) isBefore(g WriteFuture) bool {
	return f.end < g.end || f.end == g.end && f.n > 0 && g.n == 0
}

// completed returns a future that is.
func completed(c *Channel, r writeResult) *core.Future[writeResult] {
	p := core.NewPromise[writeResult](nil)
	if c != nil {
		p = core.NewPromise[writeResult](c.loop)
	}
	p.TrySuccess(r)
	return p.Future()
}

// over reports whether the outcome of a write is known. Requires mu.
func (c *Channel) over(end int64) bool { return c.sent >= end || c.state == stateClosed }

// outcome of a write that is over, or was not accepted. Requires mu.
func (c *Channel) outcome(f WriteFuture) writeResult {
	switch {
	case f.err != nil:
		return writeResult{0, f.err}
	case c.sent >= f.end:
		return writeResult{f.n, nil}
	}
	return writeResult{max(0, f.n-int(f.end-c.sent)), closedError(c.failure, c.closing)}
}

// completeWrites completes the futures of writes that are over, in order, without
// the lock, as listeners may run at once. Loop only.
func (c *Channel) completeWrites() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.observers == nil || c.observers.waiters.completing {
		return
	}
	w := &c.observers.waiters
	w.completing = true
	for len(w.list) > 0 && c.over(w.list[0].end) {
		next := w.list[0]
		w.list[0] = waiter{}
		w.list = w.list[1:]
		r := c.outcome(next.WriteFuture)
		c.mu.Unlock()
		next.promise.TrySuccess(r)
		c.mu.Lock()
	}
	if len(w.list) == 0 {
		w.list = nil
	}
	w.completing = false
}
