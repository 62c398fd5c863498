package core

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// shutdownRecord is what is known of the shutdown. It is written once by the
// first call, in the same critical section as the state, so that nobody can see
// the one without the other (Netty writes the parameters after the state, R105;
// G16), and once more by the close. Guarded by Executor.mu.
type shutdownRecord struct {
	called         bool
	calledAt       int64
	quiet, timeout time.Duration
	taskMark       int64 // tasks accepted before the call: hooks wait for these
	tailMark       int64
	deadline       *deadline

	closedAt int64
	cause    error // of the close: the reason of refusals from then on
	timedOut bool
	running  string // what ran when the deadline passed
}

// deadline closes admission when the timeout has passed. It is a timer of its
// own because the loop cannot do it while a body runs (Netty's loop tries, and
// one blocking task postpones its timeout for ever, R117; G11).
type deadline struct {
	alarm Alarm
	over  chan struct{} // closed at the end of the alarm's function
	fired bool          // guarded by Executor.mu
}

func (e *Executor) newDeadline(timeout time.Duration) *deadline {
	d := &deadline{over: make(chan struct{})}
	d.alarm = e.afterFunc(timeout, func() {
		defer close(d.over)
		e.deadlinePassed(d)
	})
	return d
}

// stop returns when the alarm's function will not run, or has run (G11, G24). Call it
// through attempt: Stop may be user code and may panic. It always returns nil.
func (d *deadline) stop() error {
	if d != nil && !d.alarm.Stop() {
		<-d.over
	}
	return nil
}

// ShutdownGracefully begins an orderly end, and returns the Termination at once.
//
// Until the close the state is ShuttingDown and tasks are accepted and run. The
// close comes at the first moment at which nothing is queued or running and none
// has run for quiet, counted from this call at the earliest (G10); or when
// timeout has passed since this call, even if a body is running then (G11). After
// it, what was accepted still runs, and then the executor has terminated.
//
// The first call counts; a later one has no effect, and Shutdown shortens it
// (G16). The error is about the arguments: a negative one, or timeout < quiet. On
// an executor that was never started it starts the loop: hooks run, the quiet
// period is kept (G17). It may be called from inside a body.
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

// Shutdown closes admission, and returns the Termination: from its return on
// nothing is accepted. What was accepted runs, hooks run, there is no quiet
// period. During a graceful shutdown it closes at once (G16); Netty ignores it
// then (R101). It may be called from inside a body.
func (e *Executor) Shutdown() *Termination {
	if e.State() < StateShutdown {
		e.beginShutdown(OpShutdown, e.nowIfItCan(), 0, 0)
	}
	return e.term
}

// Close is ShutdownGracefully(0, DefaultShutdownTimeout) followed by a wait for
// the end; its error is Termination().Err(). From inside a body it begins the
// shutdown and returns ErrInEventLoop (G18). io.Closer.
func (e *Executor) Close() error {
	if _, err := e.ShutdownGracefully(0, DefaultShutdownTimeout); err != nil {
		return err
	}
	return e.AwaitTermination(context.Background())
}

// AwaitTermination waits for the end and returns Termination().Err(), or the
// cause of ctx if that ends first. It does not begin a shutdown. From inside a
// body it returns ErrInEventLoop, from inside the spawner ErrStarting (G18).
func (e *Executor) AwaitTermination(ctx context.Context) error {
	_, err := e.term.Wait(ctx)
	return err
}

