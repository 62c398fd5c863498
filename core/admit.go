package core

import (
	"runtime"
	"sync"
	"time"

	"github.com/petermattis/goid"
)

// Execute runs task on the loop. A nil error means that task runs exactly once before
// Done is closed; an error means that it never runs (G3). If the executor is not started,
// Execute starts it and waits for the spawner. Otherwise it holds one lock briefly, and does
// not wait for the loop; while the queue is full, a WithRejectedHandler may make it retry.
//
// Execute yields the processor if 8 tasks or more wait and none has run for 20 microseconds, because
// the loop may be waiting for the processor of the producer. It also yields at each 256th task
// of a backlog, which costs cache misses and memory as it grows. After several slow yields it does
// not yield for a while.
func (e *Executor) Execute(task func()) error {
	if task == nil {
		return nilFunc("Execute", "task")
	}
	if !e.mu.TryLock() { // as lock, which is too large to be inlined
		lockContended(&e.mu)
	}
	if e.gate != 0 || e.queued >= e.fastLimit {
		e.mu.Unlock()
		return e.admit(OpExecute, task)
	}
	e.tasks.Push(task)
	e.queued++
	if !e.asleep {
		late := checksAt(e.queued) && e.checkBacklog()
		e.mu.Unlock()
		if late && !e.InEventLoop() {
			e.watch.yield(&e.mu)
		}
		return nil
	}
	e.claimWake()
	e.mu.Unlock()
	e.wakeLoop()
	return nil
}

// lockTries is how often lock yields before it blocks on the mutex.
const lockTries = 16

// lock locks mu. It is meant for many callers that each hold mu for nanoseconds. With more
// producers than processors, sync.Mutex would put callers to sleep, and after a millisecond
// enter its starvation mode, with a switch of goroutines for each task. Yielding and trying
// again is several times as fast (BenchmarkExecute of package bench with 16 and 64
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

// ExecuteLazy is Execute, but wakes a sleeping loop only if the task fills a bounded queue.
// Otherwise the task runs at the latest after the next wake-up, timer, end of a quiet period, or
// shutdown call (G12). The first task starts the loop, which may sleep before the task is queued.
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

// claimWake claims the wake-up of the sleeping loop: each sleep has at most one claim (G12).
// The caller must release mu and then call wakeLoop. Requires mu and e.asleep.
func (e *Executor) claimWake() {
	e.asleep = false
	e.wakes++
	if len(e.meters) > 0 {
		e.meterWakeUp()
	}
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

// admit is the slow path of Execute: the executor is not started, closed, full or traced, or
// the task is a lazy or a tail task.
func (e *Executor) admit(op Op, task func()) error {
	for attempt, open := 1, true; ; attempt++ {
		err := e.tryAdmit(op, task)
		if err == nil {
			return nil
		}
		if !open || err.Reason != ErrQueueFull { // not errors.Is: the error of a spawner may wrap ErrQueueFull of another queue
			return e.refuse(op, err)
		}
		if e.waitError() != nil { // a retry is useless: the loop makes no room until this body or spawner returns (G19)
			return e.refuse(op, err)
		}
		var retry bool
		if retry, open = e.askToRetry(attempt, err, func() { _ = e.refuse(op, err) }); !retry {
			return e.refuse(op, err)
		}
		// If admission has closed, the next attempt is the last: its error gives the reason (G5).
	}
}

// askToRetry calls the rejected-handler, and pauses if it returns true for another attempt.
// open is false if admission closed during the pause. If the handler panics or calls
// runtime.Goexit, refuse is called (G20).
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
// is sealed under the same lock, so it counts exactly the refusals whose error has a
// State before Terminated (G20). If the executor has terminated since the last attempt,
// refuse traces one more attempt, and returns an error with the state Terminated.
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

// tryAdmit makes one attempt. It checks the gate and pushes the task in one critical section:
// if admission closed between the two, the task would be lost (netty #9603, R26; G3).
func (e *Executor) tryAdmit(op Op, task func()) *RejectedError {
	if err := e.lockOpen(op); err != nil {
		return err
	}
	if e.full() {
		e.traceAdmit(op, false)
		return e.rejectAndUnlock(ErrQueueFull)
	}
	if op == OpExecuteAfterIteration {
		e.tails.Push(task)
		e.announceNews()
	} else {
		e.tasks.Push(task)
	}
	e.queued++
	e.traceAdmit(op, true)
	// If a lazy task has filled the queue, it must wake the loop: no later task could.
	if op == OpExecuteLazy && !e.full() {
		e.mu.Unlock()
		return nil
	}
	if checksAt(e.tasks.Size()) {
		e.markOutside()
	}
	e.unlockAndWake()
	return nil
}

// full reports whether the queue is at its bound. It makes an exact count only if the queue can be
// full. Requires mu.
func (e *Executor) full() bool {
	return e.queued >= e.fastLimit && e.counts().NotBegun >= e.cfg.limit
}

// lockOpen returns nil with mu held if the executor is started and open; otherwise it
// returns the refusal without mu. It starts the loop, or waits for a start in progress and
// returns the error of that start (G17). If admission has closed since that start failed, for
// example because another start failed during a shutdown, it returns the reason of the close:
// all refusals in state Terminated have the same one.
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
			if cause := e.shutdown.cause; cause != nil {
				err = cause
			}
			e.traceAdmit(op, false)
			return e.rejectAndUnlock(err)
		}
	}
}

// rejectAndUnlock returns the refusal for reason. Requires mu, and releases it.
func (e *Executor) rejectAndUnlock(reason error) *RejectedError {
	defer e.mu.Unlock()
	return &RejectedError{State: e.State(), Reason: reason}
}

// traceAdmit traces the result of op. Requires mu.
func (e *Executor) traceAdmit(op Op, accepted bool) {
	if e.cfg.tracer != nil {
		e.trace(Event{Kind: EventAdmit, Op: op, Accepted: accepted})
	}
}

// pause waits between two attempts, and returns false if admission closes first.
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
// false if the loop has ended or has not started; the caller must then run work itself.
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

// addInternal queues an internal task. The loop must not have ended. Requires mu.
func (e *Executor) addInternal(work func()) {
	e.internalTasks = append(e.internalTasks, work)
	e.stopBatch.Store(true)
	e.announceNews()
}

// postInternalOrRun runs work on the loop, or on the caller if the loop cannot.
func (e *Executor) postInternalOrRun(work func()) {
	if !e.postInternal(work) {
		offLoop(e.reportOffLoop, work)
	}
}

// waitError returns ErrInEventLoop if the caller is a body of the executor (G18),
// ErrStarting if it is the executor's spawner (G17), and otherwise nil. A body or a spawner
// must not block until the loop has run, because the loop may wait for it to return.
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
