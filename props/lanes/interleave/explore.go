package interleave

import (
	"fmt"
	"slices"
	"time"

	"eventide/props"
	"eventide/props/history"
	"eventide/props/interleave/inprocess"
	"eventide/props/lane"
	"eventide/props/lanes/interleave/bare"
)

// Scenario is a program and how its clock moves.
type Scenario struct {
	Name    string              `json:"name,omitempty"`
	Program props.Program       `json:"program"`
	Bare    *bare.Config        `json:"bare,omitempty"`  // instead of Program: without a Tracer
	Group   *props.GroupProgram `json:"group,omitempty"` // instead of Program: several executors
	Time    inprocess.TimeMode  `json:"time"`
}

// writesHistory reports whether a run is judged by its events. Other runs return their
// violations themselves.
func (sc Scenario) writesHistory() bool { return sc.Bare == nil && sc.Group == nil }

// text is the program as a report shows it.
func (sc Scenario) text() string {
	switch {
	case sc.Bare != nil:
		return fmt.Sprintf("without a tracer: %+v\n", *sc.Bare)
	case sc.Group != nil:
		return fmt.Sprintf("group: %+v\n", *sc.Group)
	}
	return sc.Program.String()
}

// Found is a schedule that broke a guarantee.
type Found struct {
	Scenario  Scenario
	Violation history.Violation
	Others    []history.Violation
	Switches  []inprocess.Switch
	Strategy  string
	Schedule  int // which of the scenario's schedules, from 1
	Verdict   inprocess.Verdict

	events     []history.Event
	goroutines []int64 // of the actors of the program, in its order
	result     *inprocess.Result
}

// Explorer runs schedules of one scenario after the other.
type Explorer struct {
	Options inprocess.Options
	Check   int // each Check-th schedule runs a second time and must be the same; 0: none does
	Sample  int // this schedule of each call of Explore is traced, for Conflicts; 0: none

	Coverage
	breaches []bare.Breach   // of the last run
	spare    []history.Event // buffer of the last run, reused by the next
	classes  map[uint64]uint8
	judged   map[uint64]props.Verdict
	cost     time.Duration // of judging
}

// NewExplorer returns an explorer that has seen nothing.
func NewExplorer() *Explorer {
	x := &Explorer{Check: 500, Coverage: newCoverage()}
	x.Forget()
	return x
}

// Forget begins a new scenario: it forgets classes and histories, which belong to one
// program.
func (x *Explorer) Forget() {
	x.classes = map[uint64]uint8{}
	x.judged = map[uint64]props.Verdict{}
}

// stepsPerTask is more than a task takes that submits the next one, with the race detector too.
const stepsPerTask = 150

// maxSteps returns how many operations a schedule may have before it counts as endless. A loop
// that runs many short tasks is busy and not in a livelock, though nothing ends or blocks.
func (sc Scenario) maxSteps() int {
	tasks := 0
	sc.Program.AnyStep(func(s *props.Step) bool {
		if s.Body != nil {
			tasks += max(1, s.Times) * s.Body.Again
		}
		return false
	})
	return inprocess.DefaultMaxSteps + stepsPerTask*tasks
}

// run makes one schedule. Its results are valid until the next run.
func (x *Explorer) run(sc Scenario, st *inprocess.Strategy, trace bool) (*inprocess.Result, props.Recording) {
	var out props.Recording
	opt := x.Options
	opt.Time, opt.Trace, opt.MaxSteps = sc.Time, trace, max(x.Options.MaxSteps, sc.maxSteps())
	x.breaches = nil
	switch {
	case sc.Bare != nil:
		return inprocess.Run(st, opt, func() { x.breaches = bare.Run(*sc.Bare) }), out
	case sc.Group != nil:
		return inprocess.Run(st, opt, func() {
			if text := sc.Group.Run(); text != "" {
				x.breaches = []bare.Breach{{Guarantee: "G21", Text: text}}
			}
		}), out
	}
	r := inprocess.Run(st, opt, func() { out = props.RunIn(x.spare, sc.Program) })
	x.spare = out.Events[:0]
	return r, out
}

// Explore makes schedules until one breaks a guarantee, the strategy has no more, or
// enough returns true. It returns an error if a repeated schedule runs differently:
// then no result of the lane is valid.
func (x *Explorer) Explore(sc Scenario, st *inprocess.Strategy, enough func(schedules int) bool) (*Found, error) {
	began, cpu := time.Now(), lane.ProcessTime()
	defer func() {
		x.Elapsed += time.Since(began)
		x.Processor += lane.ProcessTime() - cpu
	}()
	for n := 1; !enough(n-1) && st.Begin(); n++ {
		r, out := x.run(sc, st, false)
		isNew := x.count(r)
		st.End(r, isNew)
		x.PCT.add(sc, st, r)
		if r.Verdict == inprocess.Pruned {
			continue
		}
		v, err := x.judge(sc, r, out)
		if err != nil {
			return nil, err
		}
		if len(v.Violations) > 0 {
			return &Found{
				Scenario: sc, Violation: v.Violations[0], Others: v.Violations[1:],
				Switches: append([]inprocess.Switch(nil), r.Switches...), Strategy: st.Name(), Schedule: n, Verdict: r.Verdict,
				events: slices.Clone(out.Events), goroutines: out.Goroutines, result: r,
			}, nil
		}
		if sampled := n == x.Sample; sampled || x.Check > 0 && n%x.Check == 0 {
			again, err := x.repeat(sc, r, sampled)
			if err != nil {
				return nil, err
			}
			x.Conflicts.add(again.Trace)
		}
	}
	return nil, nil
}

// count adds a schedule to the coverage, and reports whether its class is new.
func (x *Explorer) count(r *inprocess.Result) (isNew bool) {
	x.Schedules++
	x.Steps += r.Steps
	for _, site := range r.Unfair {
		x.Fairness[site]++
	}
	if r.Verdict == inprocess.Pruned {
		x.Pruned++
		return false
	}
	if r.Verdict == inprocess.OutOfSteps {
		x.Undecided++
	}
	switch x.classes[r.Class] {
	case 0:
		x.classes[r.Class] = 1
		x.Classes++
		x.Singles++
		return true
	case 1:
		x.classes[r.Class] = 2
		x.Singles--
	}
	return false
}

// repeat runs the schedule of r once more, and returns an error if it runs differently.
func (x *Explorer) repeat(sc Scenario, r *inprocess.Result, trace bool) (*inprocess.Result, error) {
	first := *r
	again := inprocess.NewReplay(append([]inprocess.Switch(nil), r.Switches...))
	again.Begin()
	second, _ := x.run(sc, again, trace)
	if err := sameSchedule(&first, second); err != nil {
		return nil, fmt.Errorf("%w\n%v", err, sc.Program)
	}
	return second, nil
}

// sameSchedule returns an error if two runs of a schedule differ.
func sameSchedule(first, second *inprocess.Result) error {
	if second.Class == first.Class && second.Steps == first.Steps && second.Verdict == first.Verdict {
		return nil
	}
	return fmt.Errorf("interleave: the same schedule ran differently: %d steps, class %x, %v; then %d steps, class %x, %v: something in it is not controlled",
		first.Steps, first.Class, first.Verdict, second.Steps, second.Class, second.Verdict)
}
