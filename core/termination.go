package core

import (
	"context"
	"sync"
	"sync/atomic"
)

// Termination is the end of an executor or a group: one per executor, the same
// pointer every time. It is read-only: nobody can complete or cancel it (Netty's
// can be cancelled by anybody, R138; G15). All methods may be called from any
// goroutine, at any time.
type Termination struct {
	// Set once.
	done      chan struct{}
	waitError func() error      // why the caller must not wait, if it must not
	live      func() Report     // before the report is sealed
	onPanic   func(*PanicError) // hears of listeners that panic; nil: slog.Default

	// parent ends what t is a part of, if t was the last, and returns what calls the
	// listeners of that; nil: nothing. Set once; nil for what is no part of anything.
	parent func() (callListeners func())

	// Guarded by mu; final once done is closed.
	mu        sync.Mutex
	report    Report
	err       error
	listeners []func(Report, error)
}

// NewTermination returns the Termination of something that ends as executors do, such
// as a number of them that another package has made into one, and the function that
// ends it: who has no other but the Termination cannot (G15). It may then be an
// Executor of a process.Plan.
//
// waitError says why the caller of Wait must not wait (ErrInEventLoop, ErrStarting;
// G18), nil: it may. live is what Report returns before the end. Both are called on
// the goroutine that asks, from many at once. end seals the report, closes Done, and
// calls the listeners on the caller's goroutine; only the first call has an effect
// (Netty's termination future of a thread-per-channel group was completed twice,
// caf91b9c06), and returns true. A nil waitError or live is an error.
//
// A panic of a listener is contained, and logged to slog.Default: there is no executor
// whose handler could hear of it.
func NewTermination(waitError func() error, live func() Report) (t *Termination, end func(Report, error) bool, err error) {
	if waitError == nil {
		return nil, nil, nilFunc("NewTermination", "waitError")
	}
	if live == nil {
		return nil, nil, nilFunc("NewTermination", "live")
	}
	var ended atomic.Bool
	t = newTermination(waitError, live)
	return t, func(report Report, err error) bool {
		if !ended.CompareAndSwap(false, true) {
			return false
		}
		t.complete(&report, err)
		return true
	}, nil
}

func newTermination(waitError func() error, live func() Report) *Termination {
	return &Termination{done: make(chan struct{}), waitError: waitError, live: live}
}

// Done returns a channel that is closed when the executor has terminated: every
// accepted task has run, hooks have ended, the poller is closed, the report is
// sealed, and State is Terminated.
func (t *Termination) Done() <-chan struct{} { return t.done }

func (t *Termination) isDone() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// Err returns nil before Done is closed and after an orderly end, the deadline
// included (Report.TimedOut tells). It is the spawner's error if the loop could
// not be started, or what made the loop or its poller fail; of a group, the
// joined errors of the children.
func (t *Termination) Err() error {
	if !t.isDone() {
		return nil
	}
	return t.err
}

// Report returns what the shutdown has done so far, or the sealed report.
func (t *Termination) Report() Report {
	if t.isDone() {
		return t.report
	}
	return t.live()
}

// Wait waits until Done is closed and returns the sealed report and Err; or, if
// ctx ends first, the report so far and the cause of ctx. From inside a body of
// the executor it returns ErrInEventLoop at once, and from inside its spawner
// ErrStarting, as it would wait for itself (Netty hangs, R137; G18).
func (t *Termination) Wait(ctx context.Context) (Report, error) {
	if ctx == nil {
		return t.Report(), argumentError("Wait", "ctx is nil, want a context")
	}
	if t.isDone() {
		return t.report, t.err
	}
	if err := t.waitError(); err != nil {
		return t.Report(), err
	}
	select {
	case <-t.done:
		return t.report, t.err
	case <-ctx.Done():
		return t.Report(), context.Cause(ctx)
	}
}

// OnDone calls listener once Done is closed: on the goroutine that closes it,
// which is the loop's no longer, in the order added; or, if it is closed, on the
// caller, before OnDone returns. From inside another listener that runs so, it is
// called after that one: chains do not nest. A nil listener is ignored. A panic in
// one is reported as one of a body, unless the Termination is of NewTermination, and
// does not keep the others from being called; one that does not return does: of a
// group, the listeners come after those of the child that ended last.
func (t *Termination) OnDone(listener func(Report, error)) {
	if listener == nil {
		return
	}
	t.mu.Lock()
	if !t.isDone() {
		t.listeners = append(t.listeners, listener)
		t.mu.Unlock()
		return
	}
	t.mu.Unlock()
	offLoop(t.onPanic, func() { listener(t.report, t.err) })
}

// complete seals the report, closes Done, and calls the listeners.
func (t *Termination) complete(report *Report, err error) {
	t.callListeners(t.seal(report, err))
}

// callListeners makes the calls that seal returned, and ends the parent. It is not one of
// the listeners that ends the parent: inside a listener of something else they are called
// when that has returned, and the parent's Done does not wait for it (G21).
func (t *Termination) callListeners(calls []func()) {
	if t.parent != nil {
		if callListeners := t.parent(); callListeners != nil {
			// First here, it puts them behind ours, but before what ours add.
			calls = append([]func(){callListeners}, calls...)
		}
	}
	offLoop(t.onPanic, calls...)
}

// seal is the end of t but for the calls of its listeners, which it returns.
func (t *Termination) seal(report *Report, err error) (calls []func()) {
	t.mu.Lock()
	t.report, t.err = *report, err
	listeners := t.listeners
	t.listeners = nil
	close(t.done)
	t.mu.Unlock()
	calls = make([]func(), len(listeners))
	for i, listener := range listeners {
		calls[i] = func() { listener(t.report, t.err) } // final now
	}
	return calls
}
