package core

import (
	"runtime"
	"time"

	"github.com/petermattis/goid"
)

// Execute runs task on the loop. A nil error means that task runs exactly once
// before Done is closed; an error, that it never runs (G3). It starts the loop
// if that has not been done, and otherwise takes one short lock and never waits
// for the loop, except by a WithRejectedHandler that says so.
//
// A producer that has run ahead of the loop by some hundred tasks offers it the
// processor now and then: a backlog costs memory, memory costs more time than the
// yield, and the loop may be waiting for the very processor on which the producer
// runs.
func (e *Executor) Execute(task func()) error {
	if task == nil {
		return nilFunc("Execute", "task")
	}
	e.lock()
	if e.gate != 0 || e.queued >= e.hasRoom {
		e.mu.Unlock()
		return e.admit(OpExecute, task)
	}
	e.tasks.Push(task)
	e.queued++
	if !e.asleep {
		ahead := e.queued%yieldEvery == 0
		e.mu.Unlock()
		if ahead && !e.InEventLoop() {
			runtime.Gosched()
			yieldThread()
		}
		return nil
	}
	e.claimWake()
	e.mu.Unlock()
	e.wakeLoop()
	return nil
}

// yieldEvery is the backlog at whose multiples Execute yields, the goroutine and the
// thread: a system call for so many tasks is not to be seen in their time, and with
// one producer the 99th percentile of a task's wait is 0.1 ms with it and 4 without.
const yieldEvery = 256

// lockTries is how often lock yields before it queues up for the mutex.
const lockTries = 16

// lock is mu.Lock for callers that hold it for nanoseconds, many at a time. With more
// producers than processors a sync.Mutex would put them to sleep, and after a millisecond
// hand itself from one sleeper to the next: a switch of goroutines for each task. To yield
// and try again is several times as fast (BenchmarkExecute with 16 and 64 producers).
func (e *Executor) lock() {
	if !e.mu.TryLock() {
		e.lockContended()
	}
}

func (e *Executor) lockContended() {
	for range lockTries {
		runtime.Gosched()
		if e.mu.TryLock() {
			return
		}
	}
	e.mu.Lock()
}

// ExecuteLazy is Execute, but does not wake a sleeping loop: the task runs no
// later than the next wake-up, timer, end of a quiet period, or shutdown (G12).
func (e *Executor) ExecuteLazy(task func()) error {
	if task == nil {
		return nilFunc("ExecuteLazy", "task")
	}
	return e.admit(OpExecuteLazy, task)
}

// ExecuteAfterIteration runs task at the end of a turn of the loop, after the
// turn's tasks and timers. A tail task that adds a tail task adds it to the next
// turn (G13). In everything else it is Execute.
func (e *Executor) ExecuteAfterIteration(task func()) error {
	if task == nil {
		return nilFunc("ExecuteAfterIteration", "task")
	}
	return e.admit(OpExecuteAfterIteration, task)
}

// claimWake makes the caller the one who wakes the sleeping loop: at most one
// does per sleep (G12). Requires mu and e.asleep; the caller then unlocks and
// calls e.wakeLoop.
func (e *Executor) claimWake() {
	e.asleep = false
	e.wakes++
	if e.cfg.tracer != nil {
		e.trace(Event{Kind: EventWake})
	}
}

// unlockAndWake ends a critical section that posted work for the loop. Requires mu, and
// releases it.
func (e *Executor) unlockAndWake() {
	wake := e.asleep
	if wake {
		e.claimWake()
	}
	e.mu.Unlock()
	if wake {
		e.wakeLoop()
	}
}

// admit is the way in for every case that Execute does not do itself: not
// started, closed, bounded, traced, lazy, tail.
func (e *Executor) admit(op Op, task func()) error {
	for attempt, open := 1, true; ; attempt++ {
		err := e.tryAdmit(op, task)
		if err == nil {
			return nil
		}
		if !open || err.Reason != ErrQueueFull { // not errors.Is: a spawner's error may be another queue's
			return e.refuse(op, err)
		}
		if e.waitError() != nil { // the loop would wait for the retries, and make no room meanwhile (G19)
			return e.refuse(op, err)
		}
		var retry bool
		if retry, open = e.askToRetry(op, attempt, err); !retry {
			return e.refuse(op, err)
		}
		// After the close the next attempt is the last: its error says why (G5).
	}
}

// askToRetry asks the handler, and waits if it wants another attempt. open is as of
// pause. If the handler does not return, the call has been refused in its way (G20).
func (e *Executor) askToRetry(op Op, attempt int, err *RejectedError) (retry, open bool) {
	returned := false
	defer func() {
		if !returned {
			_ = e.refuse(op, err)
		}
	}()
	pause, retry := e.cfg.onFull(attempt, err)
	open = !retry || e.pause(pause)
	returned = true
	return retry, open
}

