package process

import (
	"context"
	"log/slog"
	"time"

	"eventide/core"
)

// shutDown is the Run of a step with an executor. passed is called if the timeout passes
// before the executor has ended. When ctx ends first it closes the executor, so that
// no task is accepted that would be lost, and waits on: the step is running as long as
// the executor is.
func shutDown(ex Executor, quiet, timeout time.Duration, passed func(*core.Termination)) func(context.Context) error {
	return func(ctx context.Context) error {
		term, err := ex.ShutdownGracefully(quiet, timeout)
		if err != nil {
			return err
		}
		timer := time.AfterFunc(timeout, func() { passed(term) })
		defer timer.Stop()
		select {
		case <-term.Done():
		case <-ctx.Done():
			ex.Shutdown()
			<-term.Done()
		}
		return term.Err()
	}
}

// timeoutPassed is logged at once: the accepted tasks may take long.
func (x *exit) timeoutPassed(step string) func(*core.Termination) {
	return func(term *core.Termination) {
		select {
		case <-term.Done():
			return
		default:
		}
		x.log.log(slog.LevelWarn, "timeout passed: accepted tasks run on, and no more are accepted", "step", step, "pending", pending(term.Report()))
	}
}

// pending returns how many accepted tasks have not ended.
func pending(r core.Report) int64 { return r.Accepted - r.Ran - r.Cancelled }

// closeExecutors closes those that have not ended: what they accepted from now on would be
// lost, and in no report. It does not wait for them, and little for a call of
// Shutdown that does not return.
func (x *exit) closeExecutors() {
	var calls []*attempt
	for i, s := range x.plan.Steps {
		if a := x.steps[i]; s.Executor == nil || a != nil && a.isOver() {
			continue
		}
		calls = append(calls, begin(context.Background(), time.Now(), func(context.Context) error {
			s.Executor.Shutdown()
			return nil
		}))
	}
	timer := time.NewTimer(heedTime)
	defer timer.Stop()
	for _, call := range calls {
		select {
		case <-call.over:
		case <-timer.C:
			return
		}
	}
}
