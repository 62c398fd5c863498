package core_test

import (
	"fmt"
	"slices"
	"time"

	"eventide/core"
)

// poolModel specifies a pool of one worker. Times are since the pool was made. A body takes no time, unless it blocks.
type poolModel struct {
	policy   core.TimersAtShutdown
	limit    int
	failures int // of starts, still to come
	now      time.Duration
	events   []string // since the last step

	awake  bool      // the worker has no body, and does not sleep
	parked bool      // the worker sleeps
	until  int64     // of the sleep: a time, or never
	alarm  int64     // of the worker's poller: a time, or never
	token  bool      // the next sleep ends at once
	job    *stepBody // it blocks
	began  time.Duration
	last   core.Body // kind of the last body

	tasks, listeners, hooks []*stepBody
	handlers                []*stepBody // calls of the panic handler that wait
	timers                  []*stepTimer
	round                   int  // hooks of this round that have not begun
	gaveWay                 bool // a task has begun since the last round

	called, closed  bool
	calledAt        time.Duration
	quiet, timeout  time.Duration
	timeoutAt       int64 // never: no alarm is set
	horizon         int64 // of the timers
	early           int   // tasks accepted before the shutdown call that have not ended
	lastEnd         time.Duration
	closedBy        error  // the cause of the close
	cause           error  // of refusals: also the error of a worker that could not be started
	running         string // begin of Report.Running
	logs            int64  // of timeouts
	lateRejected    int64
	end             time.Duration // when it terminated
	endErr          error
	stats           core.Stats
	lastTimer       int
	hooksOfTheModel []*stepBody // in the order added
}

const (
	never  = int64(1<<63 - 1)
	always = int64(-1 << 63)
)

// stepBody is a body. Only listeners of one future share one.
type stepBody struct {
	kind           core.Body
	calls          []stepCall // that have not begun
	early, handler bool
	timer          *stepTimer
}

// stepCall is a call of a function of the user. It ends as how says: "", "panic" or "exit"; "block": later; "skip": it was
// cancelled. Behind "panic" is how the panic handler ends.
type stepCall struct {
	id  int
	how string
}

type stepTimer struct {
	timer             *core.Timer
	body              *stepBody
	id                int
	period            time.Duration // < 0: a delay
	at, grid, ranAt   int64
	waits, runs, over bool
	cancel, moved     bool // while it runs
	err               error
}

func (m *poolModel) emit(format string, args ...any) {
	m.events = append(m.events, fmt.Sprintf(format, args...))
}

func (m *poolModel) move(to core.State, reason error) {
	m.emit("%v->%v(%v)", m.stats.State, to, reason)
	m.stats.State = to
}

// open reports whether a call is accepted. The first one starts the worker.
func (m *poolModel) open(op core.Op) bool {
	if m.closed {
		m.emit("%v:false", op)
		return false
	}
	if m.stats.State != core.StateNotStarted {
		return true
	}
	if m.failures > 0 {
		m.failures--
		m.emit("%v:false", op)
		return false
	}
	m.move(core.StateStarted, nil)
	m.stats.Workers, m.awake = 1, true
	return true
}

// startForShutdown starts a worker that ends the pool. If it cannot be started, the pool ends at once.
func (m *poolModel) startForShutdown() {
	switch {
	case m.stats.Workers > 0 || m.stats.State == core.StateTerminated:
	case m.failures == 0:
		m.stats.Workers, m.awake = 1, true
	default:
		m.failures--
		if !m.closed {
			m.close(errOfAStart)
		}
		m.cause, m.endErr = errOfAStart, errOfAStart
		m.emit("the pool could not be started for the shutdown")
		m.terminate()
	}
}

func (m *poolModel) terminate() {
	m.awake, m.stats.Workers, m.timeoutAt, m.end = false, 0, never, m.now
	m.emit("PollerClosed")
	m.move(core.StateTerminated, m.cause)
	m.emit("Done")
}

// task is a call with a task.
func (m *poolModel) task(op core.Op, b *stepBody) bool {
	open := m.open(op)
	if !open || len(m.tasks) >= m.limit {
		if open {
			m.emit("%v:false", op)
		}
		m.stats.Rejected++
		if m.stats.State == core.StateTerminated {
			m.lateRejected++
		}
		return false
	}
	m.tasks = append(m.tasks, b)
	m.stats.Accepted++
	m.stats.Pending++
	m.emit("%v:true", op)
	if op != core.OpExecuteLazy || len(m.tasks) >= m.limit {
		m.posted()
	}
	return true
}

// posted wakes the worker if there is something to run, or a timer that is due before it wakes.
func (m *poolModel) posted() {
	if len(m.tasks)+len(m.listeners) > 0 || m.hookReady() || m.first() < m.until {
		m.wake()
	}
}

func (m *poolModel) wake() {
	if m.parked {
		m.stats.Wakes++
		m.emit("Wake")
		m.unpark()
	}
}

func (m *poolModel) unpark() {
	m.parked, m.awake, m.until = false, true, never
	m.emit("Unpark")
}

// first returns the earliest deadline of the timers that wait.
func (m *poolModel) first() int64 {
	if t := m.next(); t != nil {
		return t.at
	}
	return never
}

