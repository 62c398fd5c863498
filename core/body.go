package core

import (
	"context"
	"log/slog"
	"time"
	"unsafe"

	"eventide/core/internal/tasks"
)

// currentBody describes the running body, so that the loop can finish it after a panic or
// Goexit. The loop writes it for each batch of tasks and for each other body. The small fields
// share one word, so that the write is cheap.
type currentBody struct {
	kind       Body
	outcome    Outcome      // 0, unless skipCurrent or panickedCurrent was called
	internal   bool         // it never restarts a quiet period
	nextBegins bool         // task: the next task begins in the same instant (see tasks.Queue.End)
	handler    bool         // it is the panic handler: a panic in it is only logged
	queue      *tasks.Queue // task, tail task
	timer      *Timer
	hook       *hook
	reg        *Registration // readiness; nil for Drain and Abort of a channel
	call       func()        // what the loop calls: see isCurrent
}

func asDuration(at int64) time.Duration { return time.Duration(at) }

// runQueue runs the tasks of the batch in hand up to upTo. Before the next task begins, it reports
// the panic of a task and runs the internal tasks that wait. It stops early if the state has moved:
// the shutdown call may have ended timers and made hooks due.
func (e *Executor) runQueue(q *tasks.Queue, kind Body) {
	n := int(e.upTo - q.Begun()) // after a Goexit in this step: the rest of the batch
	for n > 0 && !e.stateMoved() {
		ran := q.Ran()
		n -= e.drain(q, kind, n)
		e.bodiesEnded(q.Ran() > ran)
		e.settle() // after bodiesEnded has read the time: the panic handler does not restart a quiet period
	}
}

// settle does what is due between two bodies of a turn: it reports the panic of the first, and then
// runs the internal tasks that wait, so that the listeners of a future that the first completed run
// before the second (G9). What these tasks post waits for the end of the second: otherwise futures
// that other goroutines complete, or listeners that end the goroutine, could starve the bodies (G13).
func (e *Executor) settle() {
	if len(e.panics) == 0 && !e.hasInternal() && !e.stopBatch.Load() {
		e.owed = false // nothing is due: to find that out by calls takes a twentieth of the time of a hook
		return
	}
	e.settleAll()
}

func (e *Executor) settleAll() {
	e.reportPanics()
	e.runInternal() // a hook runs before the batch that the turn has taken
	if !e.owed || e.hasInternal() {
		return // if some are left, the state has moved: what the body posted is still owed, behind them
	}
	e.owed = false
	if e.stopBatch.Load() {
		e.mu.Lock()
		e.drainInternalInbox()
		e.mu.Unlock()
	}
	e.runInternal()
}

// drain runs up to n tasks, n > 0, and returns how many have begun. It stops early if a task panics, an
// internal task is posted, or the state moves. If a task calls Goexit, drain does not return:
// runQueue runs the rest of the batch on the next goroutine of the loop. One deferred call serves
// all the tasks.
func (e *Executor) drain(q *tasks.Queue, kind Body, n int) (begun int) {
	defer e.recoverBody()
	e.current = currentBody{kind: kind, queue: q}
	q.Resume()
	for {
		begun++
		task := q.Next()
		e.current.call = task
		if e.cfg.tracer != nil {
			e.traceBegin(kind, task)
		}
		task()
		// nextBegins must be known before End, which publishes it: the next task then counts
		// as begun. If nextBegins were wrongly true, a task that still waits for a later turn
		// would count as begun (G19).
		nextBegins := begun < n && len(e.panics) == 0 && !e.stopBatch.Load()
		switch plain := e.current.outcome == 0 && e.cfg.tracer == nil; {
		case plain && nextBegins:
			q.EndAndBegin()
		case plain:
			q.End(tasks.Ran, false)
		default:
			e.current.nextBegins = nextBegins
			e.finishBody(OutcomeNormal)
			e.current = currentBody{kind: kind, queue: q}
		}
		if !nextBegins {
			break
		}
	}
	e.current, e.owed = currentBody{}, true
	return begun
}

