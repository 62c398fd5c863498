package core

// Promise is a Future that its owner completes. Apart from the owner only Cancel of the
// Future completes it: the end of the executor does not (G9). All methods may be called
// from any goroutine. Make one with NewPromise: the zero Promise is not usable.
type Promise[T any] struct {
	f *Future[T]
}

// NewPromise returns a promise whose listeners run on ex from its start to its termination;
// before and after that they run on the goroutine that completes the promise. NewPromise does
// not start ex.
//
// With a nil ex all listeners run on the completing goroutine; their panics are recovered and
// logged to slog.Default. A nil *Executor, *EventLoop, *Group or *Pool counts as a nil ex. For a
// Group, the listeners run on its next child. If ex is a type that wraps a Group, the listeners
// are passed to its Execute method.
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

// TrySuccess completes the future with v, and reports whether it did: false means that
// the future was complete before.
func (p *Promise[T]) TrySuccess(v T) bool { return p.f.finish(futureUncancellable, v, nil) }

// TryFailure completes the future with err, and reports whether it did. A nil err is not
// a failure: the call reports false and changes nothing (netty #2728).
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
