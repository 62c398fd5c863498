package core

import (
	"runtime"
	"sync"
	"time"

	"github.com/petermattis/goid"
)

// Execute runs task on the loop. A nil error means that task runs exactly once before
// Done is closed; an error means that it never runs (G3). It starts the loop if it is not
// started. Otherwise it takes one short lock, and never waits for the loop, unless a
// WithRejectedHandler retries.
//
// Execute yields the processor at each 256th task of a backlog: a backlog costs memory,
// which costs more time than the yield, and the loop may be waiting for the processor of
// the producer.
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

// yieldEvery: each time the backlog is a multiple of it, Execute yields the goroutine and
// the thread. One system call for so many tasks is too cheap to be measured. With one
// producer, the 99th percentile of a task's wait is 0.1 ms with it and 4 ms without.
const yieldEvery = 256

// lockTries is how often lock yields before it blocks on the mutex.
const lockTries = 16

// lock is mu.Lock for many callers at a time that each hold it for nanoseconds. With more
// producers than processors, a sync.Mutex puts them to sleep, and after a millisecond
// hands itself from one sleeper to the next, with a switch of goroutines for each task.
// To yield and try again is several times as fast (BenchmarkExecute with 16 and 64
// producers).
func (e *Executor) lock() {
	if !e.mu.TryLock() {
		lockContended(&e.mu)
	}
}

func lockContended(mu *sync.Mutex) {
	for range lockTries {
		runtime.Gosched()
		if mu.TryLock() {
			return
		}
	}
	mu.Lock()
}

// ExecuteLazy is Execute, but does not wake a sleeping loop: the task runs no
// later than the next wake-up, timer, end of a quiet period, or shutdown (G12).
func (e *Executor) ExecuteLazy(task func()) error {
	if task == nil {
		return nilFunc("ExecuteLazy", "task")
	}
	return e.admit(OpExecuteLazy, task)
}

// ExecuteAfterIteration runs task at the end of a turn of the loop, after the turn's
// tasks and timers. A tail task added by a tail task runs in the next turn (G13).
// Otherwise it is like Execute.
func (e *Executor) ExecuteAfterIteration(task func()) error {
	if task == nil {
		return nilFunc("ExecuteAfterIteration", "task")
	}
	return e.admit(OpExecuteAfterIteration, task)
}

// claimWake claims the wake-up of the sleeping loop for the caller: at most one caller
// wakes it per sleep (G12). Requires mu and e.asleep. The caller then releases mu and
// calls wakeLoop.
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

// admit accepts or refuses a task in every case that Execute leaves to it: not started,
// closed, bounded, traced, lazy, tail.
func (e *Executor) admit(op Op, task func()) error {
	for attempt, open := 1, true; ; attempt++ {
		err := e.tryAdmit(op, task)
		if err == nil {
			return nil
		}
		if !open || err.Reason != ErrQueueFull { // not errors.Is: the error of a spawner may wrap ErrQueueFull of another queue
			return e.refuse(op, err)
		}
		if e.waitError() != nil { // the loop would wait for the retries, and make no room meanwhile (G19)
			return e.refuse(op, err)
		}
		var retry bool
		if retry, open = e.askToRetry(attempt, err, func() { _ = e.refuse(op, err) }); !retry {
			return e.refuse(op, err)
		}
		// After the close the next attempt is the last: its error gives the reason (G5).
	}
}

// askToRetry calls the handler, and waits if it wants another attempt. open is false if
// the close came first. If the handler panics or calls runtime.Goexit, refuse is called
// (G20).
func (s *setup) askToRetry(attempt int, err *RejectedError, refuse func()) (retry, open bool) {
	returned := false
	defer func() {
		if !returned {
			refuse()
		}
	}()
	pause, retry := s.cfg.onFull(attempt, err)
	open = !retry || s.pause(pause)
	returned = true
	return retry, open
}

// refuse counts a refused task, once per call, however many attempts it made. The Report
// is sealed under the same lock, so that it counts exactly the refusals whose error has a
// State before Terminated (G20). If the executor has terminated since the last attempt of
// the call, that is the reason of the refusal: refuse traces one more attempt, and
// returns its error.
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

// tryAdmit makes one attempt. It checks the gate and pushes the task in one critical
// section: a close between the two would lose the task (netty #9603, R26; G3).
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

// full reports whether a bounded queue is full, by an exact count. Requires mu.
func (e *Executor) full() bool {
	return e.counts().NotBegun >= e.cfg.limit
}

// lazyMustWake reports whether the lazy task just queued has filled the queue. No later
// task could wake the loop, because it would be refused; so this task must. Requires mu.
func (e *Executor) lazyMustWake() bool { return e.queued >= e.hasRoom && e.full() }

// lockOpen returns nil, with mu held, if the executor is started and open; otherwise the
// refusal, without mu. It starts the loop, or waits for a start in progress and shares
// its outcome (G17).
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

// pause waits between two attempts, and returns false if the close came first.
func (s *setup) pause(d time.Duration) bool {
	if d <= 0 {
		runtime.Gosched()
		return s.ctx.Err() == nil
	}
	over := make(chan struct{})
	alarm := s.afterFunc(d, func() { close(over) })
	defer alarm.Stop()
	select {
	case <-over:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// postInternal queues an internal task, such as the call of listeners: it takes no room,
// does not count as a task, and does not restart a quiet period (G9, G10). It returns
// false if the loop has ended or was never started; then the caller must run work itself.
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

// postInternalOrRun runs work on the loop, or on the caller if the loop cannot.
func (e *Executor) postInternalOrRun(work func()) {
	if !e.postInternal(work) {
		offLoop(e.reportOffLoop, work)
	}
}

// waitError returns the error of a call that would wait for the loop while the loop waits
// for the caller: a body of the executor, or the spawner that is to give it a goroutine
// (G17, G18).
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
