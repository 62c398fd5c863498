package core

import (
	"runtime"

	"eventide/core/internal/tasks"
)

// turnTasks bounds the tasks of one turn. Without the bound, a task that resubmits itself
// would delay timers, tail tasks, hooks and the close for ever (G13). Netty reads its clock
// after as many tasks (R51).
const turnTasks = 64

// turnTimers bounds the timers of one turn, for the same reason.
const turnTimers = 64

// runLoop runs the loop on one goroutine. It returns when the executor has terminated. If a
// body calls runtime.Goexit, this goroutine ends earlier, and exit moves the loop to another.
func (e *Executor) runLoop() {
	outer := e.enter()
	defer e.exit(outer)
	e.alone = runtime.GOMAXPROCS(0) == 1
	for e.step != stepBegin || !e.pollOrSleep() {
		e.runTurn()
	}
	err := e.broken
	e.finished = true
	e.leave(outer)
	e.finish(err)
}

// exit handles an end of runLoop before the executor has terminated. There are two causes.
//
// A body has called runtime.Goexit. The deferred calls of the body and recoverBody have run
// already, so the counters are correct, and the fields of e store the rest of the turn. exit
// moves the loop to a new goroutine. If the spawner refuses to start one, the loop continues
// inside this deferred call, on the goroutine that is ending (G14).
//
// Or a clock, a poller or a source of jitter has panicked outside a body, or Wait has called
// runtime.Goexit, which it may do each time. The executor then fails, and continues without
// the poller until its accepted tasks have run (G15).
func (e *Executor) exit(outer runner) {
	if e.finished {
		return
	}
	v := recover()
	e.leave(outer)
	if v != nil || e.sleeping {
		e.endSleep()
		err := ErrGoexit
		if v != nil {
			err = newPanicError(v)
		}
		// The panic may have cut finishTimer short. No body runs now.
		e.body.Store(int64(BodyNone))
		e.step = stepBegin // do not repeat the step that panicked
		defer e.runLoop()  // deferred, because fail calls the logger, which may not return
		e.fail(err)
		return
	}
	here := true // a spawner may call Goexit too: then handOver does not return
	defer func() {
		if here {
			e.runLoop()
		}
	}()
	here = e.handOver() != nil
}

// turnStep is a step of a turn. Executor.step is the current step, and other fields store
// its remaining work: after a Goexit the next goroutine continues the same step with the
// rest of its bound. If each Goexit ended the turn, bodies that call runtime.Goexit could
// starve the later steps (G13, G14).
type turnStep uint8

const (
	stepBegin turnStep = iota
	stepNotices
	stepHooks
	stepInternal
	stepReady
	stepTasks
	stepLateHooks
	stepTimers
	stepTails
)

