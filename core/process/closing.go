package process

import (
	"context"
	"log/slog"
	"time"

	"eventide/core"
)

// shutDown returns the Run function of a step with an executor. That function calls passed
// if the timeout passes before the executor has terminated. If ctx ends first, it closes the
// executor, so that the executor accepts no task that would be lost. Then it still waits for
// the termination: the step runs as long as its executor.
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

// timeoutPassed returns a function that logs the passed timeout of a step. It logs at once,
// because the accepted tasks may still take long.
func (x *exit) timeoutPassed(step string) func(*core.Termination) {
	return func(term *core.Termination) {
		if hasEnded(term) {
			return
		}
		x.log.log(slog.LevelWarn, "timeout passed: admission is closed, and accepted tasks continue", "step", step, "pending", pending(term.Report()))
	}
}

func hasEnded(term *core.Termination) bool {
	select {
	case <-term.Done():
		return true
	default:
		return false
	}
}

// pending returns how many accepted tasks have not ended.
func pending(r core.Report) int64 { return r.Accepted - r.Ran - r.Cancelled }

// closeExecutors closes each executor that has not terminated, also one whose step has failed: a
// task accepted from now on would be lost, and no report would count it. closeExecutors does
// not wait for terminations. It waits at most heedTime for calls of Shutdown to return.
func (x *exit) closeExecutors() {
	var calls []*attempt
	for i, s := range x.plan.Steps {
		if s.Executor == nil || hasEnded(x.terms[i]) {
			continue
		}
		calls = append(calls, begin(context.Background(), time.Now(), func(context.Context) error {
			s.Executor.Shutdown()
			return nil
		}))
	}
	late := time.After(heedTime)
	for _, call := range calls {
		select {
		case <-call.over:
		case <-late:
			return
		}
	}
}
