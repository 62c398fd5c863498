package core

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"
)

// shutdownRecord describes the shutdown. The first shutdown call writes it in the
// critical section that moves the state, so that no goroutine sees one without the other
// (Netty writes the parameters after the state, R105; G16). The last three fields describe the
// close; running may be set after it, because its stack is read without mu. Guarded by
// Executor.mu.
type shutdownRecord struct {
	called         bool
	calledAt       int64
	quiet, timeout time.Duration
	taskMark       int64 // tasks accepted before the call: hooks run after these
	tailMark       int64
	deadline       *deadline

	cause    error // of the close: the reason of refusals from then on
	timedOut bool
	running  string // describes the body that ran when the deadline passed, with its stack
}

// deadline closes admission when the timeout has passed. It has its own timer because the
// loop cannot act while a body runs (Netty's loop tries to, and one blocking task
// postpones its timeout for ever, R117; G11).
type deadline struct {
	alarm Alarm
	over  chan struct{} // closed at the end of the alarm's function
	fired atomic.Bool   // the function runs or has run; stored with Executor.mu held
}

// newDeadline returns a deadline that calls passed, on a goroutine of its own, when timeout
// has passed.
func (s *setup) newDeadline(timeout time.Duration, passed func(*deadline)) *deadline {
	d := &deadline{over: make(chan struct{})}
	d.alarm = s.afterFunc(timeout, func() {
		defer close(d.over)
		passed(d)
	})
	return d
}

// stop returns when the alarm's function will not run, or has run (G11, G24). Call it
// through attempt: Stop may be user code and may panic. It always returns nil. An alarm that has
// fired is not stopped: if Stop panicked, the function would still log the timeout after Done.
func (d *deadline) stop() error {
	if d != nil && (d.fired.Load() || !d.alarm.Stop()) {
		<-d.over
	}
	return nil
}

// ShutdownGracefully begins an orderly end, and returns the Termination at once.
//
// Until admission closes, the state is ShuttingDown, and tasks are accepted and run. Admission
// closes when nothing is queued or running, no channel is open, no timer that
// WithTimersAtShutdown lets run is waiting, and quiet has passed since this call and since the
// end of the last task, timer or hook (G10). It closes at the latest when timeout has passed
// since this call, even while a body runs (G11). After that the accepted work still runs; then
// the executor terminates.
//
// A handler of readiness restarts the quiet period only if it runs at this call.
//
// Only the first call sets quiet and timeout. A later call has no effect, except that
// Shutdown closes admission at once (G16). ShutdownGracefully returns an error only for a
// negative argument or timeout < quiet. The call starts an executor that was never started:
// hooks run, and the quiet period is kept (G17). It may be called from inside a body.
func (e *Executor) ShutdownGracefully(quiet, timeout time.Duration) (*Termination, error) {
	if err := checkShutdown(quiet, timeout); err != nil {
		return nil, err
	}
	if e.State() < StateShuttingDown {
		e.beginShutdown(OpShutdownGracefully, e.now(), quiet, timeout)
	}
	return e.term, nil
}

func checkShutdown(quiet, timeout time.Duration) error {
	switch {
	case quiet < 0:
		return argumentError("ShutdownGracefully", "quiet is %v, want 0 or more", quiet)
	case timeout < quiet:
		return argumentError("ShutdownGracefully", "timeout is %v, want at least quiet, which is %v", timeout, quiet)
	}
	return nil
}

// Shutdown closes admission, and returns the Termination. Once it has returned, no task, timer
// or registration is accepted, and only a hook that was accepted before can add a hook. Accepted
// work and hooks still run; there is no quiet period. During a graceful shutdown it closes
// admission at once (G16); Netty ignores the call (R101). It may be called from inside a body.
func (e *Executor) Shutdown() *Termination {
	if e.State() < StateShutdown {
		e.beginShutdown(OpShutdown, e.nowIfItCan(), 0, 0)
	}
	return e.term
}

// Close is ShutdownGracefully(0, DefaultShutdownTimeout) followed by AwaitTermination;
// its error is Termination().Err(). From inside a body it begins the shutdown and returns
// ErrInEventLoop (G18). It implements io.Closer.
func (e *Executor) Close() error {
	_, _ = e.ShutdownGracefully(0, DefaultShutdownTimeout) // the arguments are valid
	return e.AwaitTermination(context.Background())
}

// AwaitTermination waits until Done is closed and returns Termination().Err(), or the
// cause of ctx if ctx ends first. It does not begin a shutdown. From inside a body it
// returns ErrInEventLoop, from inside the spawner ErrStarting (G18).
func (e *Executor) AwaitTermination(ctx context.Context) error {
	_, err := e.term.Wait(ctx)
	return err
}