func (m *poolModel) next() (first *stepTimer) {
	for _, t := range m.timers {
		if t.waits && (first == nil || t.at < first.at || t.at == first.at && t.id < first.id) {
			first = t
		}
	}
	return first
}

func (m *poolModel) addHook(b *stepBody) bool {
	if !m.open(core.OpAddShutdownHook) {
		return false
	}
	m.hooks, m.hooksOfTheModel = append(m.hooks, b), append(m.hooksOfTheModel, b)
	m.emit("hook:true")
	m.posted()
	return true
}

func (m *poolModel) removeHook(n int) bool {
	i := slices.Index(m.hooks, m.hooksOfTheModel[n])
	m.emit("%v:%v", core.OpRemoveShutdownHook, i >= 0)
	if i < 0 {
		return false
	}
	m.hooks = slices.Delete(m.hooks, i, i+1)
	if i < m.round {
		m.round--
	}
	return true
}

// listen posts a listener, and reports whether the worker runs it.
func (m *poolModel) listen(b *stepBody) bool {
	if m.stats.State == core.StateNotStarted || m.stats.State == core.StateTerminated {
		return false
	}
	m.listeners = append(m.listeners, b)
	m.posted()
	return true
}

// schedule schedules t, whose body, period and timer are set.
func (m *poolModel) schedule(t *stepTimer, delay time.Duration) bool {
	if !m.open(core.OpSchedule) {
		return false
	}
	m.emit("schedule:true")
	m.lastTimer++
	m.stats.TimersScheduled++
	m.stats.Timers++
	t.id, t.at, t.ranAt, t.over, t.err = m.lastTimer, int64(m.now+delay), never, false, nil
	t.grid, t.waits = t.at, true
	if m.called && m.policy != core.RunTimersUntilTimeout || t.at > m.horizon {
		m.endTimer(t, core.ErrCancelled)
	}
	m.posted()
	return true
}

func (m *poolModel) endTimer(t *stepTimer, err error) {
	t.waits, t.runs, t.over, t.err, t.at = false, false, true, err, t.ranAt
	m.stats.Timers--
	if err == core.ErrCancelled {
		m.stats.TimersCancelled++
		m.emit("TimerCancelled")
	} else {
		m.stats.TimersEnded++
	}
}

func (m *poolModel) cancel(t *stepTimer) (cancelled bool) {
	switch {
	case t.waits:
		m.endTimer(t, core.ErrCancelled)
		cancelled = true
	case t.runs:
		cancelled = t.period != 0 && !t.cancel
		t.cancel = t.cancel || cancelled
	}
	m.emit("cancel:%v", cancelled)
	if cancelled && m.called {
		m.wake()
	}
	return cancelled
}

func (m *poolModel) reset(t *stepTimer, delay time.Duration) bool {
	at := int64(m.now + delay)
	moved := !m.closed && !(m.called && m.policy != core.RunTimersUntilTimeout) && at <= m.horizon &&
		(t.waits && t.at <= m.horizon || t.runs && t.period != 0 && !t.cancel)
	m.emit("reset:%v", moved)
	if moved {
		t.at, t.grid = at, at
		t.moved = t.runs
		if t.waits {
			m.posted()
		}
	}
	return moved
}

// shut is a call of Shutdown if graceful is false.
func (m *poolModel) shut(graceful bool, quiet, timeout time.Duration) {
	op, to := core.OpShutdown, core.StateShutdown
	if graceful {
		op, to = core.OpShutdownGracefully, core.StateShuttingDown
	}
	if m.stats.State >= to {
		return
	}
	m.emit("%v:true", op)
	if !m.called {
		m.called, m.calledAt, m.quiet, m.timeout, m.round = true, m.now, quiet, timeout, len(m.hooks)
		m.early = int(m.stats.Pending)
		for _, b := range append(slices.Clone(m.tasks), m.job) {
			if b != nil && b.kind == core.BodyTask {
				b.early = true
			}
		}
		switch m.policy {
		case core.CancelTimers:
			m.horizon = always
		case core.RunDueTimers:
			m.horizon = int64(m.now)
		default:
			m.horizon = int64(max(m.now, m.now+timeout-1))
		}
		if timeout > 0 {
			m.timeoutAt = int64(m.now + timeout)
		}
	}
	switch {
	case !graceful:
		m.close(core.ErrShutdown)
	case timeout == 0 && (m.job != nil || m.stats.Pending > 0):
		m.close(core.ErrShutdownTimeout)
	case timeout == 0:
		m.close(core.ErrShutdown)
	default:
		m.move(core.StateShuttingDown, nil)
	}
	m.wake()
	m.startForShutdown()
}

// close closes admission.
func (m *poolModel) close(cause error) {
	m.closed, m.closedBy, m.cause, m.horizon = true, cause, cause, min(m.horizon, int64(m.now))
	if cause == core.ErrShutdownTimeout {
		m.running = m.describe()
		if m.running != "" || m.stats.Pending > 0 {
			m.logs++
		}
	}
	m.move(core.StateShutdown, cause)
}

// describe returns the begin of the description of the running body, or "".
func (m *poolModel) describe() string {
	if m.job == nil {
		return ""
	}
	return fmt.Sprintf("bakery: a %v has been running for %v:\ngoroutine ", m.job.kind, (m.now - m.began).Round(time.Microsecond))
}
