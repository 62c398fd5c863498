package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"
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

// TestSimulationIsExact: a simulation delays hidden steps, and decisions about timers, until an
// action needs them. It allows the same actions as all states that Next and hidden steps reach,
// and has the same states, apart from the hidden steps that no action has needed.
func TestSimulationIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := wide(TimerPolicy(rapid.IntRange(0, 2).Draw(t, "policy")))
		b.Observe = true
		s, sim := New(b.Config), NewSimulation(b.Config, DefaultHidden())
		all := standard.closure([]State{s}, deferrable)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			tried := candidates(&s, &b, nil)
			for range 3 {
				a := tried[rapid.IntRange(0, len(tried)-1).Draw(t, "tried")]
				equal(t, sim.copy().Follow(a), len(standard.step(all, a)) > 0, "allowed: "+a.String())
			}
			var a Action
			s, a = randomStep(t, s, b)
			if deferrable.has(a.Kind) && rapid.Bool().Draw(t, "hidden") {
				continue
			}
			all = standard.closure(standard.step(all, a), deferrable)
			noError(t, sim.Step(a), a.String())
			equal(t, keysOf(standard.closure(sim.Set(), deferrable)), keysOf(all), "states after "+a.String())
		}
	})
}

// TestSimulationOfATimerDoomedBeforeAnother: the shutdown call can doom the second timer alone, which then ends before the
// next call dooms the first; or that call dooms the first, and the second has not ended. A Simulation has both.
func TestSimulationOfATimerDoomedBeforeAnother(t *testing.T) {
	config := Config{Policy: RunTimersUntilTimeout}
	all, sim := []State{New(config)}, NewSimulation(config, DefaultHidden())
	for _, a := range parse(t, `
		startOK
		schedule 1 accepted
		schedule 2 accepted
		shutdownGracefully quiet=0 timeout=1
		shutdown`) {
		all = standard.closure(standard.step(all, a), deferrable)
		noError(t, sim.Step(a), a.String())
		equal(t, keysOf(standard.closure(sim.Set(), deferrable)), keysOf(all), "states after "+a.String())
	}
}

// keysOf returns the keys of states, and of those that they reach when doomed timers end in any order, sorted.
// closure ends the first doomed timer only. Next may let the second end before another action dooms the first; a
// Simulation, which decides later, has both doomed then.
func keysOf(set []State) string {
	var all stateSet
	for _, s := range set {
		all.add(s)
	}
	for i := 0; i < len(all.states); i++ {
		s := all.states[i]
		for _, timer := range s.Timers {
			if timer.Status != TimerDoomed {
				continue
			}
			for _, t := range standard.next(&s, Action{Kind: StepTimerDies, Body: TimerNo(timer.ID)}) {
				all.add(t)
			}
		}
	}
	var keys []string
	for _, s := range all.states {
		keys = append(keys, s.Key())
	}
	slices.Sort(keys)
	return strings.Join(keys, "\n")
}

// TestEitherIsBoth: FollowEither keeps the states of both orders, and Confirm those in which the
// body has begun.
func TestEitherIsBoth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := wide(TimerPolicy(rapid.IntRange(0, 2).Draw(t, "policy")))
		s := *walk(t, b)
		enabled := Enabled(s, b)
		begin, a := enabled[rapid.IntRange(0, len(enabled)-1).Draw(t, "begin")], enabled[rapid.IntRange(0, len(enabled)-1).Draw(t, "action")]
		if begin.Kind != StepBegin || a.Body == begin.Body {
			return
		}
		one := standard.closure([]State{s}, deferrable)
		late := standard.closure(standard.step(one, a), deferrable)
		early := standard.closure(standard.step(standard.closure(standard.step(one, begin), deferrable), a), deferrable)
		sim := &Simulation{set: []State{s.clone()}, hidden: deferrable, lazy: true}
		equal(t, sim.FollowEither(begin, a), true, a.String())
		equal(t, keysOf(standard.closure(sim.Set(), deferrable)), keysOf(distinct(slices.Concat(early, late))), "either")
		confirmed := slices.Concat(early, standard.closure(standard.step(late, begin), deferrable))
		if len(confirmed) == 0 {
			return
		}
		equal(t, sim.Confirm(begin), true, begin.String())
		equal(t, keysOf(standard.closure(sim.Set(), deferrable)), keysOf(distinct(confirmed)), "confirmed")
	})
}

// BenchmarkSimulation follows the calls and bodies of an executor with all kinds of work.
func BenchmarkSimulation(b *testing.B) {
	trace := executorLife(b)
	for b.Loop() {
		sim := NewSimulation(Config{Policy: RunDueTimers, Limit: 16}, DefaultHidden())
		for _, a := range trace {
			if err := sim.Step(a); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(trace))*float64(b.N)/b.Elapsed().Seconds()/1e6, "Msteps/s")
}

// executorLife is a trace of about the length and the mix of those that the lanes follow.
func executorLife(b *testing.B) (trace []Action) {
	var text strings.Builder
	text.WriteString("startOK\n")
	for id := 1; id <= 4; id++ {
		fmt.Fprintf(&text, "schedule %d accepted\n", id)
	}
	for id := 1; id <= 8; id++ {
		fmt.Fprintf(&text, "submit %d accepted\nbegin task %d\nstate Started\nend task %d normal\n", id, id, id)
	}
	text.WriteString("addHook 1 accepted\nbegin timer 1\nend timer 1 normal\nsubmit 9 accepted\ncancel task 9 true\n" +
		"shutdownGracefully quiet=1 timeout=1\nbegin hook 1\nend hook 1 normal\nbegin timer 2\nend timer 2 normal\ncancel timer 3 true\n" +
		"submit 10 accepted\nbegin task 10\nend task 10 normal\nloopCloses\nsubmit 11 refused:closed\ndone")
	for line := range strings.Lines(text.String()) {
		a, err := ParseAction(line)
		if err != nil {
			b.Fatal(err)
		}
		trace = append(trace, a)
	}
	return trace
}
