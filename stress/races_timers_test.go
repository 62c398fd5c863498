package stress

import (
	"errors"
	"sync/atomic"

	"eventide/core"
)

// timed is an executor with one timer, which fires, is cancelled, or is caught by
// the shutdown. ran is plain: it is read after Done.
type timed struct {
	ex        *core.Executor
	published atomic.Pointer[core.Timer]
	timer     *core.Timer
	err       error
	ran       int32
	cancelled [2]bool
	before    meeting
	run       int
}

// timedRuns numbers the runs. Setup and Outcome are called by one goroutine.
var timedRuns int

func newTimed(policy core.TimersAtShutdown) func() *timed {
	return func() *timed {
		timedRuns++
		return &timed{ex: started(core.WithTimersAtShutdown(policy)), run: timedRuns}
	}
}

func (t *timed) schedule() {
	t.timer, t.err = t.ex.Schedule(0, func() { t.ran++ })
	t.published.Store(t.timer)
}

func (t *timed) shutdown() { t.ex.Shutdown() }

// cancel cancels the timer as soon as there is one, while the loop starts it.
func cancel(i int) func(*timed) {
	return func(t *timed) {
		spinUntil(func() bool { return t.published.Load() != nil })
		t.cancelled[i] = t.published.Load().Cancel()
	}
}

// cancelAtOnce is the only actor: it meets the loop in the task before the timer,
// and cancels the timer while that ends.
func (t *timed) cancelAtOnce() {
	if err := t.ex.Execute(t.before.attend); err != nil {
		panic(err)
	}
	t.schedule()
	t.before.meet()
	stagger(t.run)
	t.cancelled[0] = t.timer.Cancel()
}

func (t *timed) outcomeOfCancel() string {
	if !closesInTime(t.timer.Done()) {
		return stuck
	}
	t.ex.Shutdown()
	if !ended(t.ex) {
		return stuck
	}
	said := "not cancelled"
	switch {
	case t.cancelled[0] && t.cancelled[1]:
		said = "cancelled twice"
	case t.cancelled[0] || t.cancelled[1]:
		said = "cancelled"
	}
	return said + ", " + t.end()
}

func (t *timed) outcomeOfSchedule() string {
	if !ended(t.ex) {
		return stuck
	}
	if t.err != nil {
		return answer(t.err) + ", " + times(t.ran)
	}
	if !isClosed(t.timer.Done()) {
		return "accepted, incomplete at Done"
	}
	return "accepted, " + t.end()
}

func (t *timed) end() string {
	switch err := t.timer.Err(); {
	case err == nil:
		return times(t.ran)
	case errors.Is(err, core.ErrCancelled):
		return times(t.ran) + ", ErrCancelled"
	default:
		return err.Error()
	}
}

func timerRaces() []contest {
	cancelRows := []Row{
		{"not cancelled, ran once", Acceptable, "The body had begun."},
		{"cancelled, never ran, ErrCancelled", Acceptable, "The cancel came first."},
		{"cancelled, ran once", Forbidden, "G8: after a Cancel that is true the body does not begin."},
		{"cancelled, ran once, ErrCancelled", Forbidden, "G8: exactly one of cancelled and ran."},
		{"not cancelled, never ran, ErrCancelled", Forbidden, "G8: exactly one of cancelled and ran."},
		{"cancelled twice, never ran, ErrCancelled", Forbidden, "G8: only one Cancel is true."},
		{"not cancelled, ran twice", Forbidden, "G7: a one-shot timer runs once."},
	}
	scheduleRows := []Row{
		{"accepted, ran once", Acceptable, "It was due before the shutdown call."},
		{"accepted, never ran, ErrCancelled", Acceptable, "It was accepted, and the policy cancelled it."},
		{"refused, never ran", Acceptable, "The close came first."},
		{"accepted, never ran", Forbidden, "G3: an accepted timer runs or is cancelled."},
		{"accepted, ran once, ErrCancelled", Forbidden, "G8: exactly one of cancelled and ran."},
		{"accepted, incomplete at Done", Forbidden, "G9: timers are complete when Done is closed."},
		{"refused, ran once", Forbidden, "G3: what was refused never runs."},
	}
	cancelRace := func(name string, actors ...func(*timed)) contest {
		return contest{name: name, run: Race[*timed]{Setup: newTimed(core.CancelTimers), Actors: actors, Outcome: (*timed).outcomeOfCancel}.Run, rows: cancelRows}
	}
	scheduleRace := func(name string, policy core.TimersAtShutdown) contest {
		return contest{name: name, run: Race[*timed]{
			Setup:   newTimed(policy),
			Actors:  []func(*timed){(*timed).schedule, (*timed).shutdown},
			Outcome: (*timed).outcomeOfSchedule,
		}.Run, rows: scheduleRows}
	}
	return []contest{
		cancelRace("Cancel against firing", (*timed).cancelAtOnce),
		cancelRace("two Cancels against firing", (*timed).schedule, cancel(0), cancel(1)),
		scheduleRace("Schedule against Shutdown, CancelTimers", core.CancelTimers),
		scheduleRace("Schedule against Shutdown, RunDueTimers", core.RunDueTimers),
		scheduleRace("Schedule against Shutdown, RunTimersUntilTimeout", core.RunTimersUntilTimeout),
	}
}
