package process

import (
	"math"
	"math/big"
	"testing"
	"time"

	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// saturated returns the sum of all, or the longest duration if the sum is longer.
func saturated(all ...time.Duration) time.Duration {
	total := new(big.Int)
	for _, d := range all {
		total.Add(total, big.NewInt(int64(d)))
	}
	if !total.IsInt64() {
		return math.MaxInt64
	}
	return time.Duration(total.Int64())
}

// drawTime draws a duration of a valid plan: 0 for none, the shortest and the longest, those beside the default times, and any.
func drawTime(t *rapid.T, what string) time.Duration {
	return rapid.OneOf(
		rapid.SampledFrom([]time.Duration{0, 0, 1, 2, 3, time.Second - 1, time.Second, time.Second + 1, 2 * time.Second, DefaultStepDeadline, DefaultStepDeadline + 1, math.MaxInt64}),
		rapid.Map(rapid.Int64Range(0, int64(20*time.Second)), func(n int64) time.Duration { return time.Duration(n) }),
	).Draw(t, what)
}

// drawBudgetStep draws a step with valid times.
func drawBudgetStep(t *rapid.T, ex Executor) Step {
	if rapid.Bool().Draw(t, "Run") {
		return Step{Deadline: drawTime(t, "Deadline"), patient: rapid.Bool().Draw(t, "patient")}
	}
	s := Step{Executor: ex, Timeout: drawTime(t, "Timeout")}
	timeout := s.Timeout
	if timeout == 0 {
		timeout = DefaultStepDeadline
	}
	s.Quiet = min(timeout, drawTime(t, "Quiet"))
	switch rapid.SampledFrom([]string{"Drain", "Deadline", "neither"}).Draw(t, "bound") {
	case "Drain":
		s.Drain = drawTime(t, "Drain")
	case "Deadline":
		s.Deadline = max(timeout, drawTime(t, "Deadline"))
	}
	return s
}

// reserved returns the time that the doc comment of Step reserves for later steps, and for the reports of
// those that are left running.
func reserved(steps []Step) (total time.Duration) {
	for _, s := range steps {
		switch {
		case s.Deadline != 0:
			total = saturated(total, s.Deadline)
		case s.Executor == nil:
			total = saturated(total, time.Second)
		case s.Drain != 0:
			total = saturated(total, max(s.Timeout, s.Quiet), s.Drain)
		default:
			total = saturated(total, max(s.Timeout, s.Quiet), time.Second)
		}
		total = saturated(total, heedTime)
	}
	return total
}

// wantBudget is the specification of the times of the first step, for left until the Deadline of the plan.
func wantBudget(steps []Step, left time.Duration) budget {
	s, later := steps[0], reserved(steps[1:])
	if s.Executor == nil {
		// Later steps together reserve at most half of left.
		most := left - min(later, left-left/2)
		switch {
		case s.Deadline != 0:
			return budget{limit: s.Deadline}
		case s.patient:
			return budget{limit: most - min(100*time.Millisecond, most/2)}
		}
		return budget{limit: min(DefaultStepDeadline, most)}
	}
	timeout, drain := s.Timeout, s.Drain
	if timeout == 0 {
		timeout = DefaultStepDeadline
	}
	if drain == 0 {
		drain = time.Second
	}
	timeout = max(s.Quiet, min(timeout, left-min(drain, left/2)))
	switch rest := left - timeout; {
	case s.Deadline != 0:
		return budget{timeout, s.Deadline}
	case s.Drain != 0:
		return budget{timeout, saturated(timeout, s.Drain)}
	case rest < 0: // Quiet is longer than the remaining time
		return budget{timeout, timeout}
	default:
		return budget{timeout, saturated(timeout, rest-min(later, rest-rest/2))}
	}
}

// TestPropBudgets compares the time of a step, of NotReady and of PreDrain with the doc comments of Step and Plan, to the
// nanosecond. No sum of durations overflows.
func TestPropBudgets(t *testing.T) {
	ex := coretest.NewExecutor(t)
	rapid.Check(t, func(t *rapid.T) {
		p := &Plan{PreDrain: drawTime(t, "PreDrain"), Deadline: drawTime(t, "the Deadline of the plan")}
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			p.Steps = append(p.Steps, drawBudgetStep(t, ex))
		}
		deadline := p.Deadline
		if deadline == 0 {
			deadline = DefaultDeadline
		}
		left := min(deadline, drawTime(t, "left"))
		i := rapid.IntRange(0, len(p.Steps)-1).Draw(t, "step")
		if got, want := p.budget(i, left), wantBudget(p.Steps[i:], left); got != want {
			t.Fatalf("step %d with %v left has %+v, want %+v", i, left, got, want)
		}
		all := reserved(p.Steps)
		if got, want := p.notReadyTime(left), min(DefaultStepDeadline, left-min(saturated(p.PreDrain, all), left-left/2)); got != want {
			t.Fatalf("NotReady has %v of %v, want %v", got, left, want)
		}
		lack := max(0, min(deadline-left, saturated(p.PreDrain, all-left)))
		if got, want := p.preDrainTime(left), max(0, p.PreDrain-lack); got != want {
			t.Fatalf("PreDrain with %v left is %v, want %v", left, got, want)
		}
	})
}
