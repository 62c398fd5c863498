package core

import (
	"context"
	"reflect"
	"runtime"
	"sync"
)

// Future is a result that is not there yet. All methods may be called from any
// goroutine, at any time, and from inside the loop.
//
// A future completes once: with a value, an error, ErrCancelled, ErrGoexit or a
// *PanicError. Futures of Submit and Invoke have completed when the executor's
// Done is closed (G9).
type Future[T any] struct {
	// Set once.
	home    EventExecutor // whose body and listeners these are: an *Executor if it is one of ours; nil: nobody's
	refused bool          // home did not accept the body, and does not call the listeners
	direct  bool          // home was given run itself: a run on the loop is the body

	// Guarded by mu. value and err are final once state is futureDone.
	mu        sync.Mutex
	state     futureState
	value     T
	err       error
	body      func() (T, error) // of Submit, until it begins
	done      chan struct{}     // made by the first Done
	listeners []func(T, error)
	notifying bool  // notify is running, or queued to run
	round     int32 // listeners that notify still calls before it is queued again, or newRound
}

const (
	newRound = -1 // has not begun
	// leastRound is how many listeners of a future are called in one go, if they add so
	// many; else those that are there.
	leastRound = 64
)

type futureState uint8

const (
	futurePending       futureState = iota
	futureUncancellable             // the body has begun, or the promise's owner said so
	futureDone
)

func newFuture[T any](ex EventExecutor) *Future[T] {
	if ours, ok := ex.(interface{ loopOf() *Executor }); ok {
		ex = ours.loopOf()
	}
	return &Future[T]{home: ex}
}

// loopOf is promoted to what embeds an executor. A Group has none: what embeds a group
// would take one turn for the listeners and another for the function (G21).
func (e *Executor) loopOf() *Executor { return e }

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

// Wait waits for the result; or, if ctx ends first, returns the cause of ctx. If the
// future is not complete, it returns ErrInEventLoop at once to a body of the executor,
// and ErrStarting inside its spawner: the wait would be for itself (G18). It does not
// cancel.
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

// waitError says why the caller must not wait for what ex runs, if it must not.
func waitError(ex EventExecutor) error {
	if ex.InEventLoop() {
		return ErrInEventLoop
	}
	if t := ex.Termination(); t != nil && t.waitError != nil {
		return t.waitError() // it knows of spawners, through wrappers too
	}
	return nil
}

// result returns the outcome, and whether there is one.
func (f *Future[T]) result() (T, error, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.value, f.err, f.state == futureDone
}

// Cancel completes the future with ErrCancelled and reports true, unless its body
// has begun, or it has completed, or its owner made it uncancellable: then it
// reports false. After true the body never begins (G8). What the body holds is
// released at once; the queued task is skipped when its turn comes.
func (f *Future[T]) Cancel() bool {
	var none T
	return f.finish(futurePending, none, ErrCancelled)
}

// OnDone calls listener with the result, once: on the executor while it lives,
// else on the goroutine that completes the future, or on the caller if it has
// completed. Listeners of one future run in order and one at a time; one that
// panics does not keep the others from running; chains of them do not nest (G9): off
// the executor, one that is added inside another runs after it. Those on the executor
// take no room in its queue. A type that embeds *Executor or *EventLoop is such an
// executor: its own Execute does not hear of them. To any other type that is not of this
// package, one that wraps an executor or a group included, they are tasks. A nil
// listener is ignored.
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

// finish completes the future if its state is no later than upTo.
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
	f.notifying, f.round = len(f.listeners) > 0, newRound // without any, nothing is queued (netty #8795)
	start := f.notifying
	f.mu.Unlock()
	if start {
		f.dispatch()
	}
	return true
}

// dispatch arranges for notify to run where listeners run.
func (f *Future[T]) dispatch() {
	if !f.refused {
		switch home := f.home.(type) {
		case nil:
		case *Executor:
			if home.postInternal(f.notify) {
				return
			}
		default:
			if home.Execute(f.notify) == nil {
				return
			}
		}
	}
	offLoop(f.onPanic(), f.notify)
}

// onPanic is who hears of listeners that panic off the loop; nil: slog.Default.
func (f *Future[T]) onPanic() func(*PanicError) {
	if ours, ok := f.home.(interface{ reportOffLoop(*PanicError) }); ok {
		return ours.reportOffLoop
	}
	return nil
}

// notify calls the listeners that are there, and those that they add: without end, if
// they always do, so that after a while it is queued again for the rest (G13). If one
// panics or exits, the goroutine unwinds, and the rest goes on from where it was: before
// what was to be called after them.
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

// resume is dispatch, but to the front, of the trampoline or of the internal tasks of the loop.
func (f *Future[T]) resume() {
	if resumeOffLoop(f.onPanic(), f.notify) {
		return
	}
	if e, ours := f.home.(*Executor); ours && e.resumeInternal(f.notify) {
		return
	}
	f.dispatch()
}

// nextListener returns the next listener of this round; or nil, and whether there are some
// for another round.
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

// run is the task that Submit gives to the executor. A wrapper may run it inside another
// body, whose outcome it leaves alone: a panic is reported all the same.
func (f *Future[T]) run() {
	body := f.begin()
	if body == nil {
		if e := f.loop(); e != nil && (f.direct || calledByLoop()) {
			e.skipCurrent()
		}
		return
	}
	if f.call(body) && !f.direct && calledByLoop() {
		if e := f.loop(); e != nil {
			e.panickedCurrent()
		}
	}
}

// call runs body, completes the future, and reports whether body panicked.
func (f *Future[T]) call(body func() (T, error)) (panicked bool) {
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
		panicked = true
		p := newPanicError(v)
		if e := f.loop(); e != nil {
			e.recordPanic(p)
			if f.direct { // not in run: after a Goexit this does not return there
				e.panickedCurrent()
			}
		}
		f.finish(futureUncancellable, none, p)
	}()
	v, err := body()
	returned = true
	f.finish(futureUncancellable, v, err)
	return false
}

// calledByLoop reports whether the function that calls it was called by a loop itself: then
// it is the current body, and not something inside of one. It walks the stack, and is for
// what seldom happens.
func calledByLoop() bool {
	var pcs [1]uintptr
	n := runtime.Callers(3, pcs[:]) // past Callers, calledByLoop, and the function
	frame, _ := runtime.CallersFrames(pcs[:n]).Next()
	return n > 0 && (frame.Entry == reflect.ValueOf((*Executor).drain).Pointer() ||
		frame.Entry == reflect.ValueOf((*Executor).runBody).Pointer())
}

// loop returns the executor of ours whose body the caller is, if it is home or home
// wraps it: it counts a task that was skipped, or that panicked. Nil if the task runs
// elsewhere.
func (f *Future[T]) loop() *Executor {
	switch {
	case f.home == nil || !f.home.InEventLoop():
		return nil
	default:
		return currentExecutor()
	}
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