// beginShutdown implements both shutdown calls: Shutdown is a graceful one whose timeout
// has passed already. now is the time of the call. The caller reads it, because a user's
// clock is never called with mu held.
func (e *Executor) beginShutdown(op Op, now int64, quiet, timeout time.Duration) {
	var d *deadline
	if timeout > 0 {
		// Before the state is published: a loop that ends at once must find d.
		d = e.newDeadline(timeout, e.deadlinePassed)
	}
	e.mu.Lock()
	first := !e.shutdown.called
	closes := e.gate&gateClosed == 0 && (op == OpShutdown || first && (timeout == 0 || d.fired.Load()))
	e.traceAdmit(op, first || closes)
	if first {
		e.publishShutdown(now, quiet, timeout, d)
	}
	var cause error
	var left unfinished
	switch {
	case closes && op == OpShutdown:
		cause = ErrShutdown
		e.closeAdmission(cause, now)
	case closes:
		cause = e.zeroTimeoutCause()
		e.closeAdmission(cause, now)
		if cause == ErrShutdownTimeout {
			// After the close: a body that begins before it is named. With mu held: the loop
			// may terminate and seal the report as soon as mu is free.
			left = e.unfinished()
			left.running = e.describe(e.runningKind(), e.owner.Load())
			e.shutdown.running = left.running
		}
	case first:
		e.moveTo(StateShuttingDown)
		if e.cfg.clock == nil {
			// Again: the loop does not record the end of a body that ended before the move
			// (see bodiesEnded), and the quiet period must not begin before that end (G10).
			e.setCalled(e.now(), timeout)
		}
	}
	if first || closes {
		e.unlockAndWake()
	} else {
		e.mu.Unlock()
	}
	if first {
		e.endShutdownContext()
	}
	if closes {
		e.endContext(cause)
	}
	defer e.startForShutdown() // deferred: the logger may call runtime.Goexit
	if cause == ErrShutdownTimeout {
		e.logTimeout(left)
	}
	if !first {
		var stopErr error
		attempt(&stopErr, d.stop) // if the alarm still fires, it has no effect
		if stopErr != nil {
			e.log(slog.LevelWarn, "the alarm of a second shutdown call could not be stopped", "error", stopErr)
		}
	}
}

// publishShutdown records the first shutdown call. The caller moves the state in the same
// critical section. Requires mu.
func (e *Executor) publishShutdown(now int64, quiet, timeout time.Duration, d *deadline) {
	e.shutdown = shutdownRecord{
		called: true, quiet: quiet, timeout: timeout, deadline: d,
		taskMark: e.tasks.Accepted(), tailMark: e.tails.Accepted(),
	}
	e.setCalled(now, timeout)
}

// setCalled sets the time of the first shutdown call. Requires mu.
func (e *Executor) setCalled(now int64, timeout time.Duration) {
	e.shutdown.calledAt = now
	e.timers.horizon = e.cfg.horizon(now, timeout)
}

// horizon returns the latest deadline of a timer that may run after a shutdown call at now.
func (c *config) horizon(now int64, timeout time.Duration) int64 {
	switch c.timers {
	case RunDueTimers:
		return now
	case RunTimersUntilTimeout:
		return max(now, addTime(now, timeout)-1)
	}
	return beforeAll
}

// zeroTimeoutCause returns the cause of the close for a graceful call whose timeout has
// passed when it takes mu. If quiet is zero and no work is pending or running, the
// shutdown is complete and has not timed out (G10, G11). A caller inside a body counts as
// a running body. Requires mu.
func (e *Executor) zeroTimeoutCause() error {
	left := e.unfinished() // counts open channels too: they have no time left to drain
	if e.shutdown.quiet == 0 && left == (unfinished{}) && e.runningKind() == BodyNone {
		return ErrShutdown
	}
	return ErrShutdownTimeout
}

// closeAdmission closes admission. After it, only a hook that was accepted before may add a hook;
// nothing else is accepted. Requires mu, and that admission is open. The caller must call
// endContext after it has released mu.
func (e *Executor) closeAdmission(cause error, now int64) {
	e.gate |= gateClosed
	e.shutdown.cause = cause
	e.shutdown.timedOut = cause == ErrShutdownTimeout
	e.timers.horizon = min(e.timers.horizon, now)
	e.moveTo(StateShutdown)
}

// endContext cancels Context. The goroutine that closed admission calls it after it has
// released mu. The loop calls it too, because it may begin the final drain before that
// goroutine calls endContext.
func (e *Executor) endContext(cause error) {
	e.endShutdownContext() // no effect after a shutdown call
	e.cancel(cause)
	if e.parent != nil {
		// If another goroutine is inside childClosed, Once makes this one wait for it: so the
		// group's Context ends before the group's Done is closed.
		e.ctxEnded.Do(func() { e.parent.childClosed(cause) })
	}
}

