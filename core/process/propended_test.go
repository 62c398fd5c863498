package process

import (
	"context"
	"flag"
	"os"
	"testing"
	"time"

	"eventide/core"

	"pgregory.net/rapid"
)

// partState is the state of a part of an exit when Run makes the report.
type partState string

const (
	notBegun    partState = "not begun"
	endedEarly  partState = "ended before the deadline"
	endedLate   partState = "ended at the deadline or later"
	leftBehind  partState = "left behind at its own deadline"
	endedBehind partState = "ended after its own deadline"
	unended     partState = "still running"
)

// inTime reports whether the part lets the exit end before the deadline.
func (s partState) inTime() bool { return s == endedEarly || s == leftBehind || s == endedBehind }

// attempt returns an attempt in this state. The exit began at began.
func (s partState) attempt(t *rapid.T, began time.Time, deadline time.Duration) *attempt {
	if s == notBegun {
		return nil
	}
	a := &attempt{began: began, over: make(chan struct{}), late: s == leftBehind || s == endedBehind}
	switch s {
	case endedEarly:
		a.ended = began.Add(deadline - rapid.SampledFrom([]time.Duration{1, deadline / 2, deadline}).Draw(t, "before the deadline"))
	case endedLate, endedBehind:
		a.ended = began.Add(deadline + rapid.SampledFrom([]time.Duration{0, 1, deadline}).Draw(t, "after the deadline"))
	}
	if !a.ended.IsZero() {
		close(a.over)
	}
	return a
}

// TestPropG11WhyAnExitHasEnded: the deadline has ended an exit only if it has passed, and a step was not begun by then,
// or a part neither had ended nor was left behind. Run may make the report later: what counts is when each part has ended.
// A second signal always counts.
func TestPropG11WhyAnExitHasEnded(t *testing.T) {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		for range 5 {
			checkWhyEnded(t, r)
		}
	})
}

// checkWhyEnded draws one exit and checks its report.
func checkWhyEnded(t *testing.T, r *rapid.T) {
	const deadline = time.Hour
	plan := &Plan{Deadline: deadline}
	draw := func(part string, states ...partState) partState { return rapid.SampledFrom(states).Draw(r, part) }
	all := []partState{endedEarly, notBegun, endedLate, leftBehind, endedBehind, unended}
	var steps []partState
	for range rapid.IntRange(0, 3).Draw(r, "steps") {
		steps = append(steps, draw("step", all...))
		plan.Steps = append(plan.Steps, Step{Name: "step", Run: func(context.Context) error { return nil }})
	}
	notReady, start := notBegun, notBegun
	if rapid.Bool().Draw(r, "NotReady") {
		notReady, plan.NotReady = draw("NotReady", endedEarly, endedLate, leftBehind, endedBehind, unended), func() {}
	}
	if rapid.Bool().Draw(r, "Start") {
		start, plan.Start = draw("Start", endedEarly, endedLate, leftBehind, endedBehind, unended), func(context.Context) error { return nil }
	}
	cut := rapid.SampledFrom([]bool{false, false, true}).Draw(r, "PreDrain is cut")
	second := rapid.SampledFrom([]bool{false, false, true}).Draw(r, "a second signal")
	passed := rapid.Bool().Draw(r, "the deadline has passed")

	var want error
	inTime := !cut && (notReady == notBegun || notReady.inTime()) && (start == notBegun || start.inTime())
	for _, s := range steps {
		inTime = inTime && s.inTime()
	}
	forced := &SignalError{Signal: os.Interrupt, Second: true}
	switch {
	case second:
		want = forced
	case passed && !inTime:
		want = ErrDeadline
	case start == leftBehind || start == unended:
		want = ErrStepDeadline
	}
	began := time.Now()
	if passed {
		began = began.Add(-2 * deadline)
	}
	by, force := context.WithCancelCause(t.Context())
	defer force(nil)
	if second {
		force(forced)
	}
	whole, release := context.WithDeadlineCause(by, began.Add(deadline), ErrDeadline)
	defer release()
	x := &exit{plan: plan, terms: make([]*core.Termination, len(steps)), log: discard(t), whole: whole, preDrainCut: cut,
		notReady: notReady.attempt(r, began, deadline), start: start.attempt(r, began, deadline)}
	for _, s := range steps {
		x.steps = append(x.steps, s.attempt(r, began, deadline))
	}
	if got := x.report(nil, began); got.Ended != want {
		r.Fatalf("G11: Ended is %v, want %v; the parts: NotReady %s, steps %q, Start %s", got.Ended, want, notReady, steps, start)
	}
}
