package interleave

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"eventide/props"
	"eventide/props/history"
	"eventide/props/interleave/inprocess"
)

// lane says how strictly a history of the scenario is judged.
func (sc Scenario) lane() props.Lane {
	if sc.Time == inprocess.Idle {
		return props.Chosen
	}
	return props.Ticking
}

// judge judges a run, unless its history was judged before.
func (x *Explorer) judge(sc Scenario, r *inprocess.Result, out props.Recording) (props.Verdict, error) {
	if !sc.writesHistory() {
		if sc.Group != nil && sc.Group.Exercises() {
			x.Exercised["G21"]++
		}
		return x.judgeBreaches(r), nil
	}
	key := historyHash(r, out)
	v, known := x.judged[key]
	if !known || r.Races > 0 {
		x.Histories++
		began := time.Now()
		var err error
		if v, err = sc.judge(r, out); err != nil {
			return v, fmt.Errorf("interleave: the harness wrote an invalid history: %w\n%v", err, sc.Program)
		}
		x.Actions.add(out.Events)
		x.cost += time.Since(began)
		x.judged[key] = v
	}
	for id, exercised := range v.Exercised {
		if exercised {
			x.Exercised[id]++
		}
	}
	if v.Undecided {
		x.Undecided++
	}
	if v.Unrefined {
		x.Unrefined++
	}
	return v, nil
}

// judgeBreaches judges a run without events.
func (x *Explorer) judgeBreaches(r *inprocess.Result) (v props.Verdict) {
	if wrong := ending(r); wrong != nil {
		v.Violations = append(v.Violations, *wrong)
	}
	for _, b := range x.breaches {
		g, _ := props.Lookup(b.Guarantee)
		v.Violations = append(v.Violations, history.Violation{Guarantee: b.Guarantee, Predicate: "bare", Sentence: g.Sentence, Text: b.Text})
	}
	if r.Races > 0 {
		v.Violations = append(v.Violations, raceViolation(r))
	}
	return v
}

func raceViolation(r *inprocess.Result) history.Violation {
	return history.Violation{
		Guarantee: "G2", Predicate: "S17", Sentence: "what happens in one goroutine is ordered before what sees it in another",
		Text: fmt.Sprintf("the race detector reported %d data races in this schedule: see above (only the report of a replay is right about where a goroutine began)", r.Races),
	}
}

// judge judges the end and the history of a run.
func (sc Scenario) judge(r *inprocess.Result, out props.Recording) (v props.Verdict, err error) {
	if out.Events != nil { // otherwise the driver did not return
		all, wrong := sc.judgeHistory(out)
		v, err = props.Verdict{Violations: all.Violations, Exercised: all.Exercised, Undecided: all.Undecided, Unrefined: all.Unrefined}, wrong
		all.Recycle() // verdicts are kept, histories are not
	}
	if r.Races > 0 {
		v.Violations = slices.Insert(v.Violations, 0, raceViolation(r))
	}
	if wrong := ending(r); wrong != nil {
		v.Violations = slices.Insert(v.Violations, 0, *wrong)
	}
	return v, err
}

// judgeHistory judges a history. It adds the checks that are possible only under chosen
// schedules.
func (sc Scenario) judgeHistory(out props.Recording) (props.Verdict, error) {
	return props.JudgeIn(sc.lane(), sc.Program, out,
		func(events []history.Event) *history.Violation { return overfull(sc.Program, events) },
		func(events []history.Event) *history.Violation { return unwoken(sc.Program, events) },
		func(events []history.Event) *history.Violation { return overslept(sc, events) })
}

// ending returns what is wrong with the way in which a run ended.
func ending(r *inprocess.Result) *history.Violation {
	where := strings.Join(r.Blocked, "; ")
	switch r.Verdict {
	case inprocess.Deadlocked:
		return &history.Violation{Guarantee: "G12", Predicate: "deadlock", Sentence: "some goroutine can always run", Text: "no goroutine can run: " + where}
	case inprocess.Leaked:
		return &history.Violation{Guarantee: "G24", Predicate: "S16", Sentence: "nothing is left behind", Text: "goroutines are blocked for ever: " + where}
	case inprocess.Livelocked:
		return &history.Violation{Guarantee: "G12", Predicate: "livelock", Sentence: "a loop with nothing to do sleeps", Text: "every goroutine runs again and again, without progress: " + where}
	case inprocess.Panicked:
		return &history.Violation{Guarantee: "G14", Predicate: "panic", Sentence: "panics stay inside", Text: fmt.Sprintf("a panic left a goroutine: %v", r.Panic)}
	}
	return nil
}
