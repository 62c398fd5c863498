package process

import (
	"errors"
	"log/slog"
	"time"

	"eventide/core"
)

// logBegin is the first line of an exit.
func (x *exit) logBegin(cause error) {
	level := slog.LevelInfo
	if x.startFailed() {
		x.logStart()
		level = slog.LevelError
	}
	if part := (*PartError)(nil); errors.As(cause, &part) { // logPart has logged it
		level = slog.LevelError
	}
	x.log.log(level, "exit begins", "cause", cause, "deadline", x.plan.deadline())
}

func (x *exit) logStart() { x.logStep(x.start, x.start.report("Start", time.Now())) }

// logStep logs the result of a step when the next step may begin. It logs nothing for a step
// that the end of the exit left running: logExit does that.
func (x *exit) logStep(a *attempt, r StepReport) {
	if r.Outcome == NotBegun || a.logged || r.Outcome == StillRunning && !r.DeadlinePassed {
		return
	}
	a.logged = true
	args := append([]any{"step", r.Name, "elapsed", r.Elapsed}, resultArgs(r)...)
	switch {
	case r.DeadlinePassed:
		x.log.log(slog.LevelError, "step's deadline passed", append(args, "outcome", r.Outcome.String())...)
	case r.Outcome == Failed:
		x.log.log(slog.LevelError, "step failed", args...)
	case r.Lost > 0:
		x.log.log(slog.LevelError, "step done, and accepted tasks were not run", args...)
	case r.Work.ChannelsHeld > 0:
		x.log.log(slog.LevelError, "step done, and channels were closed with answers in flight", args...)
	case r.Work.TimedOut:
		x.log.log(slog.LevelWarn, "step done after its timeout", args...)
	case r.Work.WritesRefused > 0:
		x.log.log(slog.LevelWarn, "step done, and channels refused writes", args...)
	case r.Work.ChannelsAborted > 0 || r.Work.BytesDiscarded > 0:
		x.log.log(slog.LevelWarn, "step done, and channels were aborted", args...)
	default:
		x.log.log(slog.LevelInfo, "step done", args...)
	}
}

// resultArgs returns the error of a step and the figures of its executor as log arguments.
func resultArgs(r StepReport) (args []any) {
	if r.Err != nil {
		args = append(args, "error", r.Err)
	}
	var panicked *core.PanicError
	if errors.As(r.Err, &panicked) {
		args = append(args, "stack", string(panicked.Stack))
	}
	w := r.Work
	if w == (core.Report{}) {
		return args
	}
	args = append(args, "accepted", w.Accepted, "ran", w.Ran, "lost", r.Lost,
		"rejected", w.Rejected, "panicked", w.Panicked, "cancelled", w.Cancelled, "timers_cancelled", w.TimersCancelled,
		"channels_drained", w.ChannelsDrained, "channels_aborted", w.ChannelsAborted, "bytes_discarded", w.BytesDiscarded)
	if w.WritesRefused > 0 {
		args = append(args, "writes_refused", w.WritesRefused)
	}
	if w.ChannelsHeld > 0 {
		args = append(args, "channels_held", w.ChannelsHeld, "held", w.Held)
	}
	switch {
	case r.Running != "":
		args = append(args, "running", r.Running)
	case w.Running != "":
		args = append(args, "running_at_timeout", w.Running)
	}
	return args
}

// logExit logs each part that still runs, each step that was not begun and lost tasks, and
// then the last line of the exit. Every step that was begun gets a line: a step that ended
// between the end of the exit and the report gets it here.
func (x *exit) logExit(r Report) {
	attempts := x.attempts()
	for i, s := range r.all() {
		switch {
		case s.Outcome == StillRunning && i == len(attempts)-1 && r.Starts != nil:
			x.log.log(slog.LevelError, "still running", "step", s.Name, "elapsed", s.Elapsed, "starts", namesOf(r.Starts, StillRunning))
		case s.Outcome == StillRunning:
			x.log.log(slog.LevelError, "still running", append([]any{"step", s.Name, "elapsed", s.Elapsed}, resultArgs(s)...)...)
		case s.Outcome == NotBegun && s.Lost > 0:
			x.log.log(slog.LevelError, "step not begun, and accepted tasks were not run", append([]any{"step", s.Name}, resultArgs(s)...)...)
		default:
			x.logStep(attempts[i], s)
		}
	}
	level := slog.LevelInfo
	if r.Code != CodeClean {
		level = slog.LevelError
	}
	args := []any{"code", r.Code, "elapsed", r.Elapsed, "lost", r.Lost(), "cancelled", r.Cancelled()}
	if r.Ended != nil {
		args = append(args, "ended", r.Ended)
	}
	if names := r.StillRunning(); names != nil {
		args = append(args, "still_running", names)
	}
	if names := r.NotBegun(); names != nil {
		args = append(args, "not_begun", names)
	}
	x.log.log(level, "exit", args...)
}
