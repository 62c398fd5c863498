package core

import (
	"context"
	"log/slog"
	"time"

	"eventide/core/internal/tasks"
)

// currentBody is the user function that runs, as far as the loop has to know to
// settle it when it ends in an unusual way. It is written for each batch and each body:
// the small fields share a word.
type currentBody struct {
	kind     Body
	outcome  Outcome      // 0 unless set by a Submit that was skipped, or recovered a panic itself
	internal bool         // it does not restart a quiet period, whatever its kind
	goesOn   bool         // task: the next one begins in the instant in which this one ends
	handler  bool         // it is the panic handler: its own panic is only logged
	queue    *tasks.Queue // task, tail task
	timer    *Timer
	hook     *hook
	reg      *Registration // readiness, but for what a shutdown tells a channel
}

func asDuration(at int64) time.Duration { return time.Duration(at) }

// runQueue runs the tasks of the batch in hand up to upTo, and reports a panic of one
// before it goes on with the next. It stops early if a listener is to be called: that
// follows the body that completed its future, not the whole batch. But it runs one
// drain at least: futures completed elsewhere, however fast, do not starve tasks. And it
// stops for a shutdown call, which may end timers and bring hooks.
func (e *Executor) runQueue(q *tasks.Queue, kind Body) {
	n := int(e.upTo - q.Begun()) // not from the start: a body may have ended the goroutine
	for stop := e.stateMoved(); n > 0 && !stop; stop = e.stopBatch.Load() {
		ran := q.Ran()
		n -= e.drain(q, kind, n)
		e.bodiesEnded(q.Ran() > ran)
		e.reportPanics() // after the time was taken: the handler is no body
	}
}

// drain runs up to n tasks and returns how many have begun: fewer than n if one
// panicked, or brought a note. One deferred call serves them all.
func (e *Executor) drain(q *tasks.Queue, kind Body, n int) (begun int) {
	defer e.contain()
	e.current = currentBody{kind: kind, queue: q}
	q.Resume()
	for begun < n {
		begun++
		task := q.Next()
		if e.cfg.tracer != nil {
			e.trace(Event{Kind: EventBegin, Body: kind})
		}
		task()
		// Decided before the end is published, which says whether another task is
		// running: between the two it would count as begun, and is not (G19).
		goesOn := begun < n && len(e.panics) == 0 && !e.stopBatch.Load()
		if e.current.outcome == 0 && e.cfg.tracer == nil {
			q.End(tasks.Ran, goesOn)
		} else {
			e.current.goesOn = goesOn
			e.settle(OutcomeNormal)
			e.current = currentBody{kind: kind, queue: q}
		}
		if !goesOn {
			break
		}
	}
	e.current.kind = BodyNone
	return begun
}

// protect runs a body that is not a task.
func (e *Executor) protect(b currentBody, body func()) {
	e.current = b
	e.body.Store(int32(b.kind))
	defer e.contain()
	if e.cfg.tracer != nil {
		e.trace(Event{Kind: EventBegin, Body: b.kind})
	}
	body()
	e.settle(OutcomeNormal)
}

// contain is deferred around bodies. A panic stops here. Goexit cannot be
// stopped: it is told from a normal end by the body not having been settled, and
// goes on to exit after the books are in order. It may look like a panic, if a
// deferred call of the body panicked on the way: so nothing that has to be done is
// left to whoever called the body.
func (e *Executor) contain() {
	if e.current.kind == BodyNone {
		return
	}
	if v := recover(); v != nil {
		e.notePanic(newPanicError(v))
		e.settle(OutcomePanicked)
		return
	}
	e.settle(OutcomeExited)
}

