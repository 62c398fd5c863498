package core

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// State returns the current state, as Executor.State does. It does not start a worker.
func (p *Pool) State() State {
	s := State(p.state.Load())
	if s == StateTerminated && !p.term.isDone() {
		return State(p.lastState.Load())
	}
	return s
}

// moveTo changes the state; no other code does. Requires mu.
func (p *Pool) moveTo(to State) {
	from := State(p.state.Load())
	if !legalMoves[from][to] {
		panic(fmt.Sprintf("core: illegal move of a pool's state from %v to %v", from, to))
	}
	if to == StateTerminated {
		p.lastState.Store(int32(from)) // what State reports until Done is closed
	} else if p.cfg.tracer != nil {
		p.trace(Event{Kind: EventState, From: from, To: to, Reason: p.shutdown.cause})
	}
	p.state.Store(int32(to))
}

// ShutdownGracefully begins an orderly end, and returns the Termination at once: see
// Executor.ShutdownGracefully. The quiet period is that of the pool as a whole: it ends once no
// body runs on any worker, and no task, timer or hook has run for quiet.
func (p *Pool) ShutdownGracefully(quiet, timeout time.Duration) (*Termination, error) {
	if err := checkShutdown(quiet, timeout); err != nil {
		return nil, err
	}
	if p.State() < StateShuttingDown {
		p.beginShutdown(OpShutdownGracefully, p.now(), quiet, timeout)
	}
	return p.term, nil
}

// Shutdown closes admission, and returns the Termination: see Executor.Shutdown.
func (p *Pool) Shutdown() *Termination {
	if p.State() < StateShutdown {
		p.beginShutdown(OpShutdown, p.nowIfItCan(), 0, 0)
	}
	return p.term
}

// Close is ShutdownGracefully(0, DefaultShutdownTimeout) followed by AwaitTermination; its error
// is Termination().Err(). From inside a body it begins the shutdown and returns ErrInEventLoop
// (G18). It implements io.Closer.
func (p *Pool) Close() error {
	_, _ = p.ShutdownGracefully(0, DefaultShutdownTimeout) // the arguments are valid
	return p.AwaitTermination(context.Background())
}

// AwaitTermination blocks until Done is closed, and returns Termination().Err(); or the cause of
// ctx if ctx ends first. It does not begin a shutdown. In a body it returns ErrInEventLoop,
// in the spawner ErrStarting (G18).
func (p *Pool) AwaitTermination(ctx context.Context) error {
	_, err := p.term.Wait(ctx)
	return err
}

// beginShutdown implements both shutdown calls: see Executor.beginShutdown. now is not read again with mu
// held: unlike an Executor, a pool always records the end of the last body (countEnd), so the quiet period
// does not begin before it (G10).
func (p *Pool) beginShutdown(op Op, now int64, quiet, timeout time.Duration) {
	var d *deadline
	if timeout > 0 {
		d = p.newDeadline(timeout, p.deadlinePassed) // armed before the state is published
	}
	p.mu.Lock()
	first := !p.shutdown.called
	closes := p.gate&gateClosed == 0 && (op == OpShutdown || first && (timeout == 0 || d.fired.Load()))
	p.traceAdmit(op, first || closes)
	if first {
		p.publishShutdown(now, quiet, timeout, d)
	}
	var cause error
	switch {
	case closes:
		cause = ErrShutdown // with no work left this is no timeout: see Executor.zeroTimeoutCause
		if op == OpShutdownGracefully && (quiet > 0 || p.queue.Counts().Pending > 0 || p.busy > 0) {
			cause = ErrShutdownTimeout
			p.shutdown.running = p.describe(p.runningBodies(now))
		}
		p.closeAdmission(cause, now)
	case first:
		p.moveTo(StateShuttingDown)
	}
	pending, text := p.queue.Counts().Pending, p.shutdown.running
	if first || closes {
		p.unlockAndWakeOneAside()
	} else {
		p.mu.Unlock()
	}
	if first {
		p.onBegin.end()
	}
	if closes {
		p.endContext(cause)
	}
	defer p.startForShutdown() // deferred: the logger may call runtime.Goexit
	if cause == ErrShutdownTimeout {
		p.logTimeout(pending, text)
	}
	if !first {
		var stopErr error
		attempt(&stopErr, d.stop)
		if stopErr != nil {
			p.log(slog.LevelWarn, "the alarm of a second shutdown call could not be stopped", "error", stopErr)
		}
	}
}

// publishShutdown records the first shutdown call. The caller moves the state in the same
// critical section. Requires mu.
func (p *Pool) publishShutdown(now int64, quiet, timeout time.Duration, d *deadline) {
	c := p.queue.Counts()
	p.shutdown = shutdownRecord{
		called: true, calledAt: now, quiet: quiet, timeout: timeout, deadline: d, taskMark: c.Accepted,
	}
	p.earlyTasks = c.Pending
	p.hooks.mark()
	p.timers.horizon = p.cfg.horizon(now, timeout)
}

// closeAdmission closes admission. After it, only a hook that was accepted before may add a hook;
// nothing else is accepted. Admission must be open. The caller must call endContext after it has
// released mu. Requires mu.
func (p *Pool) closeAdmission(cause error, now int64) {
	p.gate |= gateClosed
	p.shutdown.cause, p.shutdown.timedOut = cause, cause == ErrShutdownTimeout
	p.timers.horizon = min(p.timers.horizon, now)
	p.moveTo(StateShutdown)
}

// endContext cancels Context, once. The goroutine that closes admission calls it after it has
// released mu. A worker may begin the final drain earlier, so followState calls it too.
func (p *Pool) endContext(cause error) {
	p.onBegin.end() // no effect after a shutdown call
	p.ctxEnded.Do(func() { p.cancel(cause) })
}

