package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// TestPropG18RunInsideAnExecutor: Run refuses a plan with the executor that calls it, whichever step has it, and whatever has
// become of the executors before it. An executor that has ended is not the caller, even if its error matches
// ErrInEventLoop: its step is done, or has failed.
func TestPropG18RunInsideAnExecutor(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		kinds := rapid.SliceOfN(rapid.SampledFrom([]string{"running", "ended", "failed", "none"}), 0, 3).Draw(r, "executors")
		at := rapid.IntRange(-1, len(kinds)).Draw(r, "the step of the caller") // -1: the plan does not have it
		inside := rapid.Bool().Draw(r, "called inside")
		var got Report
		synctest.Test(t, func(t *testing.T) { got = runInside(t, kinds, at, inside) })
		code := CodeClean
		for _, kind := range kinds {
			if kind == "failed" {
				code = CodeFailed
			}
		}
		if at >= 0 && inside {
			if got.Code != CodeBadPlan || !errors.Is(got.Err, core.ErrInEventLoop) || !strings.Contains(got.Err.Error(), `step "the caller"`) {
				r.Fatalf("G18: code %d, error %v, want %d, and an error that names the step", got.Code, got.Err, CodeBadPlan)
			}
			return
		}
		if got.Code != code || got.Err != nil {
			r.Fatalf("code %d, error %v, want %d; inside %v, step %d, executors %q", got.Code, got.Err, code, inside, at, kinds)
		}
	})
}

// runInside calls RunReport, on an executor if inside is set. Its step comes before executor number at.
func runInside(t *testing.T, kinds []string, at int, inside bool) (got Report) {
	caller := coretest.NewExecutor(t)
	plan := Plan{Logger: slog.New(slog.DiscardHandler)}
	for i := range len(kinds) + 1 {
		if i == at {
			plan.Steps = append(plan.Steps, Step{Name: "the caller", Executor: caller})
		}
		if i == len(kinds) {
			break
		}
		step := Step{Name: fmt.Sprint("s", i)}
		switch kinds[i] {
		case "none":
			step.Run = func(context.Context) error { return nil }
		case "failed":
			ex := coretest.NewExecutor(t, core.WithSpawner(func(func()) error {
				return fmt.Errorf("no luck: %w, %w", core.ErrStarting, core.ErrInEventLoop)
			}))
			<-ex.Shutdown().Done()
			step.Executor = ex
		default:
			ex := coretest.NewExecutor(t)
			if step.Executor = ex; kinds[i] == "ended" {
				coretest.Must(t, ex.Close())
			}
		}
		plan.Steps = append(plan.Steps, step)
	}
	run := func() { got = runToEnd(t, plan) }
	if inside {
		coretest.OnLoop(t, caller, run)
	} else {
		run()
	}
	return got
}