// refuse counts a refused task: once per call, however many attempts it made. The Report
// is sealed under the same lock, so that the count and the State of the error agree: the
// Report has the refusals in a state before Terminated (G20). A call that made its last
// attempt before the end, and comes here after it, is refused by the end: that is one more
// attempt, which the tracer sees too.
func (e *Executor) refuse(op Op, err *RejectedError) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.State() < StateTerminated {
		e.rejected++
		return err
	}
	e.rejectedLate++
	if err.State == StateTerminated {
		return err
	}
	e.traceAdmit(op, false)
	return &RejectedError{State: StateTerminated, Reason: e.shutdown.cause}
}

// tryAdmit decides once. The check of the gate and the push are one step: in
// two steps, a close between them would lose the task (netty #9603, R26; G3).
func (e *Executor) tryAdmit(op Op, task func()) *RejectedError {
	if err := e.lockOpen(op); err != nil {
		return err
	}
	if e.queued >= e.hasRoom && e.full() {
		e.traceAdmit(op, false)
		return e.rejectAndUnlock(ErrQueueFull)
	}
	if op == OpExecuteAfterIteration {
		e.tails.Push(task)
		e.hasNews()
	} else {
		e.tasks.Push(task)
	}
	e.queued++
	e.traceAdmit(op, true)
	if op == OpExecuteLazy && !e.lazyMustWake() {
		e.mu.Unlock()
		return nil
	}
	e.unlockAndWake()
	return nil
}

// full counts exactly. Requires mu.
func (e *Executor) full() bool {
	return e.counts().NotBegun >= e.cfg.limit
}

// lazyMustWake reports whether the lazy task just queued took the last room.
// Nothing that wakes the loop could be queued after it, so it has to. Requires mu.
func (e *Executor) lazyMustWake() bool { return e.queued >= e.hasRoom && e.full() }

// lockOpen returns nil with mu held and the executor started and open. It starts
// the loop if nobody has, and shares the outcome of a start in progress (G17).
func (e *Executor) lockOpen(op Op) *RejectedError {
	for {
		e.lock()
		if e.gate&gateClosed != 0 {
			e.traceAdmit(op, false)
			return e.rejectAndUnlock(e.shutdown.cause)
		}
		if e.gate&gateNotStarted == 0 {
			return nil
		}
		if err := e.startAndUnlock(); err != nil {
			e.mu.Lock()
			e.traceAdmit(op, false)
			return e.rejectAndUnlock(err)
		}
	}
}

// rejectAndUnlock requires mu.
func (e *Executor) rejectAndUnlock(reason error) *RejectedError {
	defer e.mu.Unlock()
	return &RejectedError{State: e.State(), Reason: reason}
}

// traceAdmit requires mu.
func (e *Executor) traceAdmit(op Op, accepted bool) {
	if e.cfg.tracer != nil {
		e.trace(Event{Kind: EventAdmit, Op: op, Accepted: accepted})
	}
}

// pause waits between two attempts; false means that the close came first.
func (e *Executor) pause(d time.Duration) bool {
	if d <= 0 {
		runtime.Gosched()
		return e.ctx.Err() == nil
	}
	over := make(chan struct{})
	alarm := e.afterFunc(d, func() { close(over) })
	defer alarm.Stop()
	select {
	case <-over:
		return true
	case <-e.ctx.Done():
		return false
	}
}

// postInternal queues an internal task, such as the call of listeners: it takes no room, is
// no task, and does not restart a quiet period (G9, G10). False means that the loop has
// ended or was never started, and that the caller must run work itself.
func (e *Executor) postInternal(work func()) bool {
	e.mu.Lock()
	if State(e.state.Load()) == StateTerminated || e.gate&gateNotStarted != 0 {
		e.mu.Unlock()
		return false
	}
	e.addInternal(work)
	e.unlockAndWake()
	return true
}

// addInternal requires mu, and a loop that has not ended.
func (e *Executor) addInternal(work func()) {
	e.internalTasks = append(e.internalTasks, work)
	e.stopBatch.Store(true)
	e.hasNews()
}

// postInternalOrRun runs work on the loop, or, if that has ended, on the caller.
func (e *Executor) postInternalOrRun(work func()) {
	if !e.postInternal(work) {
		offLoop(e.reportOffLoop, work)
	}
}

// waitError returns the error of a call that would wait for the loop and that the
// loop would have to wait for: from one of its bodies, or from inside the spawner
// that is to give it a goroutine (G17, G18).
func (e *Executor) waitError() error {
	if e.InEventLoop() {
		return ErrInEventLoop
	}
	caller := goid.Get()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.starting != nil && e.starting.calledBy(caller) || e.moving != nil && e.moving.calledBy(caller) {
		return ErrStarting
	}
	return nil
}
