package stress

import (
	"time"

	"eventide/core"
)

// sleeper is an executor that runs its last task and falls asleep while somebody
// brings it something: the lone waker. If that wake-up is lost, nobody makes up for
// it.
type sleeper struct {
	ex     *core.Executor
	before core.Stats // taken by the last task
	last   meeting
	came   chan struct{} // closed when the loop has heard
	err    error
	run    int
}

// sleeperRuns numbers the runs. Setup and Outcome are called by one goroutine.
var sleeperRuns int

func newSleeper() *sleeper {
	sleeperRuns++
	return &sleeper{ex: started(), came: make(chan struct{}), run: sleeperRuns}
}

// withTimer returns one that sleeps with a deadline, not for ever.
func withTimer() *sleeper {
	s := newSleeper()
	must(s.ex.Schedule(longTime, nothing))
	return s
}

// wakeBy returns the only actor: it meets the loop in its last task, and brings
// something while that ends.
func wakeBy(bring func(*sleeper) error) func(*sleeper) {
	return func(s *sleeper) {
		s.err = s.ex.Execute(func() {
			s.before = s.ex.Stats()
			s.last.attend()
		})
		s.last.meet()
		stagger(s.run)
		if err := bring(s); err != nil {
			s.err = err
		}
	}
}

func (s *sleeper) execute() error { return s.ex.Execute(func() { close(s.came) }) }

func (s *sleeper) schedule() error {
	_, err := s.ex.Schedule(0, func() { close(s.came) })
	return err
}

func (s *sleeper) submit() error {
	core.Submit(s.ex, func() (int, error) { return 0, nil }).OnDone(func(int, error) { close(s.came) })
	return nil
}

func (s *sleeper) shutdown() error {
	s.ex.Shutdown().OnDone(func(core.Report, error) { close(s.came) })
	return nil
}

// outcome waits without a call that could wake the loop.
func (s *sleeper) outcome() string {
	if s.err != nil {
		return s.err.Error()
	}
	if !closesInTime(s.came) {
		return stuck
	}
	after := s.ex.Stats()
	s.ex.Shutdown()
	if !ended(s.ex) {
		return stuck
	}
	switch woken := after.Wakes - s.before.Wakes; {
	case after.Wakes > after.Parks:
		return "more wakes than sleeps"
	case woken == 0:
		return "found the loop awake"
	}
	return "woke it"
}

func closesInTime(c <-chan struct{}) bool {
	guard := time.NewTimer(hangGuard)
	defer guard.Stop()
	select {
	case <-c:
		return true
	case <-guard.C:
		return false
	}
}

func sleepRaces() []contest {
	race := func(name string, setup func() *sleeper, bring func(*sleeper) error) contest {
		return contest{name: name, run: Race[*sleeper]{
			Setup:   setup,
			Actors:  []func(*sleeper){wakeBy(bring)},
			Outcome: (*sleeper).outcome,
		}.Run, rows: []Row{
			{"found the loop awake", Acceptable, "It came before the loop had announced its sleep: the loop looks once more."},
			{"woke it", Acceptable, "The loop had announced its sleep: the call woke it."},
			{"more wakes than sleeps", Forbidden, "G12: at most one wake per sleep."},
		}}
	}
	return []contest{
		race("Execute against falling asleep", newSleeper, (*sleeper).execute),
		race("Execute against falling asleep with a timer", withTimer, (*sleeper).execute),
		race("Schedule against falling asleep", newSleeper, (*sleeper).schedule),
		race("Schedule against falling asleep with a timer", withTimer, (*sleeper).schedule),
		race("Submit against falling asleep", newSleeper, (*sleeper).submit),
		race("Shutdown against falling asleep", newSleeper, (*sleeper).shutdown),
	}
}