// runTurn runs what pollOrSleep found: notices to channels, hooks, internal tasks, readiness, tasks, timers,
// tail tasks. In a shutdown it runs hooks at each step where hooks may have become due,
// because a task accepted after the shutdown call must not run before the hooks (G6). The
// turn ends early when the state has changed: pollOrSleep may then find work that must
// run first.
func (e *Executor) runTurn() {
	if e.step != stepBegin { // a body has ended the goroutine of the loop, which goes on here
		e.settle()
		if e.stateMoved() {
			e.step = stepBegin
			return
		}
	}
	switch e.step {
	case stepBegin:
		e.beginTurn()
		e.step = stepNotices
		fallthrough
	case stepNotices:
		e.reportPanics() // of a body that panicked during its Goexit, or at whose end the clock panicked
		e.notifyChannels()
		if e.stateMoved() {
			break // a hook here would run before the listeners of promises that the last channel completed (G9)
		}
		e.markHooks()
		e.step = stepHooks
		fallthrough
	case stepHooks:
		e.runHooks()
		e.step = stepInternal
		fallthrough
	case stepInternal:
		e.settle()
		if e.stateMoved() {
			break
		}
		e.pollWhenBusy()
		e.step = stepReady
		fallthrough
	case stepReady:
		e.runReady()
		if e.stateMoved() {
			break
		}
		if e.probeAt <= e.tasks.Begun() {
			e.takeSamples()
		}
		e.upTo = e.tasks.Begun() + int64(e.share(&e.tasks, turnTasks, &e.shutdown.taskMark))
		e.step = stepTasks
		fallthrough
	case stepTasks:
		e.runQueue(&e.tasks, BodyTask)
		e.step = stepLateHooks
		fallthrough
	case stepLateHooks:
		if e.stateMoved() {
			break // a hook here would run before the listeners that are left, and the next hook before its own (G9)
		}
		e.runHooks()
		e.drainLate()
		e.timersLeft = turnTimers
		e.step = stepTimers
		fallthrough
	case stepTimers:
		e.runTimers()
		e.upTo = e.tails.Begun() + int64(e.share(&e.tails, tasks.SegmentSize, &e.shutdown.tailMark))
		e.step = stepTails
		fallthrough
	case stepTails:
		e.runQueue(&e.tails, BodyTail)
	}
	e.step = stepBegin
}

// beginTurn acts on the state that pollOrSleep has seen, before any body of the turn.
func (e *Executor) beginTurn() {
	if e.seen >= StateShuttingDown {
		e.purgeTimers()
	}
	if e.seen == StateShutdown && e.ctx.Err() == nil {
		e.endContext(e.shutdown.cause) // the goroutine that closed admission has not ended it yet
	}
}

// stateMoved reports whether the state has changed since pollOrSleep saw it. Loop only.
func (e *Executor) stateMoved() bool { return State(e.state.Load()) != e.seen }

// drainLate drains the inboxes of timers and tail tasks, because the tasks of this turn may
// have added some: a new timer must run before a timer of the heap with a later deadline
// (G7). Other posts wait for pollOrSleep. If the state has changed, this turn runs no timer
// and no tail task, because hooks may go first.
func (e *Executor) drainLate() {
	if !e.news.Load() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.drainTimerInbox()
	e.drainTailInbox()
}

// share returns how many tasks of q this turn may run. The limits are:
//
//   - bound, and the number of tasks that may run before the next poll (G13);
//   - the next position in the queue at which a meter takes a sample of a wait;
//   - in a shutdown, the tasks of q up to position mark, which were accepted before the shutdown
//     call: hooks run between these and later tasks. Hooks also wait for the tail tasks accepted
//     before the call: until these tail tasks have begun, share returns 0 for later tasks (G6).
//
// mark may be read only after the loop has seen the shutdown.
func (e *Executor) share(q *tasks.Queue, bound int, mark *int64) int {
	n := min(bound, q.Left(), e.untilPoll())
	if q == &e.tasks {
		n = int(min(int64(n), e.probeAt-q.Begun()))
	}
	if e.seen < StateShuttingDown {
		return n
	}
	switch begun := q.Begun(); {
	case begun < *mark:
		n = int(min(int64(n), *mark-begun))
	case q == &e.tasks && e.tails.Begun() < e.shutdown.tailMark:
		n = 0
	}
	return n
}

