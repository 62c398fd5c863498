//go:build linux

package exits

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"time"

	"eventide/core"
	"eventide/core/process"
)

// badPlan is a plan with one mistake, and what the error names.
type badPlan struct {
	plan process.Plan
	says string
}

func does(context.Context) error { return nil }

func withStep(s process.Step) process.Plan { return process.Plan{Steps: []process.Step{s}} }

// idle is an executor that is never started.
func idle() process.Executor {
	ex, err := core.NewExecutor()
	if err != nil {
		panic(err)
	}
	return ex
}

// mostBadPlans is more than there are.
const mostBadPlans = 40

// badPlans returns plans with one mistake each. Their executors are of the bubble of the caller.
func badPlans() []badPlan {
	return []badPlan{
		{process.Plan{PreDrain: -1}, "PreDrain is -1ns"},
		{process.Plan{Deadline: -1}, "Deadline is -1ns"},
		{process.Plan{PreDrain: 25 * time.Second}, "PreDrain is 25s, want less than Deadline"},
		{process.Plan{PreDrain: time.Second, Deadline: time.Second}, "PreDrain is 1s, want less than Deadline"},
		{process.Plan{Health: &process.Health{StuckAfter: -1}}, "Health.StuckAfter is -1ns"},
		{process.Plan{Signals: []os.Signal{nil}}, "Signals[0] is nil"},
		{process.Plan{Signals: []os.Signal{syscall.SIGTERM, syscall.SIGKILL}}, "Signals[1] is killed"},
		{process.Plan{Signals: []os.Signal{syscall.SIGSTOP}}, "Signals[0]"},
		{process.Plan{Signals: []os.Signal{syscall.SIGPROF}}, "Signals[0]"},
		{process.Plan{Signals: []os.Signal{syscall.Signal(0)}}, "Signals[0]"},
		{process.Plan{Signals: []os.Signal{syscall.Signal(65)}}, "Signals[0]"},
		{process.Plan{Signals: []os.Signal{syscall.Signal(32)}}, "Signals[0]"},
		{process.Plan{Signals: []os.Signal{syscall.Signal(34)}}, "Signals[0]"},
		{process.Plan{Signals: []os.Signal{}}, "Signals is empty"},
		{process.Plan{Start: does, Starts: []process.Part{{Name: "a", Start: does}}}, "Start and Starts are both set"},
		{process.Plan{Starts: []process.Part{{Start: does}}}, "Starts[0].Name is empty"},
		{process.Plan{Starts: []process.Part{{Name: "a", Start: does}, {Name: "a", Start: does}}}, "Starts[1].Name is \"a\""},
		{process.Plan{Starts: []process.Part{{Name: "a"}}}, "Starts[0].Start is nil"},
		{withStep(process.Step{Run: does}), "Steps[0].Name is empty"},
		{process.Plan{Steps: []process.Step{{Name: "a", Run: does}, {Name: "a", Run: does}}}, "Steps[1].Name is \"a\", want one that Steps[0]"},
		{withStep(process.Step{Name: "a"}), "Run and Executor are nil"},
		{withStep(process.Step{Name: "a", Run: does, Executor: idle()}), "Run and Executor are both set"},
		{withStep(process.Step{Name: "a", Run: does, Deadline: -1}), "Steps[0].Deadline is -1ns"},
		{withStep(process.Step{Name: "a", Run: does, Quiet: 1}), "want 0 without Executor"},
		{withStep(process.Step{Name: "a", Run: does, Timeout: 1}), "want 0 without Executor"},
		{withStep(process.Step{Name: "a", Run: does, Drain: 1}), "want 0 without Executor"},
		{withStep(process.Step{Name: "a", Executor: idle(), Quiet: -1}), "Steps[0].Quiet is -1ns"},
		{withStep(process.Step{Name: "a", Executor: idle(), Timeout: -1}), "Steps[0].Timeout is -1ns"},
		{withStep(process.Step{Name: "a", Executor: idle(), Drain: -1}), "Steps[0].Drain is -1ns"},
		{withStep(process.Step{Name: "a", Executor: (*core.Executor)(nil)}), "Executor is a nil *core.Executor"},
		{withStep(process.Step{Name: "a", Executor: idle(), Quiet: 2, Timeout: 1}), "Timeout is 1ns, want at least Quiet"},
		{withStep(process.Step{Name: "a", Executor: idle(), Quiet: 6 * time.Second}), "Timeout is 5s, want at least Quiet"},
		{withStep(process.Step{Name: "a", Executor: idle(), Timeout: 1, Drain: 1, Deadline: 1}), "want one of them"},
		{withStep(process.Step{Name: "a", Executor: idle(), Timeout: 2, Deadline: 1}), "Deadline is 1ns, want at least Timeout"},
		{withStep(process.HTTP(nil, process.HTTPOptions{})), "srv is nil"},
		{withStep(process.Graceful(nil)), "the server is nil"},
	}
}

// runInside runs a plan inside the executor of one of its steps, which is refused.
func (r *run) runInside() {
	ex, err := core.NewExecutor()
	if err != nil {
		panic(err)
	}
	ended := idle()
	ended.Shutdown()
	report := make(chan process.Report, 1)
	if err := ex.Execute(func() {
		report <- process.RunReport(context.Background(), process.Plan{Steps: []process.Step{{Name: "does", Run: does}, {Name: "ended", Executor: ended}, {Name: "inside", Executor: ex}}})
	}); err != nil {
		panic(err)
	}
	if got := <-report; got.Code != process.CodeBadPlan || !errors.Is(got.Err, core.ErrInEventLoop) || !strings.Contains(got.Err.Error(), "\"inside\"") {
		r.violate("Run inside an executor of the plan: code %d and the error %v, want %d and one that wraps %v", got.Code, got.Err, process.CodeBadPlan, core.ErrInEventLoop)
	}
	if err := ex.Close(); err != nil {
		r.violate("the executor of a refused plan ends with %v", err)
	}
}

// makeBadCall runs the bad plan of the program, if there is one. Nothing may start.
func (r *run) makeBadCall() {
	all := badPlans()
	if r.p.BadPlan == mostBadPlans {
		r.runInside()
	}
	if r.p.BadPlan < 0 || r.p.BadPlan >= len(all) {
		return
	}
	bad := all[r.p.BadPlan]
	report := process.RunReport(context.Background(), bad.plan)
	if report.Code != process.CodeBadPlan || report.Err == nil || !strings.Contains(report.Err.Error(), bad.says) || strings.Contains(report.Err.Error(), "\n") {
		r.violate("a bad plan: code %d and the error %v, want %d and one error with %q", report.Code, report.Err, process.CodeBadPlan, bad.says)
	}
	if _, err := process.Exiting(context.Background()); err == nil {
		r.violate("Exiting accepts a context that is not that of Start")
	}
	if process.Ready(context.Background()) == nil {
		r.violate("Ready accepts a context that is not that of Start")
	}
	var none context.Context
	if _, err := process.Exiting(none); err == nil || process.Ready(none) == nil {
		r.violate("Exiting returns %v without a context, and Ready an error: %v", err, process.Ready(none) != nil)
	}
	if report := process.RunReport(none, process.Plan{}); report.Code != process.CodeBadPlan {
		r.violate("Run without a context has the code %d, want %d", report.Code, process.CodeBadPlan)
	}
}
