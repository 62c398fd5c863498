package core

import (
	"log/slog"
	"time"

	"eventide/core/internal/tasks"

	"github.com/petermattis/goid"
)

// worker runs bodies of a Pool on one goroutine at a time. If a body ends that goroutine by
// runtime.Goexit, the worker continues on a new one: its state is in these fields.
type worker struct {
	pool   *Pool
	poller *chanPoller // the worker sleeps in its Wait

	// Guarded by Pool.mu.
	goroutine int64 // id of the current goroutine; 0 before the first
	started   bool  // has called next, and no longer counts in poolShared.starting
	parked    bool
	woken     bool // counted in sleepers.woken

	// Written only on the worker's goroutine with mu held. The worker's goroutine may read it
	// without mu; any other goroutine must hold mu.
	job job

	// Used on the worker's goroutine only.
	body     func()        // of the job, until it begins
	calling  func()        // the running body, from the trace of its begin; or nil
	outcome  Outcome       // of the body; 0 until it ends or calls skipCurrent or panickedCurrent
	panics   []*PanicError // not reported to the panic handler yet
	last     Body          // kind of the last body, calls of the panic handler apart
	locals   map[any]any
	sleeping bool // has traced EventPark, and not yet EventUnpark
	finished bool
}

// job describes the body that a worker runs. The zero job means that it runs none.
type job struct {
	kind    Body
	handler bool // it is the panic handler: a panic in it is only logged
	began   int64
	number  int64 // of a task: its number in the order of acceptance
	run     int64 // the number of this run among all runs of bodies of the pool
	timer   *Timer
	hook    *hook
}

func (w *worker) executor() EventExecutor   { return w.pool }
func (w *worker) localValues() *map[any]any { return &w.locals }
func (w *worker) isCurrent(f func()) bool   { return sameFunc(w.calling, f) }
func (w *worker) skipCurrent()              { w.outcome = OutcomeSkipped }
func (w *worker) panickedCurrent()          { w.outcome = OutcomePanicked }

// now returns the time, or before if the clock has failed.
func (w *worker) now(before int64) int64 {
	if w.pool.failed.Load() {
		return before
	}
	return w.pool.now()
}

// run runs the worker on the calling goroutine. It returns when the pool has surplus workers or
// no work left. If a body ends the goroutine earlier, exit handles that.
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

// enter makes w the runner of the calling goroutine. It returns the previous runner, or nil; the
// caller passes it to leave.
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

// leave undoes enter: the goroutine no longer belongs to the pool.
func (w *worker) leave(outer runner) {
	w.pool.owners.Delete(goid.Get())
	restore(outer)
}

// exit handles a run that ended before the worker left the pool. After runtime.Goexit in a body
// the worker moves to a new goroutine; if the spawner refuses, it continues inside this deferred
// call. After a panic outside a body, which comes from the user's clock or source of jitter, the
// pool fails, and the worker continues without both (G14, G15). See Executor.exit.
func (w *worker) exit(outer runner) {
	if w.finished {
		return
	}
	v := recover()
	w.leave(outer)
	asleep := w.endSleep()
	if v != nil || asleep {
		err := ErrGoexit
		if v != nil {
			err = newPanicError(v)
		}
		defer w.run() // deferred: the logger, called by fail, may call runtime.Goexit
		w.pool.fail(err)
		return
	}
	here := true // if the spawner calls runtime.Goexit, move does not return, and here stays true
	defer func() {
		if here {
			w.run()
		}
	}()
	here = w.move() != nil
}

// endSleep ends a sleep that a panic or Goexit of a clock has cut short, and reports whether there
// was one: without it the worker would wake itself when it fails the pool (G12). Worker only.
func (w *worker) endSleep() bool {
	if w.sleeping {
		w.traceUnpark()
	}
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	if !w.parked {
		return false
	}
	w.pool.arrive(w)
	w.pool.meterWoke(w)
	return true
}