// beginShutdown is both shutdown calls: Shutdown is a graceful one whose timeout
// has passed already. now is when it was called: a clock of the user's is not read with
// the lock held.
func (e *Executor) beginShutdown(op Op, now int64, quiet, timeout time.Duration) {
	var d *deadline
	if timeout > 0 {
		// Before the state is published: a loop that ends at once must find it.
		d = e.newDeadline(timeout)
	}
	e.mu.Lock()
	if e.cfg.clock == nil {
		// Who was held up between the clock and the lock would have the quiet
		// period begin before the end of a body that ended meanwhile (G10). With a
		// clock of the user's the loop has recorded that end (see bodiesEnded).
		now = e.now()
	}
	first := !e.shutdown.called
	closes := e.gate&gateClosed == 0 && (op == OpShutdown || first && (timeout == 0 || d.fired))
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
		if cause = e.zeroTimeoutCause(); cause == ErrShutdownTimeout {
			// With the lock: the loop may end, and report, as soon as it is free.
			left = e.unfinished()
			left.running = e.describe(e.runningBody(), e.owner.Load())
			e.shutdown.running = left.running
		}
		e.closeAdmission(cause, now)
	case first:
		e.moveTo(StateShuttingDown)
	}
	if first || closes {
		e.unlockAndWake()
	} else {
		e.mu.Unlock()
	}
	if closes {
		e.endContext(cause)
	}
	defer e.startForShutdown() // whatever the logger does
	if cause == ErrShutdownTimeout {
		e.logTimeout(left)
	}
	if !first {
		var late error
		attempt(&late, d.stop) // an alarm that goes off all the same does nothing
		if late != nil {
			e.log(slog.LevelWarn, "the alarm of a second shutdown call could not be stopped", "error", late)
		}
	}
}

// publishShutdown records the first call. Requires mu; the state is moved in the
// same critical section.
func (e *Executor) publishShutdown(now int64, quiet, timeout time.Duration, d *deadline) {
	e.shutdown = shutdownRecord{
		called: true, calledAt: now, quiet: quiet, timeout: timeout, deadline: d,
		taskMark: e.tasks.Accepted(), tailMark: e.tails.Accepted(),
	}
	switch e.cfg.timers {
	case CancelTimers:
		e.timers.horizon = -1
	case RunDueTimers:
		e.timers.horizon = now
	case RunTimersUntilTimeout:
		e.timers.horizon = max(now, addTime(now, timeout)-1)
	}
}

// zeroTimeoutCause is the cause of a close that a graceful call makes itself: the
// deadline has passed, but if nothing is pending or running the queue is drained just
// as well (G10, G11). A caller inside a body is one that runs. Requires mu.
func (e *Executor) zeroTimeoutCause() error {
	left := e.unfinished() // channels have no time to drain
	if e.shutdown.quiet == 0 && left == (unfinished{}) && e.runningBody() == BodyNone {
		return ErrShutdown
	}
	return ErrShutdownTimeout
}

// closeAdmission is the close: from here on nothing is accepted. Requires mu, and
// that it has not happened. The caller cancels Context after it has unlocked.
func (e *Executor) closeAdmission(cause error, now int64) {
	e.gate |= gateClosed
	e.shutdown.cause = cause
	e.shutdown.closedAt = now
	e.shutdown.timedOut = cause == ErrShutdownTimeout
	e.timers.horizon = min(e.timers.horizon, now)
	e.moveTo(StateShutdown)
}

// endContext cancels Context. Whoever made the close calls it, and the loop does
// before the final drain: it may be faster.
func (e *Executor) endContext(cause error) {
	e.cancel(cause)
	if e.parent != nil { // whoever comes second waits: the group's Context ends before its Done
		e.ctxEnded.Do(func() { e.parent.childClosed(cause) })
	}
}

// deadlinePassed runs on the alarm's goroutine. A panic there would end the process.
func (e *Executor) deadlinePassed(d *deadline) {
	now := e.nowIfItCan()
	e.mu.Lock()
	d.fired = true
	if e.shutdown.deadline != d || e.gate&gateClosed != 0 {
		e.mu.Unlock()
		return
	}
	e.closeAdmission(ErrShutdownTimeout, now)
	body, owner, left := e.runningBody(), e.owner.Load(), e.unfinished()
	e.unlockAndWake()
	left.running = e.describe(body, owner) // before a body that listens to Context ends
	e.endContext(ErrShutdownTimeout)
	if left.running != "" {
		e.mu.Lock()
		e.shutdown.running = left.running
		e.mu.Unlock()
	}
	e.logTimeout(left)
}

