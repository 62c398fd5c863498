package interleave

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"eventide/props"
	"eventide/props/history"
	"eventide/props/lanes/interleave/det"

	"github.com/anishathalye/porcupine"
)

// judgement is what the properties say of one history. A history that comes again
// is not judged again.
type judgement struct {
	violations []history.Violation
	exercised  []string
	undecided  bool
	unrefined  bool // the model was not asked, see asModelled
}

// rules says what a history of the lane shows. Where the clock moves only when
// nobody can run, time is as exact as in the virtual lane. Where it may move between
// any two steps, how late something is says nothing, and what is judged is the
// order of things, and that nothing is early.
func rules(sc Scenario) history.Rules {
	r := props.RulesOf(sc.Program)
	if sc.Time != det.Idle {
		r.Virtual = false
		r.Parts &^= history.QuietPeriod | history.Deadlines
	}
	return r
}

// judge applies every predicate, the refinement and the check of linearizability.
func (x *Explorer) judge(sc Scenario, r *det.Result, out props.Outcome) (*judgement, error) {
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
func (x *Explorer) judgeBreaches(r *det.Result) *judgement {
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

func raceViolation(r *det.Result) history.Violation {
	return history.Violation{
		Guarantee: "G2", Predicate: "S17", Sentence: "what happens in one goroutine is ordered before what sees it in another",
		Text: fmt.Sprintf("the race detector reported %d data races in this schedule: see above (where a goroutine began is right in the report of a replay)", r.Races),
	}
}

func newJudgement(sc Scenario, r *det.Result, out props.Outcome) (*judgement, error) {
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
	if broken := props.NameEnds(out.Events); broken != nil {
		j.violations = append(j.violations, *broken)
		return j, nil
	}
	if err := j.history(sc, out.Events, rules(sc)); err != nil {
		return nil, err
	}
	if out.AlarmsLeft > 0 {
		j.violations = append(j.violations, history.Violation{
			Guarantee: "G24", Predicate: "S16", Sentence: "nothing is left behind",
			Text: fmt.Sprintf("%d alarms were still set after done", out.AlarmsLeft),
		})
	}
	return j, nil
}

// history judges what was written down.
func (j *judgement) history(sc Scenario, events []history.Event, rules history.Rules) error {
	forHistory := rules
	if sc.Time != det.Idle {
		forHistory.Timers = history.AnyTimers // which were due at the call depends on when it read the clock
	}
	h, err := history.Of(events, forHistory)
	if err != nil {
		return err
	}
	// First what blames the step at fault: it is over soonest.
	for _, v := range []*history.Violation{overfull(sc.Program, events), unwoken(sc.Program, events), overslept(sc, events)} {
		if v != nil {
			j.violations = append(j.violations, *v)
		}
	}
	premises := map[string]int{}
	for _, v := range h.Check() {
		if v.Predicate.Name == "V8" && listens(sc.Program) {
			continue
		}
		if v.Predicate.Name == "V6" && sc.Time != det.Idle {
			continue // alarms that were stopped too late may all come in one instant
		}
		j.violations = append(j.violations, v.Violations...)
		premises[v.Predicate.Name] = v.Premise
	}
	if events, ok := asModelled(events); !ok {
		j.unrefined = true
	} else if broken := props.Refine(events, rules); broken != nil {
		j.violations = append(j.violations, *broken)
	}
	switch linearizable(h, events, forHistory) {
	case porcupine.Illegal:
		j.violations = append(j.violations, history.Violation{
			Guarantee: "G5", Predicate: "REF3", Sentence: "each call takes effect at one moment",
			Text: "no order of the calls explains their answers",
		})
	case porcupine.Unknown:
		j.undecided = true
	}
	j.exercised = exercised(events, premises)
	return nil
}

func exercised(events []history.Event, premises map[string]int) (ids []string) {
	for _, g := range props.Guarantees {
		did := g.Premise != nil && g.Premise(events) > 0
		if g.Premise == nil {
			for _, name := range g.Predicates {
				did = did || premises[name] > 0
			}
		}
		if did {
			ids = append(ids, g.ID)
		}
	}
	return ids
}

// ending returns what is wrong with the way in which a run ended.
func ending(r *det.Result) *history.Violation {
	where := strings.Join(r.Blocked, "; ")
	switch r.Verdict {
	case det.Deadlocked:
		return &history.Violation{Guarantee: "G12", Predicate: "deadlock", Sentence: "somebody can always go on", Text: "nobody can: " + where}
	case det.Leaked:
		return &history.Violation{Guarantee: "G24", Predicate: "S16", Sentence: "nothing is left behind", Text: "goroutines are blocked for ever: " + where}
	case det.Livelocked:
		return &history.Violation{Guarantee: "G12", Predicate: "livelock", Sentence: "a loop with nothing to do sleeps", Text: "everybody has his turn, again and again, and nothing comes of it: " + where}
	case det.Panicked:
		return &history.Violation{Guarantee: "G14", Predicate: "panic", Sentence: "panics stay inside", Text: fmt.Sprintf("a panic left a goroutine: %v\n%s", r.Panic.Value, r.Panic.Stack)}
	}
	return nil
}

// historyHash is the same for histories that differ only in the numbers of
// goroutines.
func historyHash(r *det.Result, out props.Outcome) [2]uint64 {
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

// listens reports whether a listener may be added to a future that is complete: that
// wakes the loop, and is no call that a history shows, so that V8 would blame it.
func listens(p props.Program) bool {
	return anyStep(p, func(s props.Step) bool { return s.Body != nil && s.Body.Listen })
}

// anyStep reports whether what is true of any step, those of bodies included.
func anyStep(p props.Program, what func(props.Step) bool) bool {
	var in func([]props.Step) bool
	in = func(steps []props.Step) bool {
		return slices.ContainsFunc(steps, func(s props.Step) bool {
			b := s.Body
			return what(s) || b != nil && (in(b.Steps) || b.Listener != nil && in(b.Listener.Steps))
		})
	}
	return slices.ContainsFunc(p.Actors, func(a props.Actor) bool { return in(a.Steps) })
}

// asModelled returns the events with a few things put as the model puts them: where
// a history shows a moment later than the one that counts. In the virtual lane
// hardly anything comes in between the two; here everything does.
//
// If the timeout passes while the shutdown call is being made, the call closes
// admission itself: to the model that is a call without a timeout.
//
// A start that failed before a shutdown call may be told to its callers after it. To
// the model the refusal would be the end of the executor. That what was refused never
// runs still holds without it.
//
// A cancel that came too late, because it was decided that the body begins, may be
// there before the Begin. A refusal for a full queue may be there after bodies have
// begun that made room. S11 and S4 judge those two, the model is not asked.
//
// A cancel of a periodic timer may come true after it was decided that a run begins,
// which is then its last. The model has no step for that: false.
func asModelled(events []history.Event) (_ []history.Event, ok bool) {
	e := editor{events: events, open: map[int64]int{}}
	for i := range events {
		e.look(i)
	}
	return e.events, !e.beyond
}

type editor struct {
	events []history.Event
	copied bool
	open   map[int64]int // goroutine -> Invoke of the graceful shutdown that it makes
	asked  bool          // a shutdown call has come, or a failure
	up     bool          // the loop has run
	failed bool          // a start that failed has ended the executor
	beyond bool          // the model has no step for something
}

func (e *editor) look(i int) {
	ev := &e.events[i]
	switch {
	case ev.Kind == history.Admit && (ev.Op == history.OpShutdownGracefully || ev.Op == history.OpClose) && ev.Outcome == history.True:
		e.open[ev.G] = ev.Call
	case ev.Kind == history.Return && ev.Call == e.open[ev.G]:
		delete(e.open, ev.G)
	case ev.Kind == history.Transit && ev.To == history.Shutdown && e.open[ev.G] != 0:
		e.edit()
		call := &e.events[e.open[ev.G]-1]
		call.Quiet, call.Timeout = 0, 0
	case ev.Kind == history.Admit && ev.Outcome == history.Refused && e.asked && !e.failed && e.startFailed(ev.Call):
		e.drop(ev.Call)
	case ev.Kind == history.Admit && ev.Outcome == history.False && ev.Op == history.OpCancel && e.begins(i, ev.ID):
		e.drop(ev.Call)
	case ev.Kind == history.Admit && ev.Outcome == history.True && ev.Op == history.OpCancel && e.begins(i, ev.ID):
		e.beyond = true
	case ev.Kind == history.Return && ev.Outcome == history.RefusedQueueFull && e.begunSince(ev.Call, i):
		e.drop(ev.Call)
	}
	e.up = e.up || ev.Kind == history.Park || ev.Kind == history.Transit && ev.To == history.Started
	if ev.Kind == history.Transit && ev.To >= history.ShuttingDown {
		e.asked = true
		// Of one that has been up it is the poller that failed.
		e.failed = e.failed || !e.up && ev.Cause.Failure()
	}
}

// drop makes a call no step of the model.
func (e *editor) drop(call int) {
	e.edit()
	e.events[call-1].Op = history.OpStats
}

// begins reports whether the body begins after the i-th event.
func (e *editor) begins(i, id int) bool {
	return slices.ContainsFunc(e.events[i:], func(ev history.Event) bool { return ev.Kind == history.Begin && ev.ID == id })
}

// begunSince reports whether a body has begun during a call.
func (e *editor) begunSince(call, i int) bool {
	return slices.ContainsFunc(e.events[call:i], func(ev history.Event) bool { return ev.Kind == history.Begin })
}

func (e *editor) edit() {
	if !e.copied {
		e.events, e.copied = append([]history.Event(nil), e.events...), true
	}
}

func (e *editor) startFailed(call int) bool {
	for _, ev := range e.events {
		if ev.Kind == history.Return && ev.Call == call {
			return ev.Outcome == history.RefusedStartFailed
		}
	}
	return false
}
