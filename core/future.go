package core

import (
	"context"
	"sync"
	"sync/atomic"
)

// Future is the result of work that may not have ended yet. All methods may be called
// from any goroutine, at any time, and from inside the loop.
//
// A future completes once: with a value, an error, ErrCancelled, ErrGoexit or a
// *PanicError. The futures of Submit and InvokeAll are complete when the executor's Done
// is closed (G9).
type Future[T any] struct {
	// Set once.
	home EventExecutor // runs the body and calls the listeners; may be nil; see newFuture
	task func()        // f.run, as the one func value that Submit passed to home: isCurrent compares it

	// Guarded by mu. value and err are final once state is futureDone. The four small
	// fields share a word: otherwise a future would need the next size class of the
	// allocator.
	mu        sync.Mutex
	state     futureState
	refused   bool  // set once: home refused the body; the listeners run off the loop
	notifying bool  // notify is running, or queued to run
	round     int32 // listeners that notify still calls before it is queued again, or newRound
	value     T
	err       error
	body      func() (T, error) // of Submit, until it begins
	done      chan struct{}     // made by the first Done
	listeners []func(T, error)
}

const (
	newRound = -1 // the round has not begun
	// leastRound is the least bound of a round. A round calls the listeners that were
	// present when it began. If these were fewer than leastRound, it also calls listeners
	// added meanwhile, up to leastRound in all.
	leastRound = 64
)

type futureState uint8

const (
	futurePending       futureState = iota
	futureUncancellable             // the body has begun, or Promise.SetUncancellable was called
	futureDone
)

// newFuture returns a pending future. Its home is a notifier if ex is an Executor, EventLoop or
// Pool, or a type that embeds one of them; otherwise it is ex.
func newFuture[T any](ex EventExecutor) *Future[T] {
	if ours, ok := ex.(interface{ loopOf() notifier }); ok {
		ex = ours.loopOf()
	}
	return &Future[T]{home: ex}
}

// loopOf returns e. Types that embed an executor have loopOf by promotion, so the
// embedded executor calls the listeners of their futures. Group has no loopOf, because a
// group has no single loop: a type that embeds a group gets the listeners through its own
// Execute method (G21).
func (e *Executor) loopOf() notifier { return e }

// notifier is an executor that calls listeners without taking room in its queue.
type notifier interface {
	EventExecutor
	postInternal(work func()) bool
	resumeInternal(rest func())
}

// Done returns a channel that is closed when the future has completed.
func (f *Future[T]) Done() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.done == nil {
		f.done = make(chan struct{})
		if f.state == futureDone {
			close(f.done)
		}
	}
	return f.done
}