// deadlinePassed closes admission if d is still the deadline of an open shutdown. It runs on the
// goroutine of the alarm.
func (p *Pool) deadlinePassed(d *deadline) {
	now := p.nowIfItCan()
	p.mu.Lock()
	d.fired.Store(true)
	if p.shutdown.deadline != d || p.gate&gateClosed != 0 {
		p.mu.Unlock()
		return
	}
	p.closeAdmission(ErrShutdownTimeout, now)
	running, pending := p.runningBodies(now), p.queue.Counts().Pending
	p.unlockAndWakeOneAside()
	text := p.describe(running)
	if text != "" { // before endContext, as in Executor.deadlinePassed
		p.mu.Lock()
		p.shutdown.running = text
		p.mu.Unlock()
	}
	p.endContext(ErrShutdownTimeout)
	p.logTimeout(pending, text)
}

// logTimeout logs the work that was unfinished at the timeout, if there was any.
func (p *Pool) logTimeout(pending int, running string) {
	if pending > 0 || running != "" {
		p.log(slog.LevelWarn, "timeout of the graceful shutdown passed", "pending", pending, "running", running)
	}
}

// fail shuts down a pool whose clock or source of jitter has panicked: it closes admission;
// accepted tasks still run, and timers are cancelled (G15).
func (p *Pool) fail(err error) {
	now := p.nowIfItCan()
	p.mu.Lock()
	p.publishFailure(err, now)
	p.unlockAndWakeOneAside()
	p.endContext(err)
	p.log(slog.LevelError, "the pool failed", "error", err)
}

// publishFailure is the part of fail that happens in one critical section. Requires mu.
func (p *Pool) publishFailure(err error, now int64) {
	p.failed.Store(true)
	p.failure = errors.Join(p.failure, err)
	if !p.shutdown.called {
		p.publishShutdown(now, 0, 0, nil)
	}
	if p.gate&gateClosed == 0 {
		p.closeAdmission(err, now)
	}
	p.timers.horizon = beforeAll
}

// brokenBy returns the errors of the clock and of the source of jitter.
func (p *Pool) brokenBy() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failure
}

// followState runs before each body: after the close it cancels Context, and after a shutdown
// call it cancels timers beyond the horizon. It reports whether it has released mu meanwhile; mu
// is held when it returns. Requires mu.
func (p *Pool) followState() bool {
	if State(p.state.Load()) == StateShutdown && p.ctx.Err() == nil {
		cause := p.shutdown.cause
		p.mu.Unlock()
		p.endContext(cause)
		p.mu.Lock()
		return true
	}
	return p.shutdown.called && p.purge()
}

// drained reports whether no work is queued or running, timers apart. Requires mu.
func (p *Pool) drained() bool {
	return p.busy == 0 && p.queue.Size() == 0 && p.internal.len() == 0 && p.hooks.size() == 0 && len(p.doomed) == 0
}

// quietEnd returns when the quiet period ends if no further body runs. A shutdown must have been
// called. Requires mu.
func (p *Pool) quietEnd() int64 {
	return addTime(max(p.shutdown.calledAt, p.lastEnd), p.shutdown.quiet)
}

// advance closes admission if the quiet period has ended, and terminates a closed pool if no
// work is left. It reports whether it did one of the two. It may release mu meanwhile; mu is
// held when it returns. Requires mu.
func (p *Pool) advance(now int64) bool {
	if !p.drained() || p.heap.len() > 0 {
		return false
	}
	switch state := State(p.state.Load()); {
	case state == StateShuttingDown && p.quietEnd() <= now:
		p.closeAdmission(ErrShutdown, now)
		return true // followState then cancels Context
	case state == StateShutdown:
		p.over = true
		p.moveTo(StateTerminated)
		var woken []*worker
		for w := p.claim(); w != nil; w = p.claim() {
			woken = append(woken, w)
		}
		p.mu.Unlock()
		for _, w := range woken {
			w.poller.Wake()
		}
		p.mu.Lock()
		return true
	}
	return false
}

// finish terminates the pool. It runs on the goroutine of the last worker, or on the goroutine
// that failed to start a worker. See Executor.finish.
func (p *Pool) finish(err error) {
	p.endContext(err) // another goroutine that has closed admission may not have come to it
	p.mu.Lock()
	d, reason, closeErr := p.shutdown.deadline, p.shutdown.cause, p.unclosed
	p.queue.Release()
	p.heap = timerHeap{}
	p.mu.Unlock()
	var stopErr error
	defer p.complete(reason, err, &stopErr, closeErr)
	attempt(&stopErr, d.stop)
}

// complete is the last part of finish. finish defers it, because stopping an alarm of the user's
// clock may call runtime.Goexit.
func (p *Pool) complete(reason, err error, stopErr *error, closeErr error) {
	if *stopErr != nil || closeErr != nil {
		err = errors.Join(err, *stopErr, closeErr)
		defer p.end(reason, err) // deferred: the logger may call runtime.Goexit
		p.log(slog.LevelError, "the pool did not end in order", "error", err)
		return
	}
	p.end(reason, err)
}

// end closes Done, and calls its listeners. It takes the report and closes Done in one critical
// section, so no count can change between the two (G20).
func (p *Pool) end(reason, err error) {
	if p.cfg.tracer != nil {
		p.trace(Event{Kind: EventPollerClosed})
		p.trace(Event{Kind: EventState, From: State(p.lastState.Load()), To: StateTerminated, Reason: reason})
		p.trace(Event{Kind: EventDone})
	}
	now := p.nowIfItCan()
	p.mu.Lock()
	p.term.report = p.reportAt(now)
	calls := p.term.seal(err)
	p.mu.Unlock()
	p.term.callListeners(calls)
}
