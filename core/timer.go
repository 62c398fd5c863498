package core

import (
	"sync"
	"time"
)

// Timer is a scheduled task. Its methods may be called from any goroutine, including from
// its own body. The Schedule methods make timers. A zero Timer is for ScheduleTimer; before
// that Cancel and Reset report false, Deadline is the zero Time, and Err and Done are nil.
// A Timer must not be copied.
type Timer struct {
	_ noCopy

	// Set once, by Schedule or the first ScheduleTimer.
	home   *setup
	period time.Duration // > 0: fixed rate; < 0: fixed delay, negated; 0: once

	// Guarded by the executor's mutex. The small fields are together: a Timer has 96
	// bytes, which is a size class of the allocator.
	id     uint64 // in the order scheduled
	at     int64  // deadline of the next run, or of the running one unless moved is set; after the end: ranAt
	grid   int64  // of a periodic timer: at without the jitter, from which a fixed rate counts
	ranAt  int64  // deadline of the last run that has begun; noDeadline: none
	fn     func()
	done   chan struct{} // made by the first Done
	err    *error        // nil: none; a pointer, for the size
	prev   *Timer        // in the list of added timers
	next   *Timer        // in that list, or in the list of changed ones
	state  timerState
	place  timerPlace
	cancel bool // cancelled while its body runs
	moved  bool // by Reset while its body runs: at is the deadline of the next run

	// Loop only. Last, for the size.
	index int32 // in the heap, from the first push on; -1: removed from it
}

type timerState uint8

const (
	timerWaiting timerState = iota
	timerRunning
	timerOver
)

// timerPlace says where a waiting timer of an Executor is stored, and so which goroutine removes it
// after Cancel. A timer that runs or has ended keeps the place that it had, and only the last two
// count then. A Pool does not use it.
type timerPlace uint8

const (
	placeNowhere   timerPlace = iota
	placeAdded                // in timerInbox.added: the canceller unlinks it
	placeHeap                 // in the heap: only the loop may touch it
	placeChanged              // in timerInbox.changed, and in the heap unless the loop has dequeued it meanwhile
	placeCancelled            // likewise, and counted in timerInbox.nCancelled
)

// noCopy makes go vet report copies of a struct.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// Schedule runs task once, delay from now, never early (G7). A negative delay counts as
// zero; every other value is allowed. The Timer ends before Done is closed: its body
// runs, or it is cancelled, by Cancel or by the policy at shutdown
// (WithTimersAtShutdown). After admission has closed, Schedule returns an error, inside the
// loop too (G5).
func (e *Executor) Schedule(delay time.Duration, task func()) (*Timer, error) {
	if task == nil {
		return nil, nilFunc("Schedule", "task")
	}
	return e.schedule(max(delay, 0), 0, task)
}

// ScheduleAtFixedRate runs task at initial, initial+period, initial+2*period, ... from
// now, at most one run at a time. A late run does not shift the later ones: all overdue runs
// follow at once. A body that panics or calls runtime.Goexit ends the timer. initial must
// not be negative, and period must be positive.
func (e *Executor) ScheduleAtFixedRate(initial, period time.Duration, task func()) (*Timer, error) {
	if err := checkPeriodic("ScheduleAtFixedRate", "period", initial, period, task); err != nil {
		return nil, err
	}
	return e.schedule(initial, period, task)
}

// ScheduleWithFixedDelay runs task after initial, and then again delay after the end of
// each run. Otherwise it is like ScheduleAtFixedRate.
func (e *Executor) ScheduleWithFixedDelay(initial, delay time.Duration, task func()) (*Timer, error) {
	if err := checkPeriodic("ScheduleWithFixedDelay", "delay", initial, delay, task); err != nil {
		return nil, err
	}
	return e.schedule(initial, -delay, task)
}

func checkPeriodic(call, name string, initial, period time.Duration, task func()) error {
	switch {
	case task == nil:
		return nilFunc(call, "task")
	case initial < 0:
		return argumentError(call, "initial is %v, want 0 or more", initial)
	case period <= 0:
		return argumentError(call, "%s is %v, want more than 0", name, period)
	}
	return nil
}

