package core

import (
	"context"
	"sync"
	"sync/atomic"
)

// Termination represents the end of an executor or group, which has exactly one. It is
// read-only: no caller can complete or cancel it (in Netty any caller can cancel it, R138;
// G15). All methods may be called from any goroutine, at any time. The zero Termination is not
// usable.
type Termination struct {
	// Set once.
	done      chan struct{}
	waitError func() error      // the error of Wait for a caller that must not block, or nil
	live      func() Report     // Report before it is sealed
	onPanic   func(*PanicError) // reports a panic of a listener; nil: log it to slog.Default

	// parent is called when t has ended. If t was the last child of its group, parent ends
	// the group and returns a function that calls the group's listeners; otherwise it
	// returns nil. Set once; nil if t belongs to no group.
	parent func() (callListeners func())

	// Guarded by mu; final once done is closed.
	mu        sync.Mutex
	report    Report
	err       error
	listeners []func(Report, error)
}

// NewTermination returns a Termination and the function that completes it, for a type that
// ends as an executor does, such as a group whose executors another package makes. Such a
// type can be an Executor of a process.Plan. Only end completes the Termination, which has no
// method for that (G15).
//
// waitError returns the error of Wait for a caller that must not block (ErrInEventLoop,
// ErrStarting; G18), or nil. live returns the Report before the end. Both are called on
// the goroutine that calls Wait or Report, and concurrently. A nil waitError or live is an
// error.
//
// end seals the report, closes Done, calls the listeners on the goroutine that calls end,
// and returns true. Only the first call has an effect; later calls return false (Netty's
// termination future of a thread-per-channel group was completed twice, caf91b9c06).
//
// A panic of a listener is recovered and logged to slog.Default: there is no executor
// with a panic handler.
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
		t.complete(report, err)
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

// Err returns nil before Done is closed, and after an orderly end, even one by the
// deadline (see Report.TimedOut). Otherwise it is the spawner's error if the loop
// could not be started, the error of the loop or its poller that ended the executor, or an
// error of closing the poller or of stopping an alarm. For a group it joins the errors of
// the children.
func (t *Termination) Err() error {
	if !t.isDone() {
		return nil
	}
	return t.err
}

// Report returns the report so far or, after Done is closed, the sealed report.
func (t *Termination) Report() Report {
	if t.isDone() {
		return t.report
	}
	return t.live()
}

// Wait blocks until Done is closed, and returns the sealed report and Err; or, if ctx ends
// first, the report so far and the cause of ctx. It returns ErrInEventLoop at once in a body
// of the executor, and ErrStarting in its spawner: the loop would wait for itself (Netty
// hangs, R137; G18).
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

// OnDone calls listener once, after Done is closed. Listeners that are added before Done is
// closed run in the order added, on the goroutine that closes Done, which is no longer the loop.
// A listener that is added later runs on the caller before OnDone returns, perhaps before earlier
// ones have run. If the caller is itself a listener of a Termination, the new listener runs after
// it, so that chains do not nest. A nil listener is ignored.
//
// A panic of a listener is reported like the panic of a body (see NewTermination for the
// exception), and the other listeners are still called. A listener that does not return
// prevents later ones from being called. The listeners of a group come after those of the
// child that ended last.
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
func (t *Termination) complete(report Report, err error) {
	t.report = report
	t.callListeners(t.seal(err))
}

// callListeners makes the calls that seal returned, and ends the parent. The parent is
// ended here and not by one of these calls: if the caller is inside an unrelated
// listener, the calls are made only after that listener has returned, and the parent's
// Done must not wait for it (G21).
func (t *Termination) callListeners(calls []func()) {
	if t.parent != nil {
		if callGroupListeners := t.parent(); callGroupListeners != nil {
			// This must be the first call. It runs inside offLoop, so it only queues the
			// group's listeners: behind the listeners of t, and before any that these add.
			calls = append([]func(){callGroupListeners}, calls...)
		}
	}
	offLoop(t.onPanic, calls...)
}

// seal sets the error, closes Done, and returns the calls of the listeners. The caller has set the
// report, which nobody reads before Done is closed.
func (t *Termination) seal(err error) (calls []func()) {
	t.mu.Lock()
	t.err = err
	listeners := t.listeners
	t.listeners = nil
	close(t.done)
	t.mu.Unlock()
	calls = make([]func(), len(listeners))
	for i, listener := range listeners {
		calls[i] = func() { listener(t.report, t.err) } // report and err are final now
	}
	return calls
}
