package process

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"

	"eventide/core"
	"eventide/core/internal/netpoll"
)

// Run calls plan.Start and, when the exit begins, runs the steps; see the package
// comment. It returns the exit code when every step has ended or been left behind, when
// plan.Deadline has passed since the exit began, or at once after the second signal:
//
//	os.Exit(process.Run(ctx, plan))
//
// It returns up to 100 ms later if Shutdown of an executor does not return, and up to 100
// ms later if Logger blocks.
//
// The end of ctx begins the exit and does not cut it short. Only signals force an exit: if
// ctx or Start began it, the first signal is logged and the second one forces.
//
// Run logs a wrong plan, or a call from inside an executor of the plan, and returns
// CodeBadPlan before it starts anything.
//
// The first timer of a process needs two descriptors; without them the Go runtime would end
// the process in the middle of the exit. If they are missing, Run logs that and returns
// CodeFailed before it starts anything. Run checks for two free descriptors even if the
// process already has a timer, unless an executor was made before.
//
// Steps that still run when Run returns are left running; os.Exit ends them. By then the
// executors of the plan accept no more tasks.
func Run(ctx context.Context, plan Plan) int { return RunReport(ctx, plan).Code }

// RunReport is like Run, and returns the whole report.
func RunReport(ctx context.Context, plan Plan) Report {
	return runWith(ctx, plan, subscribe)
}

// source subscribes to the wanted signals. stop ends the subscription.
type source func(wanted []os.Signal) (signals <-chan os.Signal, stop func())

// subscribe is the source of a real process.
func subscribe(wanted []os.Signal) (<-chan os.Signal, func()) {
	// A third signal changes nothing, so two are enough for none to be missed.
	signals := make(chan os.Signal, 2)
	if len(wanted) > 0 { // to Notify, none means all
		signal.Notify(signals, wanted...)
	}
	letPipesBreak := surviveBrokenPipes()
	return signals, func() {
		signal.Stop(signals)
		letPipesBreak()
	}
}

func runWith(ctx context.Context, plan Plan, from source) Report {
	log := &scribe{logger: plan.Logger, ctx: context.Background()}
	if err := netpoll.Open(); err != nil {
		err = fmt.Errorf("process: Run: %w", err)
		log.log(slog.LevelError, "not started", "error", err, "code", CodeFailed)
		log.flushWithoutTimer()
		return Report{Code: CodeFailed, Err: err}
	}
	terms, err := check(ctx, &plan)
	if err != nil {
		log.log(slog.LevelError, "not started", "error", err, "code", CodeBadPlan)
		log.flush(heedTime)
		return Report{Code: CodeBadPlan, Err: err}
	}
	values := context.WithoutCancel(ctx)
	log.ctx = values
	signals, stop := from(plan.signals())
	defer stop()
	defer log.flush(heedTime) // before stop: after it a broken pipe kills the process

	x := &exit{plan: &plan, terms: terms, log: log, signals: signals, steps: make([]*attempt, len(plan.Steps)),
		manager: newSupervisor(os.Getenv, os.Getpid(), log), monitor: newMonitor(plan.Steps)}
	x.begun, x.begin = context.WithCancelCause(ctx)
	x.forced, x.force = context.WithCancelCause(values)
	defer x.begin(nil)
	defer x.force(nil)
	defer x.watch()()
	return x.run(values)
}

// check returns the mistakes of the plan or the call as an error, or else the Termination
// of each step's executor.
func check(ctx context.Context, plan *Plan) ([]*core.Termination, error) {
	if err := checkCall(ctx, plan); err != nil {
		return nil, err
	}
	return terminations(plan.Steps)
}