// newTimer returns a timer that is due delay from now, plus the jitter. It calls the clock and
// the source of the jitter, so it is called without the mutex.
func (s *setup) newTimer(delay, period time.Duration, task func()) *Timer {
	grid, at := s.deadline(delay, period)
	return &Timer{home: s, grid: grid, at: at, ranAt: noDeadline, period: period, fn: task}
}

// deadline returns the time that is delay from now, without and with the jitter.
func (s *setup) deadline(delay, period time.Duration) (grid, at int64) {
	grid = addTime(s.now(), delay)
	return grid, addTime(grid, s.drawJitter(period))
}

func (e *Executor) schedule(delay, period time.Duration, task func()) (*Timer, error) {
	// The deadline counts from this call, not from when the loop takes the timer (R72).
	t := e.newTimer(delay, period, task)
	if err := e.lockOpen(OpSchedule); err != nil {
		return nil, err
	}
	e.addTimerAndUnlock(t)
	return t, nil
}

// addTimerAndUnlock accepts t. Requires mu, and releases it.
func (e *Executor) addTimerAndUnlock(t *Timer) {
	e.traceAdmit(OpSchedule, true)
	if e.addTimer(t) {
		e.unlockAndWake()
	} else {
		e.mu.Unlock()
	}
}

// Cancel prevents every further run of the body and reports true, or reports false if it is
// too late. A one-shot timer either runs or is cancelled, never both. A periodic timer may be
// cancelled during a run, which is then its last (G8). The timer no longer refers to its
// function once it has ended, so the memory of the function can be freed at once.
func (t *Timer) Cancel() bool {
	return t.home != nil && t.home.timerOwner.stopTimer(t)
}

// timerOwner has the methods of an executor that its timers call.
type timerOwner interface {
	mutex() *sync.Mutex // which guards the timer
	stopTimer(t *Timer) bool
	resetTimer(t *Timer, delay time.Duration) bool
}

func (e *Executor) mutex() *sync.Mutex { return &e.mu }

// stopTimer implements Timer.Cancel.
func (e *Executor) stopTimer(t *Timer) bool {
	e.mu.Lock()
	wake, cancelled := e.cancelTimer(t)
	e.traceAdmit(OpCancelTimer, cancelled)
	if wake {
		e.unlockAndWake()
	} else {
		e.mu.Unlock()
	}
	return cancelled
}

// mutex returns the mutex that guards t.
func (t *Timer) mutex() *sync.Mutex { return t.home.timerOwner.mutex() }

// Deadline returns when the next run of the body is due, or, during a run, when that run
// was due. After the end it returns when the last run was due, or the zero Time if none
// has begun: it never names a run that will not happen (G7). It may be called from any
// goroutine.
func (t *Timer) Deadline() time.Time {
	if t.home == nil {
		return time.Time{}
	}
	mu := t.mutex()
	mu.Lock()
	at := t.at
	if t.state == timerRunning {
		at = t.ranAt
	}
	never := t.state == timerOver && at == noDeadline
	mu.Unlock()
	if never {
		return time.Time{}
	}
	return t.home.epoch.Add(time.Duration(at))
}

// Done returns a channel that is closed once no run of the body is running and none will
// begin.
func (t *Timer) Done() <-chan struct{} {
	if t.home == nil {
		return nil
	}
	mu := t.mutex()
	mu.Lock()
	defer mu.Unlock()
	if t.done == nil {
		t.done = make(chan struct{})
		if t.state == timerOver {
			close(t.done)
		}
	}
	return t.done
}

// Err returns nil before Done is closed, and after a one-shot timer has run; otherwise
// ErrCancelled, ErrGoexit, or a *PanicError.
func (t *Timer) Err() error {
	if t.home == nil {
		return nil
	}
	mu := t.mutex()
	mu.Lock()
	defer mu.Unlock()
	if t.err == nil {
		return nil
	}
	return *t.err
}
