package core

import (
	"eventide/core/internal/poll"
	"eventide/core/internal/tasks"
)

// turnTasks bounds the tasks of one turn: a task that always resubmits itself
// delays timers, tail tasks, hooks and the close by no more than this (Netty's
// 64-task clock check, R51; G13).
const turnTasks = 64

// turnTimers bounds the timers of one turn in the same way.
const turnTimers = 64

// runLoop is the life of the loop on one goroutine. It ends when the executor
// has terminated, or when a body ends the goroutine (see exit).
func (e *Executor) runLoop() {
	outer := e.enter()
	defer e.exit(outer)
	for e.step != stepBegin || !e.look() {
		e.turn()
	}
	err := e.broken
	e.finished = true
	e.leave(outer)
	e.finish(err)
}

// exit runs when runLoop ends in another way than by terminating.
//
// runtime.Goexit in a body: the deferred calls of the body have run, and so has
// contain, so the books are in order and what the turn still has to do lies in
// fields. The loop moves to a new goroutine; if the spawner refuses, it goes on
// inside this deferred call, on the goroutine that is ending (G14).
//
// A panic that is not a body's (a clock, a poller, a tracer): the executor fails,
// and goes on without the poller until what it accepted has run (G15).
func (e *Executor) exit(outer *Executor) {
	if e.finished {
		return
	}
	v := recover()
	e.leave(outer)
	if v != nil {
		e.step = stepBegin // not into the same panic again
		defer e.runLoop()  // whatever the logger does: it is told of the failure
		e.fail(newPanicError(v))
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

// turnStep is where a turn is. A step leaves what it could not finish in fields: a turn
// that is cut short by Goexit goes on in its step, with what is left of its bound. Were
// each exit the end of a turn, bodies that exit could starve what comes after them (G13,
// G14).
type turnStep uint8

const (
	stepBegin turnStep = iota
	stepHooks
	stepNotes
	stepReady
	stepTasks
	stepLateHooks
	stepTimers
	stepTails
)

// turn runs what look found: hooks, listeners, readiness, tasks, timers, tail tasks. In a
// shutdown hooks have their chance wherever they may have become due: what was
// accepted later does not go before them (G6). A state that has moved ends the turn: what
// look then sees may go before the rest.
func (e *Executor) turn() {
	if e.step != stepBegin && e.stateMoved() { // by the body that ended the goroutine
		e.step = stepBegin
		return
	}
	switch e.step {
	case stepBegin:
		e.beginTurn()
		e.step = stepHooks
		fallthrough
	case stepHooks:
		e.runHooks()
		e.step = stepNotes
		fallthrough
	case stepNotes:
		e.runNotes()
		if e.stateMoved() {
			break
		}
		e.lookWhenBusy()
		e.step = stepReady
		fallthrough
	case stepReady:
		e.runReady()
		if e.stateMoved() {
			break
		}
		e.upTo = e.tasks.Begun() + int64(e.share(&e.tasks, turnTasks, &e.shutdown.taskMark))
		e.step = stepTasks
		fallthrough
	case stepTasks:
		e.runQueue(&e.tasks, BodyTask)
		e.step = stepLateHooks
		fallthrough
	case stepLateHooks:
		e.runHooks()
		e.intakeLate()
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

// beginTurn does what a state that look has seen asks for, before any other body.
func (e *Executor) beginTurn() {
	if e.seen >= StateShuttingDown {
		e.purgeTimers()
	}
	if e.seen == StateShutdown && e.ctx.Err() == nil {
		e.endContext(e.shutdown.cause) // the one who closed has not come to it yet
	}
	e.reportPanics() // of a body that panicked while it exited
	e.tellChannels()
	if e.seen >= StateShuttingDown {
		e.markHooks()
	}
}

// stateMoved reports whether the state is not the one that look saw. Loop only.
func (e *Executor) stateMoved() bool { return State(e.state.Load()) != e.seen }

// intakeLate takes what the tasks of this turn have brought and this turn is to
// run: timers, or a later one that is in the heap would go before an earlier one
// that is not; and tail tasks. The rest waits for look. If the state has moved, none of
// it runs in this turn: hooks may come first.
func (e *Executor) intakeLate() {
	if !e.news.Load() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.intakeTimers()
	e.intakeTails()
}

// share is how many tasks of q this turn may run: no more than bound, nor than may run
// before the next look at the poller (G13), and in a shutdown not past the mark that the
// call set, and no later task while a tail task before its mark holds back the hooks (G6).
// The marks may be read only once the shutdown was seen.
func (e *Executor) share(q *tasks.Queue, bound int, mark *int64) int {
	n := min(bound, q.Left(), e.untilLook())
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

// look is the boundary between two turns, and the only place where the loop
// learns anything from outside. In one critical section it takes what is new; or
// sees that nothing is, and then closes admission, or terminates, or announces
// that it sleeps. Whoever brings news afterwards finds the announcement and wakes
// the loop: nothing can come between the look and the sleep (G12). It returns
// true when the executor has ended.
//
// With tasks left of the batch in hand it does not take the lock, unless somebody
// has said that there is more than tasks: that is one lock per segment instead of
// one per turn.
func (e *Executor) look() (over bool) {
	if e.tasks.Left() > 0 && !e.news.Load() {
		return false // an event loop looks at its poller in turn
	}
	now, until := e.nextDeadline()
	e.mu.Lock()
	e.asleep = false
	if e.intake() || e.busy() {
		e.mu.Unlock()
		return false
	}
	switch ended := e.channelsEnded(); {
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
		until = noDeadline // whatever the quiet period says: the last channel wakes the loop
	}
	e.sleepAndUnlock(until)
	return false
}

// sleepAndUnlock announces the sleep, sleeps, and takes in what came meanwhile.
// Requires mu.
func (e *Executor) sleepAndUnlock(until int64) {
	e.asleep = true
	e.parks++
	e.timers.sleepUntil = until
	e.tracePark(until)
	e.mu.Unlock()
	worked := e.sleep(until)
	e.noteLook()
	found := e.found()
	e.mu.Lock()
	woken := !e.asleep
	e.asleep = false // before any body runs: the loop does not wake itself
	news := e.intake() || e.busy()
	if e.io == nil || e.broken != nil {
		e.mu.Unlock()
		return
	}
	e.io.collect(found)
	e.mu.Unlock()
	if worked { // whoever called meanwhile, an error is no proof that the poller works
		e.judgeReturn(woken || news || !e.io.spent(), until)
	}
}

// noteLook begins a new share of the tasks after a sleep, unless the poller returned
// without a look at what it watches: then the tasks after the sleep are of the same share
// as those before it (G13). Loop only.
func (e *Executor) noteLook() {
	if e.io == nil || e.broken != nil {
		return
	}
	if p, ok := e.io.poller.(poll.Looker); !ok || p.Looked() {
		e.looked()
	}
}

// nextDeadline returns how long the loop may sleep if nothing is new: until the
// first timer, or else until the quiet period ends. It reads the clock only for
// the latter, and not after a failure: that has closed, whether look has seen it or not,
// and the clock may be what it came from (G15).
func (e *Executor) nextDeadline() (now, until int64) {
	if e.heap.len() > 0 {
		return 0, e.heap.first()
	}
	if e.seen != StateShuttingDown || e.broken != nil {
		return 0, noDeadline
	}
	return e.now(), addTime(max(e.shutdown.calledAt, e.lastEnd), e.shutdown.quiet)
}

// hasNews tells the loop to look though it has tasks in hand: whatever concerns it
// and is not a task calls this. Requires mu.
func (e *Executor) hasNews() {
	if !e.news.Load() {
		e.news.Store(true)
	}
}

// intake moves what is new to where the loop works on it, and reports whether
// anything was. Requires mu.
func (e *Executor) intake() (news bool) {
	e.news.Store(false)
	if e.tasks.Left() == 0 && e.tasks.Size() > 0 {
		e.queued -= e.tasks.Take()
	}
	e.intakeTails()
	news = e.intakeTimers()
	if state := State(e.state.Load()); state != e.seen {
		e.seen, news = state, true
	}
	e.intakeNotes()
	return e.intakeTelling() || news || e.timers.horizon != e.purged
}

// intakeNotes takes the notes that wait, if none are in hand. Requires mu.
func (e *Executor) intakeNotes() {
	e.stopBatch.Store(e.stateMoved())
	if e.notePos < len(e.noted) || len(e.notes) == 0 {
		return
	}
	spent := e.noted[:0]
	if cap(spent) > keptCapacity {
		spent = nil // give back the memory of a burst
	}
	e.noted, e.notePos, e.notes = e.notes, 0, spent
}

// intakeTails takes the tail tasks that wait, if none are in hand. The tasks in hand may
// wait for the rest of them (see share), so that look must not pass by. Requires mu.
func (e *Executor) intakeTails() {
	if e.tails.Left() == 0 && e.tails.Size() > 0 {
		e.queued -= e.tails.Take()
	}
	if e.tails.Size() > 0 {
		e.news.Store(true)
	}
}

// busy reports whether the loop has something in hand. Requires mu.
func (e *Executor) busy() bool {
	return e.tasks.Left() > 0 || e.tails.Left() > 0 || e.notePos < len(e.noted) || len(e.panics) > 0 || e.hooksDue() ||
		e.io != nil && (!e.io.spent() || len(e.io.telling) > 0)
}

// sleep waits on the poller, and reports whether that worked. A poller that fails ends
// the executor (G15).
func (e *Executor) sleep(until int64) (worked bool) {
	if e.broken != nil {
		e.sleepWithoutPoller()
		return false
	}
	err := e.poller.Wait(e.deadlineAt(until))
	if err != nil {
		e.pollerFailed(err)
	}
	if e.cfg.tracer != nil {
		e.trace(Event{Kind: EventUnpark})
	}
	return err == nil
}

// tracePark requires mu.
func (e *Executor) tracePark(until int64) {
	if e.cfg.tracer == nil {
		return
	}
	ev := Event{
		Kind: EventPark, To: e.seen, Until: -1, NextTimer: -1,
		Queued: e.tasks.Counts().Pending + e.tails.Counts().Pending + len(e.notes),
	}
	if until != noDeadline {
		ev.Until = asDuration(until)
	}
	if next := e.earliestTimer(); next != noDeadline {
		ev.NextTimer = asDuration(next)
	}
	e.trace(ev)
}