// next counts the end of the last body, and takes the next one; it sleeps until there is one. It
// returns false if the worker must leave. It checks for work and parks in one critical section;
// no other code parks. The worker is awake when next is called: sleep and endSleep end its sleeps.
func (w *worker) next() bool {
	p := w.pool
	if w.body != nil { // the spawner, called by wakeOrStart, or a logger ended the goroutine before the body began
		return true
	}
	now := w.now(w.job.began)
	jitter := w.jitter()
	p.lock()
	w.countStart()
	w.countEnd(now, jitter)
	for {
		if len(w.panics) == 0 && (p.over || p.live-p.starting > p.size) { // the start of another worker may fail
			w.retire()
			return false
		}
		switch {
		case p.followState():
		case w.take(now):
			r := p.claimForWork(now)
			p.mu.Unlock()
			p.wakeOrStart(r)
			return true
		case p.advance(now):
		default:
			now = w.sleep(now)
		}
	}
}

// countStart counts the worker as started, once. Requires mu.
func (w *worker) countStart() {
	if !w.started {
		w.started = true
		w.pool.starting--
	}
}

// take makes the next body the worker's job; it returns false if there is none. The panic handler
// comes first, then a ready hook: a hook is ready only if the tasks accepted before the shutdown
// call have ended. After that, a worker whose last body was a listener, timer or hook prefers a
// task, and any other worker a listener or a due timer, so that neither kind starves the other
// (G13). Requires mu.
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
		w.job, w.body = job{kind: BodyTimer, timer: t}, t.fn
	case p.queue.Size() > 0:
		task, number := p.queue.Pop()
		w.job, w.body = job{kind: BodyTask, number: number}, task
		p.gaveWay = true
	default:
		return false
	}
	w.job.began = now
	p.meterBegin(&w.job, now)
	p.bodies++
	w.job.run = p.bodies
	p.busy++
	return true
}

// jitter draws the jitter of the next run if the worker's job is a periodic timer. Otherwise it
// returns 0. It also returns 0 after the pool has failed, because the source may have panicked.
func (w *worker) jitter() (delay time.Duration) {
	if t := w.job.timer; t != nil && t.period != 0 && !w.pool.failed.Load() {
		delay = w.pool.drawJitter(t.period)
	}
	return delay
}

// countEnd counts the end of the worker's job, if it has one. jitter is that of the next run of
// a periodic timer. Requires mu.
func (w *worker) countEnd(now int64, jitter time.Duration) {
	p, j := w.pool, w.job
	if j.kind == BodyNone {
		return
	}
	outcome := w.outcome
	w.job, w.outcome = job{}, 0
	if !j.handler { // or tasks that panic would keep timers and listeners waiting (G13)
		w.last = j.kind
	}
	p.meterBusy()
	p.busy--
	switch j.kind {
	case BodyTask:
		how := tasks.Ran
		if outcome == OutcomeSkipped {
			how = tasks.Cancelled
		}
		p.queue.End(how)
		if j.number <= p.shutdown.taskMark {
			p.earlyTasks--
		}
	case BodyTimer:
		p.endRun(j.timer, outcome, w.panics, now, jitter)
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
	if w.calling == nil { // once: if the tracer panics, the logger may end this goroutine, and the next one runs the body (G3)
		w.calling = w.body
		if w.pool.cfg.tracer != nil {
			w.pool.trace(Event{Kind: EventBegin, Body: w.job.kind})
		}
	}
	w.body = nil
	defer w.recoverBody()
	w.calling()
	w.bodyEnded(OutcomeNormal)
}

// recoverBody recovers a panic. It cannot recover a Goexit, and only records it: see
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

// bodyEnded records the outcome, unless skipCurrent or panickedCurrent has set one.
func (w *worker) bodyEnded(outcome Outcome) {
	w.calling = nil
	if w.outcome == 0 {
		w.outcome = outcome
	}
	if w.pool.cfg.tracer != nil {
		w.pool.trace(Event{Kind: EventEnd, Body: w.job.kind, Outcome: w.outcome})
	}
}

// recordPanic counts a recovered panic of the worker's body, and queues it for the panic handler.
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

// reportOffLoop counts and reports a panic of a listener that did not run on a worker.
func (p *Pool) reportOffLoop(panicked *PanicError) {
	p.mu.Lock()
	p.panicked++
	p.mu.Unlock()
	p.reportContained(panicked)
}
