package interleave

import (
	"fmt"
	"strings"
	"time"

	"eventide/props"
	"eventide/props/history"
	"eventide/props/interleave/inprocess"
)

// judgement is what the properties say of one history. A history that comes again
// is not judged again.
type judgement struct {
	violations []history.Violation
	exercised  []string
	undecided  bool
	unrefined  bool // the model was not asked, see asModelled
}

// lane says how strictly a history of the scenario is judged.
func (sc Scenario) lane() props.Lane {
	if sc.Time == inprocess.Idle {
		return props.Chosen
	}
	return props.Ticking
}

// judge judges a run, unless its history was judged before.
func (x *Explorer) judge(sc Scenario, r *inprocess.Result, out props.Recording) (*judgement, error) {
	if !sc.writesHistory() {
		if sc.Group != nil && sc.Group.Exercises() {
			x.Exercised["G21"]++
		}
		return x.judgeBreaches(r), nil
	}
	key := historyHash(r, out)
	j := x.judged[key]
	if j == nil || r.Races > 0 {
		x.Histories++
		began := time.Now()
		var err error
		if j, err = newJudgement(sc, r, out); err != nil {
			return nil, fmt.Errorf("interleave: the harness wrote a history that makes no sense: %w\n%v", err, sc.Program)
		}
		x.Actions.add(out.Events)
		x.cost += time.Since(began)
		x.judged[key] = j
	}
	for _, id := range j.exercised {
		x.Exercised[id]++
	}
	if j.undecided {
		x.Undecided++
	}
	if j.unrefined {
		x.Unrefined++
	}
	return j, nil
}

// judgeBreaches judges a run without events.
func (x *Explorer) judgeBreaches(r *inprocess.Result) *judgement {
	j := &judgement{}
	if v := ending(r); v != nil {
		j.violations = append(j.violations, *v)
	}
	for _, b := range x.breaches {
		g, _ := props.Lookup(b.Guarantee)
		j.violations = append(j.violations, history.Violation{Guarantee: b.Guarantee, Predicate: "bare", Sentence: g.Sentence, Text: b.Text})
	}
	if r.Races > 0 {
		j.violations = append(j.violations, raceViolation(r))
	}
	return j
}

func raceViolation(r *inprocess.Result) history.Violation {
	return history.Violation{
		Guarantee: "G2", Predicate: "S17", Sentence: "what happens in one goroutine is ordered before what sees it in another",
		Text: fmt.Sprintf("the race detector reported %d data races in this schedule: see above (where a goroutine began is right in the report of a replay)", r.Races),
	}
}

func newJudgement(sc Scenario, r *inprocess.Result, out props.Recording) (*judgement, error) {
	j := &judgement{}
	if v := ending(r); v != nil {
		j.violations = append(j.violations, *v)
	}
	if r.Races > 0 {
		j.violations = append(j.violations, raceViolation(r))
	}
	if out.Events == nil {
		return j, nil // the driver did not come back
	}
	v, err := sc.judge(out)
	if err != nil {
		return nil, err
	}
	j.violations = append(j.violations, v.Violations...)
	j.undecided, j.unrefined = v.Undecided, v.Unrefined
	for _, g := range props.Guarantees {
		if v.Exercised[g.ID] {
			j.exercised = append(j.exercised, g.ID)
		}
	}
	return j, nil
}

// judge judges a history, by the checks too that only chosen schedules allow.
func (sc Scenario) judge(out props.Recording) (props.Verdict, error) {
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
		return &history.Violation{Guarantee: "G12", Predicate: "deadlock", Sentence: "somebody can always go on", Text: "nobody can: " + where}
	case inprocess.Leaked:
		return &history.Violation{Guarantee: "G24", Predicate: "S16", Sentence: "nothing is left behind", Text: "goroutines are blocked for ever: " + where}
	case inprocess.Livelocked:
		return &history.Violation{Guarantee: "G12", Predicate: "livelock", Sentence: "a loop with nothing to do sleeps", Text: "everybody has his turn, again and again, and nothing comes of it: " + where}
	case inprocess.Panicked:
		return &history.Violation{Guarantee: "G14", Predicate: "panic", Sentence: "panics stay inside", Text: fmt.Sprintf("a panic left a goroutine: %v", r.Panic)}
	}
	return nil
}

// historyHash is the same for histories that differ only in the numbers of
// goroutines.
func historyHash(r *inprocess.Result, out props.Recording) [2]uint64 {
	h := hasher{uint64(r.Verdict) + 1, uint64(out.AlarmsLeft) + 7}
	if out.Events == nil {
		h.add(r.Class)
	}
	var seen [64]int64
	n := 0
	for i := range out.Events {
		e := &out.Events[i]
		g := 0
		for g < n && seen[g] != e.G {
			g++
		}
		if g == n && n < len(seen) {
			seen[n] = e.G
			n++
		}
		h.event(e, g)
	}
	return h
}

type hasher [2]uint64

func (h *hasher) add(v uint64) {
	h[0] = (h[0]^v)*0x9e3779b97f4a7c15 + 0x165667b19e3779f9
	h[0] ^= h[0] >> 29
	h[1] = (h[1]+v)*0xff51afd7ed558ccd ^ h[1]>>31
}

func (h *hasher) event(e *history.Event, g int) {
	h.add(uint64(g) | uint64(e.Kind)<<8 | uint64(e.Op)<<16 | uint64(e.Body)<<24 | uint64(e.Outcome)<<32 | uint64(e.From)<<40 | uint64(e.To)<<48)
	h.add(uint64(e.ID) | uint64(e.Call)<<32)
	h.add(uint64(e.At))
	h.add(uint64(e.Run) | uint64(e.Queued)<<16 | uint64(e.Lazy)<<32)
	h.add(uint64(e.Deadline))
	h.add(uint64(e.Until))
	h.add(uint64(e.Next))
	h.add(uint64(e.Cause))
	flags := uint64(0)
	if e.InLoop {
		flags |= 1
	}
	if e.Token {
		flags |= 2
	}
	h.add(flags)
	for i := range len(e.Note) {
		h.add(uint64(e.Note[i]))
	}
	if s := e.Stats; s != nil {
		for _, v := range [...]int{s.Accepted, s.Ran, s.Cancelled, s.Pending, s.Rejected, s.Panicked, s.Timers, s.Parks, s.Wakes, s.Registrations, s.Drained, s.Aborted, s.Discarded} {
			h.add(uint64(v))
		}
	}
}
