package core

import (
	"fmt"
	"time"
)

// ScheduleTimer is Schedule with memory of the caller: it allocates nothing. t is the zero
// Timer, for example a field of a connection, or a one-shot timer of this executor that has
// ended. It is then a new timer: Cancel, Reset, Deadline, Err and Done are about the new run,
// and a channel that Done returned before stays closed. After an error t is as it was.
//
// Until admission closes, a timer that waits or runs is refused with ErrTimerActive: Reset moves
// a waiting one, and a body that is to run again belongs to ScheduleAtFixedRate or
// ScheduleWithFixedDelay. Other errors are those of Schedule, and errors for an argument: a nil t
// or task, a periodic timer, a timer of another executor.
//
// It may be called from any goroutine, including from bodies. The first call for a zero Timer
// must return before other goroutines use that Timer. Whoever still holds t from before, for
// example to cancel it, now holds the new timer: give a Timer again only when nobody does.
func (e *Executor) ScheduleTimer(t *Timer, delay time.Duration, task func()) error {
	if err := e.checkOwnTimer(t, task); err != nil {
		return err
	}
	_, at := e.deadline(max(delay, 0), 0)
	if err := e.lockOpen(OpSchedule); err != nil {
		return err
	}
	if err := t.checkEnded(); err != nil {
		e.mu.Unlock()
		return err
	}
	e.renew(t, at, task)
	e.addTimerAndUnlock(t)
	return nil
}

// ScheduleTimer is Schedule with memory of the caller: see Executor.ScheduleTimer.
func (p *Pool) ScheduleTimer(t *Timer, delay time.Duration, task func()) error {
	if err := p.checkOwnTimer(t, task); err != nil {
		return err
	}
	_, at := p.deadline(max(delay, 0), 0)
	if err := p.lockOpen(OpSchedule); err != nil {
		return err
	}
	if err := t.checkEnded(); err != nil {
		p.mu.Unlock()
		return err
	}
	p.renew(t, at, task)
	p.addTimerAndUnlock(t)
	return nil
}

// checkOwnTimer checks the arguments of ScheduleTimer. A timer keeps its executor and its period
// for ever, so both can be read without the mutex.
func (s *setup) checkOwnTimer(t *Timer, task func()) error {
	switch {
	case task == nil:
		return nilFunc("ScheduleTimer", "task")
	case t == nil:
		return argumentError("ScheduleTimer", "t is nil, want a Timer of the caller")
	case t.home != nil && t.home != s:
		return argumentError("ScheduleTimer", "t is a timer of %s, want the zero Timer or a timer of %s", t.home.cfg.name, s.cfg.name)
	case t.period != 0:
		return argumentError("ScheduleTimer", "t is periodic, want the zero Timer or one that Schedule has made")
	}
	return nil
}

// checkEnded returns an error unless t is the zero Timer or has ended. Requires the executor's
// mutex.
func (t *Timer) checkEnded() error {
	switch {
	case t.home == nil || t.state == timerOver:
		return nil
	case t.state == timerRunning:
		return fmt.Errorf("%w: its body runs", ErrTimerActive)
	}
	return fmt.Errorf("%w: it waits for its deadline", ErrTimerActive)
}

// renew makes t, which has ended or is the zero Timer, a one-shot timer that waits. It leaves the
// place of t, since the loop may not have handled the end of the last run yet. Requires the
// executor's mutex.
func (s *setup) renew(t *Timer, at int64, task func()) {
	if t.home == nil {
		t.home = s // once: it is read without the mutex
	}
	t.at, t.ranAt, t.fn, t.done, t.err, t.state = at, noDeadline, task, nil, nil, timerWaiting
}