// pollOrSleep is the boundary between two turns. In one critical section it drains the
// inbox. If the inbox is empty, it closes admission, terminates, or announces that the
// loop sleeps. A goroutine that posts work afterwards finds the announcement and wakes the
// loop: no post can come between the test of the inbox and the announcement (G12). It
// returns true when the executor has terminated.
//
// While the current batch has tasks left, and announceNews was not called, it returns without
// locking mu: the loop locks mu once per segment of the queue instead of once per turn.
func (e *Executor) pollOrSleep() (over bool) {
	if e.tasks.Left() > 0 && !e.news.Load() {
		return false // an event loop polls in a later step of the turn
	}
	now, until := e.nextDeadline()
	if e.gathers > 0 {
		e.gather()
	}
	e.mu.Lock()
	if e.drainInbox() || e.hasWork() {
		e.mu.Unlock()
		return false
	}
	switch ended := e.registrationsEnded(); {
	case e.seen == StateShuttingDown && e.heap.len() == 0 && until <= now && ended:
		e.closeAdmission(ErrShutdown, now)
		e.mu.Unlock()
		e.endContext(ErrShutdown)
		return false
	case e.seen == StateShutdown && e.heap.len() == 0 && ended:
		e.moveTo(StateTerminated)
		e.mu.Unlock()
		return true
	case e.seen == StateShuttingDown && e.heap.len() == 0 && !ended:
		until = noDeadline // even if the quiet period has ended: the last channel wakes the loop
	}
	e.sleepAndUnlock(until)
	return false
}

// nextDeadline sets until to the time at which the loop must wake if no work arrives: the
// deadline of the first timer or, without timers, the end of the quiet period. It reads the
// clock and sets now only for a quiet period. After a failure it does not read the clock,
// which may be the cause of the failure. Admission is then closed, so no quiet period is
// left (G15).
func (e *Executor) nextDeadline() (now, until int64) {
	if e.heap.len() > 0 {
		return 0, e.heap.first()
	}
	if e.seen != StateShuttingDown || e.broken != nil {
		return 0, noDeadline
	}
	return e.now(), addTime(max(e.shutdown.calledAt, e.lastEnd), e.shutdown.quiet)
}

// announceNews makes the loop drain its inbox even if its current batch has tasks left. Every
// call that posts something other than a task calls it. Requires mu.
func (e *Executor) announceNews() {
	if !e.news.Load() {
		e.news.Store(true)
	}
}

// drainInbox moves posts to the fields of the turn. It reports whether a timer was added or
// changed, the state or the horizon has moved, or notices were made; hasWork reports tasks,
// tail tasks and internal tasks. Requires mu.
func (e *Executor) drainInbox() (news bool) {
	e.news.Store(false)
	if e.tasks.Left() == 0 {
		e.takeBatch()
	}
	e.drainTailInbox()
	news = e.drainTimerInbox()
	if state := State(e.state.Load()); state != e.seen {
		e.seen, news = state, true
	}
	e.drainInternalInbox()
	if len(e.meters) > 0 {
		e.updateProbeAt()
	}
	return e.makeNotices() || news || e.timers.horizon != e.purged
}

// drainInternalInbox takes the waiting internal tasks, unless tasks of the last batch are left:
// stopBatch then still says that some wait. Requires mu.
func (e *Executor) drainInternalInbox() {
	if e.hasInternal() {
		return
	}
	e.stopBatch.Store(e.stateMoved())
	spent := e.internalBatch[:0]
	if cap(spent) > keptCapacity {
		spent = nil // give back the memory of a burst
	}
	e.internalBatch, e.internalPos, e.internalTasks = e.internalTasks, 0, spent
}

// drainTailInbox takes the waiting tail tasks, unless the last batch has not run
// completely. If tail tasks still wait, it sets news, so that the next pollOrSleep locks
// mu and takes them: share may hold back the current batch of tasks until these tail tasks
// have begun. Requires mu.
func (e *Executor) drainTailInbox() {
	if e.tails.Left() == 0 && e.tails.Size() > 0 {
		e.queued -= e.tails.Take()
	}
	if e.tails.Size() > 0 {
		e.news.Store(true)
	}
}

// hasWork reports whether the next turn has anything to run, timers apart: if a timer is due,
// Wait returns at once. Requires mu.
func (e *Executor) hasWork() bool {
	return e.tasks.Left() > 0 || e.tails.Left() > 0 || e.hasInternal() || len(e.panics) > 0 || e.hooksDue() ||
		e.io != nil && (!e.io.spent() || len(e.io.notices) > 0)
}
