package core

// Promise is a Future that its owner completes. Nobody else does, the executor's
// end included (G9). All methods may be called from any goroutine.
type Promise[T any] struct {
	f *Future[T]
}

// NewPromise returns a promise whose listeners run on ex while it lives; with a
// nil ex, on the goroutine that completes it, where their panics are contained and
// reported to nobody. A nil *Executor, *EventLoop or *Group is a nil ex. A group lends
// one of its children, and not to a type that wraps it.
// It does not start an executor: until that is started listeners run on the
// completing goroutine.
func NewPromise[T any](ex EventExecutor) *Promise[T] {
	if isNil(ex) {
		ex = nil
	}
	if g, ok := ex.(*Group); ok {
		ex = g.Next()
	}
	return &Promise[T]{f: newFuture[T](ex)}
}

// Future returns the promise's future, the same pointer every time.
func (p *Promise[T]) Future() *Future[T] { return p.f }

// TrySuccess completes the future with v, and reports whether this call did.
func (p *Promise[T]) TrySuccess(v T) bool { return p.f.finish(futureUncancellable, v, nil) }

// TryFailure completes the future with err, and reports whether this call did. A
// nil err is no failure: it reports false and changes nothing (netty #2728).
func (p *Promise[T]) TryFailure(err error) bool {
	if err == nil {
		return false
	}
	var none T
	return p.f.finish(futureUncancellable, none, err)
}

// SetUncancellable makes Cancel fail from now on. It reports false if the future
// was cancelled before, and true otherwise (R151).
func (p *Promise[T]) SetUncancellable() bool {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	if p.f.state == futurePending {
		p.f.state = futureUncancellable
	}
	return p.f.state != futureDone || p.f.err != ErrCancelled
}
