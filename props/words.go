package props

import (
	"context"
	"errors"

	"eventide/core"
	"eventide/props/history"
)

// reason returns the reason of a refusal, and other errors as they are. errors.Is finds the same in
// both, except for ErrRejected, but allocates memory for each look into a refusal.
func reason(err error) (why error, refusal bool) {
	if refused, is := err.(*core.RejectedError); is && refused.Reason != nil {
		return refused.Reason, true
	}
	return err, false
}

// answer returns the outcome for an error of core.
func answer(err error) history.Outcome {
	err, refusal := reason(err)
	switch {
	case err == nil:
		return history.Accepted
	case errors.Is(err, core.ErrShutdown): // first, as most refusals are of this kind
		return history.RefusedClosed
	case errors.Is(err, core.ErrInEventLoop):
		return history.RefusedInLoop
	case errors.Is(err, core.ErrStarting):
		return history.RefusedStarting
	case errors.Is(err, core.ErrQueueFull):
		return history.RefusedQueueFull
	case errors.Is(err, context.DeadlineExceeded):
		return history.Expired
	case errors.Is(err, core.ErrShutdownTimeout), errors.Is(err, errPoller), errors.Is(err, errClock):
		return history.RefusedClosed
	case refusal, errors.Is(err, core.ErrRejected):
		return history.RefusedStartFailed
	}
	return history.RefusedBadArgument
}

// waited returns the outcome for the error of a call that waits for the end. The error may
// be that of the executor.
func waited(err error) history.Outcome {
	if errors.Is(err, errPoller) || errors.Is(err, errClock) {
		return history.Errored
	}
	if out := answer(err); out != history.RefusedBadArgument && out != history.RefusedStartFailed {
		return out
	}
	return history.Errored
}

// result returns the outcome for the error of a complete future or timer.
func result(err error) history.Outcome {
	var panicked *core.PanicError
	switch {
	case err == nil:
		return history.Normal
	case errors.Is(err, core.ErrCancelled):
		return history.Cancelled
	case errors.Is(err, core.ErrGoexit):
		return history.Exited
	case errors.As(err, &panicked):
		return history.Panicked
	}
	return history.Errored
}

// cause returns the cause that an error of core stands for.
func cause(err error) history.Cause {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, core.ErrShutdownTimeout):
		return history.CauseTimeout
	case errors.Is(err, core.ErrShutdown):
		return history.CauseShutdown
	case errors.Is(err, core.ErrDescriptorReused):
		return history.CauseReused
	case errors.Is(err, errPoller), errors.Is(err, errClock):
		return history.CausePoller
	}
	return history.CauseOtherError
}

// text returns the text of an error for a log.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// statsWords returns those counters of a snapshot of core that a history has. Sample has all of them.
func statsWords(s core.Stats) history.Stats {
	return history.Stats{
		Accepted: int(s.Accepted), Ran: int(s.Ran), Cancelled: int(s.Cancelled), Pending: int(s.Pending),
		Rejected: int(s.Rejected), Panicked: int(s.Panicked), Timers: int(s.Timers),
		Parks: int(s.Parks), Wakes: int(s.Wakes),
	}
}