// settle enters the end of the current body in the books.
func (e *Executor) settle(outcome Outcome) {
	b := e.current
	e.current = currentBody{}
	if b.outcome != 0 {
		outcome = b.outcome
	}
	if e.cfg.tracer != nil {
		e.trace(Event{Kind: EventEnd, Body: b.kind, Outcome: outcome})
	}
	switch b.kind {
	case BodyTask, BodyTail:
		one := tasks.Ran
		if outcome == OutcomeSkipped {
			one = tasks.Cancelled
		}
		b.queue.End(one, b.goesOn)
		if outcome == OutcomeExited || outcome == OutcomePanicked {
			e.bodiesEnded(true)
		}
		return
	case BodyTimer:
		e.settleTimer(b.timer, outcome)
	case BodyHook:
		e.settleHook(b.hook)
	case BodyReadiness:
		if b.reg != nil {
			b.reg.settled()
		}
	}
	e.body.Store(int32(BodyNone))
	e.bodiesEnded(b.kind != BodyListener && !b.internal)
}

// bodiesEnded restarts the quiet period if any body ran. The time is read here,
// before listeners are called: they do not restart it (G10).
//
// Before the shutdown call nobody needs it, unless the clock is the user's: who makes
// the call reads that without the lock, and a body may end between the reading and the
// lock. The system's is read once more with it (see beginShutdown).
func (e *Executor) bodiesEnded(any bool) {
	if !any {
		return
	}
	state := State(e.state.Load())
	if state == StateShuttingDown || state < StateShuttingDown && e.cfg.clock != nil {
		e.lastEnd = e.now()
	}
}

// skipCurrent is called by a body that found its future cancelled: it counts as
// cancelled, not as ran (G3, G20), and does not restart a quiet period. Not by what runs
// inside of a body.
func (e *Executor) skipCurrent() { e.current.outcome = OutcomeSkipped }

// panickedCurrent is called by a body that recovered the panic of its function, to put
// it into a future, and has noted it. Not by what runs inside of a body.
func (e *Executor) panickedCurrent() { e.current.outcome = OutcomePanicked }

// runNotes runs the notes of this turn.
func (e *Executor) runNotes() {
	for e.notePos < len(e.noted) && !e.stateMoved() {
		work := e.noted[e.notePos]
		e.noted[e.notePos] = nil
		e.notePos++
		e.protect(currentBody{kind: BodyListener}, work)
		e.reportPanics()
	}
}

// resumeNote puts back the note that runs, if the caller is a note, and reports whether
// it is: what is left of it comes before the notes behind it. Loop only, or false.
func (e *Executor) resumeNote(rest func()) bool {
	if !e.InEventLoop() || e.current.kind != BodyListener || e.current.handler || e.notePos == 0 || e.noted[e.notePos-1] != nil {
		return false
	}
	e.notePos--
	e.noted[e.notePos] = rest
	return true
}

// notePanic counts a recovered panic of a body and keeps it for reportPanics.
// Loop only.
func (e *Executor) notePanic(p *PanicError) {
	if e.current.handler {
		e.log(slog.LevelError, "panic in the panic handler", "panic", p.Value, "stack", string(p.Stack))
		return
	}
	e.mu.Lock()
	e.panicked++
	e.mu.Unlock()
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
		e.protect(currentBody{kind: BodyListener, handler: true}, func() { e.report(p) })
	}
}

func (e *Executor) report(p *PanicError) {
	if e.cfg.panicHandler != nil {
		e.cfg.panicHandler(p)
		return
	}
	e.log(slog.LevelError, "panic in a body", "panic", p.Value, "stack", string(p.Stack))
}

// log writes to the user's logger, whose own panics are nobody's business.
func (e *Executor) log(level slog.Level, msg string, args ...any) {
	defer func() { _ = recover() }()
	logger := e.cfg.logger
	if logger == nil {
		logger = slog.Default()
	}
	logger.With("executor", e.cfg.name).Log(context.Background(), level, msg, args...)
}

// reportOffLoop counts and reports a panic of a listener that ran on another
// goroutine than the loop, because the loop has ended.
func (e *Executor) reportOffLoop(p *PanicError) {
	e.mu.Lock()
	e.panicked++
	e.mu.Unlock()
	defer func() {
		if v := recover(); v != nil {
			e.log(slog.LevelError, "panic in the panic handler", "panic", v)
		}
	}()
	e.report(p)
}