// deadlinePassed closes admission because the timeout has passed. It runs on the alarm's
// goroutine, where a panic would end the process.
func (e *Executor) deadlinePassed(d *deadline) {
	now := e.nowIfItCan()
	e.mu.Lock()
	d.fired.Store(true)
	if e.shutdown.deadline != d || e.gate&gateClosed != 0 {
		e.mu.Unlock()
		return
	}
	e.closeAdmission(ErrShutdownTimeout, now)
	body, owner, left := e.runningKind(), e.owner.Load(), e.unfinished()
	e.unlockAndWake()
	// All this comes before endContext: a body that waits for Context may end then, or ask for the Report.
	if left.running = e.describe(body, owner); left.running != "" {
		e.mu.Lock()
		e.shutdown.running = left.running
		e.mu.Unlock()
	}
	e.endContext(ErrShutdownTimeout)
	e.logTimeout(left)
}

// unfinished is the accepted work that had not ended when a timeout passed.
type unfinished struct {
	pending  int    // tasks, the running one included
	channels int    // open
	running  string // the body that ran, with its stack
}

// unfinished returns the counts of unfinished work, and does not set running. Requires mu.
func (e *Executor) unfinished() (u unfinished) {
	u.pending = e.counts().Pending
	if e.io != nil {
		u.channels = e.io.channels
	}
	return u
}

// logTimeout logs the work that was unfinished at the timeout, if there was any.
func (e *Executor) logTimeout(left unfinished) {
	if left != (unfinished{}) {
		e.log(slog.LevelWarn, "timeout of the graceful shutdown passed",
			"pending", left.pending, "channels", left.channels, "running", left.running)
	}
}

// fail ends an executor whose poller or loop is broken: it closes admission and cancels
// timers, and accepted work runs without the poller (G15). Loop only.
func (e *Executor) fail(err error) {
	e.broken = errors.Join(e.broken, err)
	if e.io != nil {
		e.io.broken.Store(true)
	}
	now := e.nowIfItCan()
	e.mu.Lock()
	if !e.shutdown.called {
		e.publishShutdown(now, 0, 0, nil)
	}
	if e.gate&gateClosed == 0 {
		e.closeAdmission(err, now)
	}
	e.timers.horizon = beforeAll
	e.mu.Unlock()
	e.endContext(err)
	e.log(slog.LevelError, "the loop failed", "error", err)
}

// attempt calls f, which is user code, and recovers a panic. It sets err to the error of f,
// to a *PanicError if f panics, and to ErrGoexit if f calls runtime.Goexit. attempt does
// not return after a Goexit: defer the work that must follow.
func attempt(err *error, f func() error) {
	*err = ErrGoexit // unless f returns
	defer func() {
		if v := recover(); v != nil {
			*err = newPanicError(v)
		}
	}()
	*err = f()
}

// finish terminates the executor. It runs on the goroutine that was its loop, that failed to
// start it, or that called discard. The stored state is Terminated, but State returns the
// state before it until Done is closed: all cleanup comes before that (G15).
func (e *Executor) finish(err error) {
	e.endContext(err) // another goroutine that has closed admission may not have come to it
	e.mu.Lock()
	d, reason := e.shutdown.deadline, e.shutdown.cause
	e.tasks.Release()
	e.tails.Release()
	e.mu.Unlock()
	var stopErr, closeErr error
	defer func() { e.complete(reason, err, stopErr, closeErr) }()
	defer func() {
		e.release()
		if e.io != nil {
			e.io.ready = nil
		}
		attempt(&closeErr, e.poller.Close)
	}()
	attempt(&stopErr, d.stop)
}

// complete is the last part of finish. reason is the cause of the close, and err the error of
// the end. complete logs stopErr and closeErr, the errors of stopping the deadline and of
// closing the poller.
func (e *Executor) complete(reason, err, stopErr, closeErr error) {
	if stopErr != nil || closeErr != nil {
		e.endInDisorder(reason, err, stopErr, closeErr)
		return
	}
	e.end(reason, err)
}

// endInDisorder logs the errors and publishes the end. If it were inlined, the stack of an end
// without errors would have to grow, which takes a third of a shutdown.
//
//go:noinline
func (e *Executor) endInDisorder(reason, err, stopErr, closeErr error) {
	err = errors.Join(err, stopErr, closeErr)
	defer e.end(reason, err) // deferred: the logger may call runtime.Goexit
	e.log(slog.LevelError, "the executor did not end in order", "error", err)
}

// end publishes that the executor has terminated.
func (e *Executor) end(reason, err error) {
	if e.cfg.tracer != nil {
		e.traceEnd(reason)
	}
	e.term.callListeners(e.seal(e.nowIfItCan(), err))
}

// seal closes Done, and returns the calls of its listeners. It takes the report in the
// same critical section, so no count can change between the two (G20).
func (e *Executor) seal(now int64, err error) (calls []func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reportAt(&e.term.report, now)
	return e.term.seal(err)
}

func (e *Executor) traceEnd(reason error) {
	e.trace(Event{Kind: EventPollerClosed})
	e.trace(Event{Kind: EventState, From: State(e.lastState.Load()), To: StateTerminated, Reason: reason})
	e.trace(Event{Kind: EventDone})
}
