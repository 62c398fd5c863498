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

// Run runs plan.Start and ends the process in order; see the package comment for
// how. It returns the exit code when every step has ended or been left behind, at
// plan.Deadline after the exit began, or at once with the second signal:
//
//	os.Exit(process.Run(ctx, plan))
//
// It returns up to 100 ms later if an executor does not return from Shutdown, and up
// to 100 ms later if Logger blocks.
//
// The end of ctx begins the exit, and does not cut it short. Signals are counted
// by themselves: after an exit that ctx or Start began, the first one is only
// logged, and the second forces.
//
// A wrong plan, and a call from inside an executor of it, are logged and return
// CodeBadPlan at once, before anything has started. So is a process without the two
// descriptors that its first timer needs, where the runtime would end it in the middle of
// the exit: the code is CodeFailed. Unless an executor has been made before, Run needs these
// two even if a timer has been set already. Steps that are still running when
// Run returns are left running, for os.Exit to end; the executors of the plan accept
// nothing more by then.
func Run(ctx context.Context, plan Plan) int { return RunReport(ctx, plan).Code }

// RunReport is Run, and says how it went.
func RunReport(ctx context.Context, plan Plan) Report {
	return runWith(ctx, plan, subscribe)
}

// source says where signals come from. stop ends the subscription.
type source func(wanted []os.Signal) (signals <-chan os.Signal, stop func())

// subscribe is the source of a real process.
func subscribe(wanted []os.Signal) (<-chan os.Signal, func()) {
	// Two, as no third one changes anything: none of them waits for a reader.
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
	log := &scribe{logger: plan.logger(), ctx: context.Background()}
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
	defer log.flush(heedTime) // before stop: until then a broken pipe kills nobody

	x := &exit{plan: &plan, terms: terms, log: log, signals: signals, steps: make([]*attempt, len(plan.Steps))}
	x.asked, x.ask = context.WithCancelCause(ctx)
	x.forced, x.force = context.WithCancelCause(values)
	defer x.ask(nil)
	defer x.force(nil)
	defer x.watch()()
	return x.run(values)
}

// check finds what is wrong with the plan or the call, and returns the
// Termination of each step's executor.
func check(ctx context.Context, plan *Plan) ([]*core.Termination, error) {
	if err := checkCall(ctx, plan); err != nil {
		return nil, err
	}
	return terminations(plan.Steps)
}
