package tcp

import (
	"context"
	"math"
	"slices"

	"eventide/core"
)

// WriteFuture is the future of a write: a small value, which allocates only when a caller
// uses it as a future. It completes when the kernel has taken the last byte of the
// write, or when the channel is closed before.
//
// The futures of a channel complete in the order of its writes, empty writes and flushes
// included, each once (G22). The exception is a refused write: its future has already
// failed, and does not wait for earlier writes, which may be pending for long. All methods
// may be called from any goroutine. The zero value has succeeded.
//
// A byte that the kernel has taken may never reach the peer. CloseGracefully waits for the
// peer's acknowledgement.
type WriteFuture struct {
	ch  *Channel
	end int64 // offset of the first byte after the write
	n   int
	err error // of a refused write
}

// Done returns a channel that is closed when the write has completed.
func (f WriteFuture) Done() <-chan struct{} { return f.future().Done() }

// Wait blocks until the write has completed, and returns how many of its bytes the kernel
// has taken; the error is nil if the kernel has taken all. If ctx ends first, it returns 0
// and the cause of ctx. On the loop it never blocks: if the write has not completed, it
// returns core.ErrInEventLoop at once (G18).
func (f WriteFuture) Wait(ctx context.Context) (int, error) {
	r, err := f.future().Wait(ctx)
	if err != nil {
		return 0, err
	}
	return r.n, r.err
}

// OnDone calls listener once with the results of Wait, as core.Future does: on the loop,
// in a body after the one that completed the write. If the loop has terminated, the
// goroutine of the caller runs it. A nil listener is ignored.
func (f WriteFuture) OnDone(listener func(int, error)) {
	if listener != nil {
		f.future().OnDone(func(r writeResult, _ error) { listener(r.n, r.err) })
	}
}

// Err returns the error of the write; nil if it succeeded or has not completed.
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

// writeResult is the value of a write's promise. A failed write succeeds the promise with
// a writeResult that has an error, because part of its bytes may have been sent, and a
// failed promise has no value.
type writeResult struct {
	n   int
	err error
}

// waiter is a promise for the future of a pending write.
type waiter struct {
	WriteFuture
	promise *core.Promise[writeResult]
}

// waiters are in the order of isBefore. completing is set while the loop completes some of
// them.
type waiters struct {
	list       []waiter
	completing bool
}

// before reports whether a waiter for an offset up to end has not been completed. The loop
// is about to complete it, and no later future may complete ahead of it.
func (w *waiters) before(end int64) bool {
	return w.completing || len(w.list) > 0 && w.list[0].end <= end
}

// future returns the core.Future of the write.
func (f WriteFuture) future() *core.Future[writeResult] {
	if f.ch == nil {
		return completed(nil, writeResult{})
	}
	if f.err != nil {
		f.n, f.end = 0, math.MaxInt64 // behind the waiters that the close is completing
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
	p := core.NewPromise[writeResult](c.loop) // no user gets its Future, so none can cancel it
	c.observers.waiters.list = slices.Insert(list, at, waiter{f, p})
	return p.Future()
}

// isBefore reports whether f completes before g. Of the writes that end at one offset only
// the first has bytes; the empty writes and flushes behind it share one future. The
// tempting wrong version compares the offsets alone: then a future of an empty write that
// is requested first would complete before the write in front of it.
func (f WriteFuture) isBefore(g WriteFuture) bool {
	return f.end < g.end || f.end == g.end && f.n > 0 && g.n == 0
}

// completed returns a completed future.
func completed(c *Channel, r writeResult) *core.Future[writeResult] {
	p := core.NewPromise[writeResult](nil)
	if c != nil {
		p = core.NewPromise[writeResult](c.loop)
	}
	p.TrySuccess(r)
	return p.Future()
}

// over reports whether the result of a write that ends at end is known. Requires mu.
func (c *Channel) over(end int64) bool { return c.sent >= end || c.state >= stateClosed }

// outcome returns the result of a write that is over or was refused. Requires mu.
func (c *Channel) outcome(f WriteFuture) writeResult {
	switch {
	case f.err != nil:
		return writeResult{0, f.err}
	case c.sent >= f.end:
		return writeResult{f.n, nil}
	}
	return writeResult{max(0, f.n-int(f.end-c.sent)), closedError(c.failure, c.closing)}
}

// completeWrites completes the futures of writes that are over, in order. It does so
// without mu, because a listener may run at once. Loop only.
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