// unfinished is what a timeout found: accepted, and not ended.
type unfinished struct {
	pending  int    // tasks, the running one included
	channels int    // open
	running  string // the body that ran, with its stack
}

// unfinished returns what is there at this moment, without the body. Requires mu.
func (e *Executor) unfinished() (u unfinished) {
	u.pending = e.counts().Pending
	if e.io != nil {
		u.channels = e.io.channels
	}
	return u
}

// logTimeout says what the timeout found, if that is anything.
func (e *Executor) logTimeout(left unfinished) {
	if left != (unfinished{}) {
		e.log(slog.LevelWarn, "timeout of the graceful shutdown passed",
			"pending", left.pending, "channels", left.channels, "running", left.running)
	}
}

// fail ends an executor whose poller or loop is broken: admission is closed, what
// was accepted runs without the poller, timers are cancelled (G15). Loop only.
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
	e.timers.horizon = -1
	e.mu.Unlock()
	e.endContext(err)
	e.log(slog.LevelError, "the loop failed", "error", err)
}

// attempt calls f, which is the user's, when nobody is left to hear of a panic, and puts
// its error into err: also if f panics, or ends the goroutine, with ErrGoexit. What is to
// come after it whatever it does is deferred by the caller: as a function that attempt
// calls, it would lie on top of it (see joinAll).
func attempt(err *error, f func() error) {
	*err = ErrGoexit // unless f comes back
	defer func() {
		if v := recover(); v != nil {
			*err = newPanicError(v)
		}
	}()
	*err = f()
}

// finish is the end of an executor, on the goroutine that was its loop, or that
// failed to start it. The state says Terminated already, and whoever reads it
// sees Shutdown until Done is closed: everything below happens before that (G15).
func (e *Executor) finish(err error) {
	e.endContext(err) // no effect after the close; the cause of a failed start
	e.mu.Lock()
	d, reason := e.shutdown.deadline, e.shutdown.cause
	e.tasks.Release()
	e.tails.Release()
	e.mu.Unlock()
	var late [2]error
	defer e.complete(reason, err, &late)
	defer e.closePoller(&late[1])
	attempt(&late[0], d.stop)
}

// closePoller lets go of what the loop had.
func (e *Executor) closePoller(err *error) {
	e.release()
	if e.io != nil {
		e.io.ready = nil
	}
	attempt(err, e.poller.Close)
}

// complete is the rest of finish: nothing is left but to say so. reason is that of the
// close, err that of the end, and late what went wrong since.
func (e *Executor) complete(reason, err error, late *[2]error) {
	if late[0] != nil || late[1] != nil {
		err = joinAll(err, late)
		defer e.end(reason, err) // whatever the logger does
		e.log(slog.LevelError, "the executor did not end in order", "error", err)
		return
	}
	e.end(reason, err)
}

// end says that the executor has terminated.
func (e *Executor) end(reason, err error) {
	if e.cfg.tracer != nil {
		e.traceEnd(reason)
	}
	e.term.callListeners(e.seal(e.nowIfItCan(), err))
}

// seal closes Done, and returns the calls of its listeners. The report is taken in the
// same critical section: nothing is counted between the two (G20).
func (e *Executor) seal(now int64, err error) (calls []func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var report Report
	e.reportAt(now, &report)
	return e.term.seal(&report, err)
}

// joinAll is a function of its own for the stack that it takes: that of a loop which had
// little to do has 2 kB, and finish comes close to that. To grow costs a microsecond.
//
//go:noinline
func joinAll(err error, late *[2]error) error { return errors.Join(err, late[0], late[1]) }

func (e *Executor) traceEnd(reason error) {
	e.trace(Event{Kind: EventPollerClosed})
	e.trace(Event{Kind: EventState, From: State(e.lastState.Load()), To: StateTerminated, Reason: reason})
	e.trace(Event{Kind: EventDone})
}
