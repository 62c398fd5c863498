package core

import (
	"log/slog"

	"eventide/core/internal/tasks"

	"github.com/petermattis/goid"
)

// worker is one of the goroutines of a Pool. It outlives a goroutine that a body ends by
// runtime.Goexit: the next goroutine continues from the fields.
type worker struct {
	pool   *Pool
	poller *chanPoller // in which it sleeps

	// Guarded by Pool.mu.
	goroutine int64 // 0: none
	arrived   bool  // it has entered next, and is not counted in starting any more
	parked    bool
	woken     bool // counted in sleepers.woken

	// Written only on the worker's goroutine and with mu held, when it takes or counts a body. So
	// that goroutine reads it without mu.
	job job

	// The worker's goroutine only.
	body     func()  // of the job, until it begins
	calling  func()  // the body that has begun; nil: none has, or it has ended
	outcome  Outcome // of the body; 0: the body has not ended, and skipCurrent and panickedCurrent were not called
	panics   []*PanicError
	last     Body // kind of the body that it ran last
	locals   map[any]any
	finished bool
}

// job is the body that a worker runs. The zero job is none.
type job struct {
	kind    Body
	handler bool // it is the panic handler: its own panic is only logged
	began   int64
	number  int64 // of a task: its place in the queue
	timer   *Timer
	hook    *hook
}

func (w *worker) executor() EventExecutor   { return w.pool }
func (w *worker) localValues() *map[any]any { return &w.locals }
func (w *worker) isCurrent(f func()) bool   { return w.calling != nil && sameFunc(w.calling, f) }
func (w *worker) skipCurrent()              { w.outcome = OutcomeSkipped }
func (w *worker) panickedCurrent()          { w.outcome = OutcomePanicked }

// now returns the time. After the clock has failed it returns the argument instead.
func (w *worker) now(before int64) int64 {
	if w.pool.failed.Load() {
		return before
	}
	return w.pool.now()
}

// run runs the worker on one goroutine. It returns when the pool has too many workers or nothing
// left to run; a body may end the goroutine before (see exit).
func (w *worker) run() {
	outer := w.enter()
	defer w.exit(outer)
	for w.next() {
		w.call()
	}
	w.finished = true
	w.leave(outer)
	w.end()
}

// enter makes the calling goroutine the worker's, and returns the runner that it had before.
func (w *worker) enter() (outer runner) {
	id := goid.Get()
	outer = currentRunner()
	loops.Store(id, w)
	w.pool.mu.Lock()
	w.goroutine = id
	w.pool.mu.Unlock()
	w.pool.owners.Store(id, w)
	return outer
}

// leave undoes enter. From here on the goroutine is like any other.
func (w *worker) leave(outer runner) {
	w.pool.owners.Delete(goid.Get())
	restore(outer)
}

// exit handles an end of run before the worker has left the pool. After runtime.Goexit in a body
// the worker moves to a new goroutine, or, if the spawner refuses, continues inside this deferred
// call. After a panic outside a body, which is a panic of the user's clock, the pool fails and the
// worker continues without the clock (G14, G15). See Executor.exit.
func (w *worker) exit(outer runner) {
	if w.finished {
		return
	}
	v := recover()
	w.leave(outer)
	if v != nil {
		defer w.run() // deferred, because fail calls the logger, which may not return
		w.pool.fail(newPanicError(v))
		return
	}
	here := true // a spawner may call Goexit too: then move does not return
	defer func() {
		if here {
			w.run()
		}
	}()
	here = w.move() != nil
}

// next counts the body that has ended, and takes the next one; it sleeps until there is one. It
// returns false if the worker must leave. Only next looks for work and sleeps, and it does both in
// one critical section.
func (w *worker) next() bool {
	p := w.pool
	if w.body != nil { // the spawner, called by goOn, ended the goroutine before the body began
		return true
	}
	now := w.now(0)
	p.lock()
	p.arrive(w)
	w.arrive()
	w.settle(now)
	for {
		if len(w.panics) == 0 && (p.over || p.live > p.size) {
			w.retire()
			return false
		}
		switch {
		case p.followState():
		case w.take(now):
			r := p.rouse(now)
			p.mu.Unlock()
			p.goOn(r)
			return true
		case p.advance(now):
		default:
			now = w.sleep(now)
		}
	}
}