// bodyBits is the width of the kind in Executor.body.
const bodyBits = 8

// beginBody publishes the begin of a body that is not a task: the low bits have the kind
// of the body, the other bits its number. Loop only.
func (e *Executor) beginBody(kind Body) {
	e.bodies++
	e.body.Store(e.bodies<<bodyBits | int64(kind))
}

// runBody runs a body that is not a task.
func (e *Executor) runBody(b currentBody, body func()) {
	e.current, e.current.call = b, body
	e.beginBody(b.kind)
	defer e.recoverBody()
	if e.cfg.tracer != nil {
		e.traceBegin(b.kind, body)
	}
	body()
	e.finishBody(OutcomeNormal)
}

// traceBegin traces the begin of the current body. If the tracer panics, and the logger then calls
// runtime.Goexit, traceBegin does not return, and the body runs in its deferred call: accepted work
// runs even then (G3).
func (e *Executor) traceBegin(kind Body, body func()) {
	returned := false
	defer func() {
		if !returned {
			body()
			e.finishBody(OutcomeNormal)
		}
	}()
	e.trace(Event{Kind: EventBegin, Body: kind})
	returned = true
}

// recoverBody is deferred around bodies. It recovers a panic. It cannot recover a Goexit: if
// the body has not finished and there is no panic value, the body has called Goexit. Then
// recoverBody updates the counters, and the exit method runs next on the ending goroutine. If
// a deferred call of the body panics during a Goexit, recoverBody sees a panic, but the
// goroutine still ends. So nothing may depend on code that follows the call of the body.
func (e *Executor) recoverBody() {
	if e.current.kind == BodyNone {
		return
	}
	if v := recover(); v != nil {
		e.recordPanic(newPanicError(v))
		e.finishBody(OutcomePanicked)
		return
	}
	e.finishBody(OutcomeExited)
}

// finishBody traces and counts the end of the current body, and publishes it.
func (e *Executor) finishBody(outcome Outcome) {
	b := e.current
	e.current, e.owed = currentBody{}, e.owed || b.kind != BodyListener
	if b.outcome != 0 {
		outcome = b.outcome
	}
	defer e.countEnded(b, outcome) // even if the logger of a tracer that panics calls runtime.Goexit
	if e.cfg.tracer != nil {
		e.trace(Event{Kind: EventEnd, Body: b.kind, Outcome: outcome})
	}
}

// countEnded counts the end of b, and publishes it.
func (e *Executor) countEnded(b currentBody, outcome Outcome) {
	switch b.kind {
	case BodyTask, BodyTail:
		one := tasks.Ran
		if outcome == OutcomeSkipped {
			one = tasks.Cancelled
		}
		b.queue.End(one, b.nextBegins)
		if outcome == OutcomeExited || outcome == OutcomePanicked {
			e.bodiesEnded(true)
		}
		return
	case BodyTimer:
		e.finishTimer(b.timer, outcome)
	case BodyHook:
		e.finishHook(b.hook)
	case BodyReadiness:
		if b.reg != nil {
			b.reg.finishRun()
		}
	}
	e.body.Store(int64(BodyNone))
	e.bodiesEnded(b.kind != BodyListener && !b.internal)
}

// bodiesEnded restarts the quiet period if any body ran. It reads the time before
// listeners are called: a listener does not restart the quiet period (G10).
//
// Before the shutdown call the time is needed only if the clock is the user's. The caller
// of ShutdownGracefully reads a user's clock without mu, and a body may end between the
// reading and the lock. The system's clock is read again with mu held (see
// beginShutdown).
func (e *Executor) bodiesEnded(any bool) {
	if !any {
		return
	}
	state := State(e.state.Load())
	if state == StateShuttingDown || state < StateShuttingDown && e.cfg.clock != nil {
		e.lastEnd = e.now()
	}
}