// Wait blocks until the future is complete, and returns its result; or, if ctx ends first,
// the cause of ctx. Wait does not cancel the future. If the future is not complete, Wait
// returns ErrInEventLoop at once in a body of the executor, and ErrStarting at once in its
// spawner: the loop would wait for itself (G18).
func (f *Future[T]) Wait(ctx context.Context) (T, error) {
	var none T
	if ctx == nil {
		return none, argumentError("Wait", "ctx is nil, want a context")
	}
	if v, err, ok := f.result(); ok {
		return v, err
	}
	if f.home != nil {
		if err := waitError(f.home); err != nil {
			return none, err
		}
	}
	select {
	case <-f.Done():
		v, err, _ := f.result()
		return v, err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

// waitError returns the error of a caller that must not wait for work of ex, or nil.
func waitError(ex EventExecutor) error {
	if ex.InEventLoop() {
		return ErrInEventLoop
	}
	if t := ex.Termination(); t != nil {
		return t.waitError() // this also covers spawners, and wrappers of an executor
	}
	return nil
}

// result returns the value and the error, and whether the future is complete.
func (f *Future[T]) result() (T, error, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.value, f.err, f.state == futureDone
}

// Cancel completes the future with ErrCancelled and returns true. It returns false, and
// has no effect, if the body has begun, the future is complete, or its owner has called
// SetUncancellable. After true the body never begins (G8). The function value is
// released at once; the loop skips the queued task when its turn comes.
func (f *Future[T]) Cancel() bool {
	var none T
	return f.finish(futurePending, none, ErrCancelled)
}

// OnDone calls listener once with the result. While the executor is started and not terminated,
// listener runs on it. Before the start, after the termination, and for a refused Submit,
// listener runs on the goroutine that completes the future, or on the caller if the future is
// complete already. A nil listener is ignored.
//
// If a body of an Executor or EventLoop completes the future, its listeners run before the next body
// of that loop begins: a task, a tail task, a timer, a handler or a hook; R154. There is one exception:
// if the state of the executor has changed meanwhile, hooks and the handlers of channels go first (G9).
//
// Listeners of one future run in the order added, one at a time. A listener that panics
// does not prevent the others from running. Chains of listeners do not nest: off the
// executor, a listener added inside another one runs after it (G9).
//
// Listeners on an executor of this package take no room in its queue. The same holds for
// a type that embeds *Executor, *EventLoop or *Pool: its own Execute method is not called
// for listeners. Any other implementation of EventExecutor, such as a wrapper of an
// executor or a group, receives the listeners through its Execute method.
func (f *Future[T]) OnDone(listener func(T, error)) {
	if listener == nil {
		return
	}
	f.mu.Lock()
	f.listeners = append(f.listeners, listener)
	start := f.state == futureDone && !f.notifying
	if start {
		f.notifying, f.round = true, newRound
	}
	f.mu.Unlock()
	if start {
		f.dispatch()
	}
}

// finish completes the future if its state is upTo or an earlier one.
func (f *Future[T]) finish(upTo futureState, v T, err error) bool {
	f.mu.Lock()
	if f.state > upTo {
		f.mu.Unlock()
		return false
	}
	f.state, f.value, f.err, f.body = futureDone, v, err, nil
	if f.done != nil {
		close(f.done)
	}
	f.notifying, f.round = len(f.listeners) > 0, newRound // without listeners nothing is queued (netty #8795)
	start := f.notifying
	f.mu.Unlock()
	if start {
		f.dispatch()
	}
	return true
}

// dispatch queues notify on the executor, or runs it off the loop if the executor does
// not take it.
func (f *Future[T]) dispatch() {
	if !f.refused {
		switch home := f.home.(type) {
		case nil:
		case notifier:
			if home.postInternal(f.notify) {
				return
			}
		default:
			f.passTo(home)
			return
		}
	}
	offLoop(f.onPanic(), f.notify)
}

// passTo passes notify to an executor that another package made. notify runs off the loop if
// Execute refuses it, panics or calls runtime.Goexit: otherwise notifying would stay set, and no
// listener would run any more (G9). Execute may have queued notify before it panicked, so only
// the first of the two calls runs it.
func (f *Future[T]) passTo(home EventExecutor) {
	var begun atomic.Bool
	notify := func() {
		if begun.CompareAndSwap(false, true) {
			f.notify()
		}
	}
	accepted := false
	defer func() {
		if !accepted {
			offLoop(f.onPanic(), notify)
		}
	}()
	accepted = home.Execute(notify) == nil
}

// onPanic returns the function that reports a panic of a listener off the loop; nil means
// slog.Default.
func (f *Future[T]) onPanic() func(*PanicError) {
	if ours, ok := f.home.(interface{ reportOffLoop(*PanicError) }); ok {
		return ours.reportOffLoop
	}
	return nil
}

// notify calls the listeners, including those added meanwhile. A listener that always adds
// another one would keep notify busy for ever, so notify is queued again after a round (G13).
// If a listener panics or calls Goexit, the deferred call queues notify in front of all
// other queued listeners, so that the remaining ones keep their order.
func (f *Future[T]) notify() {
	returned := false
	defer func() {
		if !returned {
			f.resume()
		}
	}()
	listener, more := f.nextListener()
	for listener != nil {
		listener(f.value, f.err)
		listener, more = f.nextListener()
	}
	returned = true
	if more {
		f.dispatch()
	}
}

// resume queues notify like dispatch, but in front of the other calls of the trampoline or
// of the other internal tasks of the loop.
func (f *Future[T]) resume() {
	if resumeOffLoop(f.onPanic(), f.notify) {
		return
	}
	if e, ours := f.home.(notifier); ours {
		e.resumeInternal(f.notify)
		return
	}
	f.dispatch()
}

// nextListener returns the next listener of this round; or nil, and whether listeners are
// left for another round.
func (f *Future[T]) nextListener() (listener func(T, error), more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case len(f.listeners) == 0:
		f.notifying, f.listeners = false, nil
		return nil, false
	case f.round == 0:
		f.round = newRound
		return nil, true
	case f.round == newRound:
		f.round = int32(max(len(f.listeners), leastRound))
	}
	f.round--
	listener = f.listeners[0]
	f.listeners = f.listeners[1:]
	return listener, true
}

// run is the task that Submit passes to the executor. A wrapper of the executor may call
// run inside another body: then run does not change the outcome of that body, but it still
// reports a panic.
func (f *Future[T]) run() {
	if body := f.begin(); body != nil {
		f.call(body)
	} else if r := f.runner(); r != nil && r.isCurrent(f.task) {
		r.skipCurrent()
	}
}

// call runs body and completes the future.
func (f *Future[T]) call(body func() (T, error)) {
	var none T
	returned := false
	defer func() {
		if returned {
			return
		}
		v := recover()
		if v == nil {
			f.finish(futureUncancellable, none, ErrGoexit)
			return
		}
		p := newPanicError(v)
		if r := f.runner(); r != nil {
			r.recordPanic(p)
			if r.isCurrent(f.task) {
				r.panickedCurrent()
			}
		}
		f.finish(futureUncancellable, none, p)
	}()
	v, err := body()
	returned = true
	f.finish(futureUncancellable, v, err)
}

// runner returns the runner of the calling goroutine, if home, or an executor that home
// wraps, runs on this goroutine; otherwise nil.
func (f *Future[T]) runner() runner {
	if !f.home.InEventLoop() {
		return nil
	}
	return currentRunner()
}

// begin makes the future uncancellable and returns its body, or nil if it was
// cancelled.
func (f *Future[T]) begin() func() (T, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state != futurePending {
		return nil
	}
	body := f.body
	f.state, f.body = futureUncancellable, nil
	return body
}
