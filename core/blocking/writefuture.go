package blocking

import (
	"context"

	"eventide/core"
)

// WriteFuture is the outcome of a write: complete when the connection has taken its
// bytes and those of all writes before it, failed when the channel closed first. It
// is a value, no larger than a few words, and costs nothing more unless somebody
// waits. All methods may be called from any goroutine. The zero value is of no use.
//
// Write futures of a channel complete in the order of the writes, each once (G22); that
// of a write which is refused has failed already, and does not wait for those before it.
type WriteFuture struct {
	ch     *Channel
	number int64 // of the write
	end    int64 // offset after the last byte of the write
	size   int
	err    error // the write was refused
}

// result returns the outcome, and whether there is one: how many bytes of this
// write the connection has taken, and why not all. Requires ch.mu.
func (f WriteFuture) result() (n int, err error, done bool) {
	out := &f.ch.out
	n = int(min(int64(f.size), max(0, out.flushed-f.end+int64(f.size))))
	switch {
	case f.err != nil:
		return 0, f.err, true
	case out.flushed >= f.end:
		return f.size, nil, true
	default:
		return n, f.ch.closed, f.ch.writesFailed
	}
}

// Err returns nil until the write has completed, and after success; then a
// *ClosedError, or, if the write was refused, ErrChannelClosing, ErrChannelClosed.
func (f WriteFuture) Err() error {
	f.ch.mu.Lock()
	defer f.ch.mu.Unlock()
	if _, err, done := f.result(); done {
		return err
	}
	return nil
}

// Done returns a channel that is closed when the write has completed.
func (f WriteFuture) Done() <-chan struct{} { return f.future().Done() }

// Wait waits for the outcome: how many bytes of this write the connection has taken
// and, if not all, why. If ctx ends first it returns the cause of ctx. On the
// channel's executor it returns core.ErrInEventLoop unless the write has completed
// (G18); there Flush completes what it sends before it returns.
func (f WriteFuture) Wait(ctx context.Context) (int, error) {
	if ctx == nil {
		return 0, argumentError("Wait", "ctx is nil, want a context")
	}
	f.ch.mu.Lock()
	n, err, done := f.result()
	f.ch.mu.Unlock()
	if done {
		return n, err
	}
	if f.ch.loop.InEventLoop() {
		return n, core.ErrInEventLoop
	}
	select {
	case <-f.Done():
		f.ch.mu.Lock()
		defer f.ch.mu.Unlock()
		n, err, _ = f.result()
		return n, err
	case <-ctx.Done():
		return n, context.Cause(ctx)
	}
}

// OnDone calls listener once with what Wait would return: on the channel's executor
// while that lives, else on the caller. Listeners are called in the order of the
// writes. A nil listener is ignored.
func (f WriteFuture) OnDone(listener func(n int, err error)) {
	if listener == nil {
		return
	}
	f.future().OnDone(func(_ int, _ error) {
		f.ch.mu.Lock()
		n, err, _ := f.result()
		f.ch.mu.Unlock()
		listener(n, err)
	})
}

// future makes the machinery that waiting needs.
func (f WriteFuture) future() *core.Future[int] {
	p := core.NewPromise[int](f.ch.loop)
	p.SetUncancellable()
	f.ch.mu.Lock()
	n, err, done := f.result()
	if !done {
		f.ch.out.add(waiter{f, p})
	}
	f.ch.mu.Unlock()
	if done {
		settle(p, n, err)
	}
	return p.Future()
}

// settle completes a promise of a write. Of a failed one only the error is kept.
func settle(p *core.Promise[int], n int, err error) {
	if err != nil {
		p.TryFailure(err)
		return
	}
	p.TrySuccess(n)
}

// settleAll completes the promises of waiters in order. Requires ch.mu: nobody who
// asks later may hear earlier. Their listeners do not run here, as the loop is there
// to run them until the channel's registration has ended.
func settleAll(waiters []waiter) {
	for _, w := range waiters {
		n, err, _ := w.f.result()
		settle(w.promise, n, err)
	}
}