// isCurrent reports whether f is the current body: the function that the loop has called,
// and not one that this function calls. Loop only.
func (e *Executor) isCurrent(f func()) bool { return sameFunc(e.current.call, f) }

// sameFunc reports whether a and b are one function value. Two closures of one function
// are two function values.
func sameFunc(a, b func()) bool {
	return *(*unsafe.Pointer)(unsafe.Pointer(&a)) == *(*unsafe.Pointer)(unsafe.Pointer(&b))
}

// skipCurrent is called by a body that found its future cancelled: the body counts as
// cancelled, not as ran (G3, G20), and does not restart a quiet period. Call it only if
// isCurrent is true: from the function that the loop called, not from a function that a body
// called.
func (e *Executor) skipCurrent() { e.current.outcome = OutcomeSkipped }

// panickedCurrent is called by a body that recovered the panic of its function to put it
// into a future, after recordPanic. Call it, like skipCurrent, only if isCurrent
// is true.
func (e *Executor) panickedCurrent() { e.current.outcome = OutcomePanicked }

// runInternal runs the internal tasks of the batch, until the state moves.
func (e *Executor) runInternal() {
	for e.hasInternal() && !e.stateMoved() {
		work := e.internalBatch[e.internalPos]
		e.internalBatch[e.internalPos] = nil
		e.internalPos++
		e.runBody(currentBody{kind: BodyListener}, work)
		e.reportPanics()
	}
}

// resumeInternal replaces the running internal task by rest, so that rest runs before the internal
// tasks behind it. Only Future.notify calls it, and only as an internal task: otherwise a trampoline or
// the Execute of a wrapper runs notify.
func (e *Executor) resumeInternal(rest func()) {
	e.internalPos--
	e.internalBatch[e.internalPos] = rest
}

// recordPanic counts a recovered panic of a body and keeps it for reportPanics.
// Loop only.
func (e *Executor) recordPanic(p *PanicError) {
	if e.current.handler {
		e.log(slog.LevelError, "panic in the panic handler", "panic", p.Value, "stack", string(p.Stack))
		return
	}
	e.panicked.Add(1)
	e.panics = append(e.panics, p)
}

// reportPanics reports each panic once, outside of the deferred call that
// recovered it, so that the handler may do what a body may.
func (e *Executor) reportPanics() {
	for len(e.panics) > 0 {
		p := e.panics[0]
		e.panics[0] = nil // the value may be large
		if e.panics = e.panics[1:]; len(e.panics) == 0 {
			e.panics = nil
		}
		e.runBody(currentBody{kind: BodyListener, handler: true}, func() { e.report(p) })
	}
}

func (s *setup) report(p *PanicError) {
	if s.cfg.panicHandler != nil {
		s.cfg.panicHandler(p)
		return
	}
	s.log(slog.LevelError, "panic in a body", "panic", p.Value, "stack", string(p.Stack))
}

// log writes to the user's logger, and ignores a panic of the logger.
func (s *setup) log(level slog.Level, msg string, args ...any) {
	defer func() { _ = recover() }()
	logger := s.cfg.logger
	if logger == nil {
		logger = slog.Default()
	}
	logger.With("executor", s.cfg.name).Log(context.Background(), level, msg, args...)
}

// reportOffLoop counts and reports a panic of a listener that ran off the loop: see
// offLoop.
func (e *Executor) reportOffLoop(p *PanicError) {
	e.panicked.Add(1)
	e.reportContained(p)
}

// reportContained reports a panic on a goroutine that is not the loop. A panic of the panic
// handler would end the process there, so reportContained recovers and logs it.
func (s *setup) reportContained(p *PanicError) {
	defer func() {
		if v := recover(); v != nil {
			s.log(slog.LevelError, "panic in the panic handler", "panic", v)
		}
	}()
	s.report(p)
}
