package model

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// An action that is not allowed: the error names the guarantee, the last states
// and what was possible; the simulation stays where it was.
func TestNotAllowed(t *testing.T) {
	trace := parse(t, `
		startOK
		submit 1 accepted
		shutdown
		done`)
	set, at, err := Simulate(Config{}, trace)
	equal(t, text(err), `G3 an accepted task runs before Done is closed: "done" at action 4 is not allowed `+
		`(model {Shutdown, closed by shutdown, queue [1], before the shutdown call 1+0, accepted 1 ran 0 cancelled 0 refused 0}); `+
		`possible: begin task 1, loopFails`, "error")
	equal(t, at, 3, "actions followed")
	equal(t, len(set), 1, "states left")

	var not *NotAllowed
	if !errors.As(err, &not) {
		t.Fatalf("got %T, want *NotAllowed", err)
	}
	equal(t, not.Guarantee, "G3", "guarantee")
	equal(t, not.Rule, "done after tasks", "rule")
	equal(t, not.At, 3, "position")
	equal(t, not.Action, trace[3], "action")
}

// After a refusal the same simulation can go on, as a trace that is judged to
// its end needs.
func TestSimulationStaysAfterRefusal(t *testing.T) {
	sim := NewSimulation(Config{}, DefaultHidden())
	for _, a := range parse(t, "startOK\nsubmit 1 accepted") {
		noError(t, sim.Step(a), a.String())
	}
	before := sim.Set()[0].Key()
	equal(t, sim.Step(Action{Kind: StepDone}) != nil, true, "done is refused")
	equal(t, sim.Set()[0].Key(), before, "state")
	noError(t, sim.Step(Action{Kind: StepBegin, Body: Task(1)}), "begin")
}

// G7: under RunDueTimers each timer waiting at the call was due or was not, under
// RunTimersUntilTimeout it is due before the timeout or is not. Both outcomes
// stay possible until the trace tells.
func TestTimerTie(t *testing.T) {
	for _, tc := range []struct {
		policy TimerPolicy
		states int
	}{{CancelTimers, 1}, {RunDueTimers, 4}, {RunTimersUntilTimeout, 4}} {
		set, _, err := Simulate(Config{Policy: tc.policy}, parse(t, `
			startOK
			schedule 1 accepted
			schedule 2 accepted
			shutdownGracefully quiet=0 timeout=1`))
		noError(t, err, tc.policy.String())
		equal(t, len(set), tc.states, tc.policy.String())
	}
	set := []State{New(Config{Policy: RunDueTimers})}
	for _, a := range parse(t, `
		startOK
		schedule 1 accepted
		schedule 2 accepted
		shutdownGracefully quiet=0 timeout=1
		begin timer 2`) {
		set = Step(set, a)
	}
	equal(t, len(set), 2, "states after timer 2 began")
}

// The set stays small though many doomed timers and cancelled tasks may have
// ended without a trace.
func TestHiddenStepsDoNotMultiply(t *testing.T) {
	sim := NewSimulation(Config{}, DefaultHidden())
	noError(t, sim.Step(Action{Kind: StepStartOK}), "start")
	const n = 40
	for id := 1; id <= n; id++ {
		noError(t, sim.Step(Action{Kind: OpSchedule, Body: TimerNo(id), Outcome: Accepted}), "schedule")
		noError(t, sim.Step(Action{Kind: OpExecute, Body: Task(id), Outcome: Accepted}), "submit")
		noError(t, sim.Step(Action{Kind: OpCancel, Body: Task(id), Outcome: True}), "cancel")
	}
	noError(t, sim.Step(Action{Kind: OpShutdown}), "shutdown")
	noError(t, sim.Step(Action{Kind: OpState, Phase: Shutdown}), "observe")
	if got, most := len(sim.Set()), (n+1)*(n+1); got > most {
		t.Errorf("got %d states, want at most %d", got, most)
	}
	noError(t, sim.Step(Action{Kind: StepDone}), "done")
	equal(t, len(sim.Set()), 1, "states at done")
}

// A doomed timer answers Cancel either way, but only once.
func TestCancelOfADoomedTimer(t *testing.T) {
	prefix := "startOK\nschedule 1 accepted\nshutdown\n"
	for _, tc := range []struct {
		calls string
		ok    bool
	}{
		{"cancel timer 1 true", true},
		{"cancel timer 1 false", true},
		{"cancel timer 1 true\ncancel timer 1 true", false},
		{"cancel timer 1 false\ncancel timer 1 true", false},
		{"cancel timer 1 true\ncancel timer 1 false", true},
	} {
		_, _, err := Simulate(Config{}, parse(t, prefix+tc.calls))
		equal(t, err == nil, tc.ok, tc.calls)
	}
}

// TestHiddenStepsMayWait: what a state reaches by hidden steps and then an action that it
// allows at once, it also reaches by the action and then hidden steps. Simulation relies on
// that: a state that allows an action takes no hidden step before it.
func TestHiddenStepsMayWait(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := wide(TimerPolicy(rapid.IntRange(0, 2).Draw(t, "policy")))
		s := walk(t, b)
		one := []State{*s}
		for _, a := range Enabled(*s, b) {
			var later stateSet
			for _, state := range standard.closure(standard.step(one, a), deferrable) {
				later.add(state)
			}
			for _, state := range standard.step(standard.closure(one, deferrable), a) {
				if _, found := later.keys[state.Key()]; !found {
					t.Fatalf("from %v, %v after hidden steps leads to %v, which no order of the action before them reaches", s, a, state)
				}
			}
		}
	})
}
