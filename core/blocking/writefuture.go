package blocking

import (
	"context"

	"eventide/core"
)

// WriteFuture is the future of a write. It completes when the connection has taken the
// bytes of this write and of all writes before it, and fails if the channel closes
// first. It is a small value, and allocates only when a caller uses it as a future. All
// methods may be called from any goroutine. The zero value must not be used.
//
// Write futures of a channel complete in the order of the writes, each once (G22). The
// future of a refused write has failed already, and does not wait for earlier ones.
type WriteFuture struct {
	ch     *Channel
	number int64 // of the write
	end    int64 // offset after the last byte of the write
	size   int
	err    error // not nil: the write was refused
}

// result returns how many bytes of this write the connection has taken, the error if
// it has not taken all, and whether the write is complete. Requires ch.mu.
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

// Err returns nil until the write is complete, and after success; otherwise a
// *ClosedError, or ErrChannelClosing or ErrChannelClosed if the write was refused.
func (f WriteFuture) Err() error {
	f.ch.mu.Lock()
	defer f.ch.mu.Unlock()
	if _, err, done := f.result(); done {
		return err
	}
	return nil
}

// Done returns a channel that is closed when the write is complete.
func (f WriteFuture) Done() <-chan struct{} { return f.future().Done() }

// Wait blocks until the write is complete. It returns how many bytes of this write the
// connection has taken and, if it has not taken all, the error; or the cause of ctx if ctx
// ends first. On the channel's executor it returns core.ErrInEventLoop unless the write
// is complete (G18); there, Flush returns only when its writes are complete.
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

// OnDone calls listener once with the results of Wait: on the channel's executor while it
// lives, otherwise on the caller. Listeners are called in the order of the writes. A nil
// listener is ignored.
func (f WriteFuture) OnDone(listener func(n int, err error)) {
	if listener == nil {
		return
	}
	f.future().OnDone(func(struct{}, error) {
		f.ch.mu.Lock()
		n, err, _ := f.result()
		f.ch.mu.Unlock()
		listener(n, err)
	})
}

// future returns a core.Future that completes with the write, and registers it as a waiter.
// The result is that of f.
func (f WriteFuture) future() *core.Future[struct{}] {
	p := core.NewPromise[struct{}](f.ch.loop)
	f.ch.mu.Lock()
	_, _, done := f.result()
	if !done {
		f.ch.out.add(waiter{f, p})
	}
	f.ch.mu.Unlock()
	if done {
		p.TrySuccess(struct{}{})
	}
	return p.Future()
}

// completeWrites completes the promises of waiters in order. Requires ch.mu, so that a
// later caller does not see its write complete before these. Listeners do not run here:
// until the channel's registration has ended, they run on the loop.
func completeWrites(waiters []waiter) {
	for _, w := range waiters {
		w.promise.TrySuccess(struct{}{})
	}
}