// arrive counts the worker as started. Requires mu.
func (w *worker) arrive() {
	if !w.arrived {
		w.arrived = true
		w.pool.starting--
	}
}

// take makes the next body the worker's job, if there is one. The panic handler goes first, and
// then hooks: a hook is ready only if the tasks accepted before the shutdown call have ended. Of
// the rest, a worker whose last body was not a task takes a task if there is one, so that neither
// kind can starve the other (G13). Requires mu.
func (w *worker) take(now int64) bool {
	p := w.pool
	taskFirst := w.last != BodyTask && w.last != BodyNone && p.queue.Size() > 0
	switch {
	case len(w.panics) > 0:
		panicked := w.panics[0]
		w.panics = w.panics[1:]
		w.job = job{kind: BodyListener, handler: true}
		w.body = func() { p.report(panicked) }
	case p.hookReady():
		h := p.nextHook()
		w.job, w.body = job{kind: BodyHook, hook: h}, h.run
		h.run = nil
	case !taskFirst && p.internal.len() > 0:
		w.job, w.body = job{kind: BodyListener}, p.internal.pop()
	case !taskFirst && p.timerDue(now):
		t := p.beginTimer()
		if t == nil {
			return w.take(now)
		}
		w.job, w.body = job{kind: BodyTimer, timer: t}, t.fn
	case p.queue.Size() > 0:
		task, number := p.queue.Pop()
		w.job, w.body = job{kind: BodyTask, number: number}, task
		p.gaveWay = true
	default:
		return false
	}
	w.job.began = now
	p.busy++
	return true
}

// settle counts the end of the worker's job, if it has one. Requires mu.
func (w *worker) settle(now int64) {
	p, j := w.pool, w.job
	if j.kind == BodyNone {
		return
	}
	outcome := w.outcome
	w.job, w.outcome, w.last = job{}, 0, j.kind
	p.busy--
	switch j.kind {
	case BodyTask:
		how := tasks.Ran
		if outcome == OutcomeSkipped {
			how = tasks.Cancelled
		}
		p.queue.End(how)
		if j.number <= p.shutdown.taskMark {
			p.early--
		}
	case BodyTimer:
		p.endRun(j.timer, outcome, w.panics, now)
	case BodyHook:
		p.hooks.ran++
		p.hookRuns = false
	}
	if j.kind != BodyListener && outcome != OutcomeSkipped {
		p.lastEnd = max(p.lastEnd, now)
	}
}

// call runs the worker's job.
func (w *worker) call() {
	body := w.body
	w.body, w.calling = nil, body
	if w.pool.cfg.tracer != nil {
		w.pool.trace(Event{Kind: EventBegin, Body: w.job.kind})
	}
	defer w.recoverBody()
	body()
	w.bodyEnded(OutcomeNormal)
}

// recoverBody recovers a panic. It cannot stop a Goexit, and only records it: see
// Executor.recoverBody.
func (w *worker) recoverBody() {
	if w.calling == nil {
		return
	}
	if v := recover(); v != nil {
		w.recordPanic(newPanicError(v))
		w.bodyEnded(OutcomePanicked)
		return
	}
	w.bodyEnded(OutcomeExited)
}

// bodyEnded records how the body ended, unless skipCurrent or panickedCurrent has.
func (w *worker) bodyEnded(outcome Outcome) {
	w.calling = nil
	if w.outcome == 0 {
		w.outcome = outcome
	}
	if w.pool.cfg.tracer != nil {
		w.pool.trace(Event{Kind: EventEnd, Body: w.job.kind, Outcome: w.outcome})
	}
}

// recordPanic counts a recovered panic of the worker's body, and keeps it for the panic handler.
func (w *worker) recordPanic(panicked *PanicError) {
	p := w.pool
	if w.job.handler {
		p.log(slog.LevelError, "panic in the panic handler", "panic", panicked.Value, "stack", string(panicked.Stack))
		return
	}
	p.mu.Lock()
	p.panicked++
	p.mu.Unlock()
	w.panics = append(w.panics, panicked)
}

// reportOffLoop counts and reports a panic of a listener that ran on no worker.
func (p *Pool) reportOffLoop(panicked *PanicError) {
	p.mu.Lock()
	p.panicked++
	p.mu.Unlock()
	p.reportContained(panicked)
}
