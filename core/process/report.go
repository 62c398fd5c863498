package process

import (
	"errors"
	"fmt"
	"os"
	"time"

	"eventide/core"
)

// The exit codes that are not 128 + a signal's number.
const (
	CodeClean   = 0
	CodeFailed  = 1
	CodeBadPlan = 2
)

var (
	// ErrDeadline is the cause of a step's context that Plan.Deadline ended.
	ErrDeadline = errors.New("process: deadline of the exit passed")

	// ErrStepDeadline is the cause of a step's context that its own deadline ended,
	// and Report.Ended if Start did not return in the time it has after the last step.
	ErrStepDeadline = errors.New("process: deadline of the step passed")

	// ErrStartReturned is what began the exit if Start returned nil before a signal or
	// the end of Run's context.
	ErrStartReturned = errors.New("process: Start returned")
)

// SignalError is a signal as a reason: what began the exit, or, with Second, what
// ended it at once.
type SignalError struct {
	Signal os.Signal
	Second bool
}

func (s *SignalError) Error() string {
	if s.Second {
		return fmt.Sprintf("process: second signal: %v", s.Signal)
	}
	return fmt.Sprintf("process: signal: %v", s.Signal)
}

// Outcome says how far a step has come.
type Outcome uint8

const (
	// NotBegun: it was not called.
	NotBegun Outcome = iota
	// Done: it returned nil; the executor has terminated without an error.
	Done
	// Failed: it returned an error, panicked, or called runtime.Goexit.
	Failed
	// StillRunning: it had not ended when the exit did.
	StillRunning
)

func (o Outcome) String() string {
	switch o {
	case NotBegun:
		return "not begun"
	case Done:
		return "done"
	case Failed:
		return "failed"
	case StillRunning:
		return "still running"
	}
	return fmt.Sprintf("Outcome(%d)", uint8(o))
}

// Report says how an exit went.
type Report struct {
	// Code is the exit code.
	Code int

	// Err is why nothing was started: what is wrong with the plan or the call, if Code is
	// CodeBadPlan, or that no descriptors were left for a timer, if it is CodeFailed. The rest
	// is zero then. If something was started, Err is nil.
	Err error

	// Cause is what began the exit: a *SignalError, the cause of Run's context,
	// ErrStartReturned, or what Start returned.
	Cause error

	// Ended is nil if Run came to the end of the plan: each step had ended, or had been
	// left behind at its own deadline, before Plan.Deadline, and Start has returned. Else
	// it says what came first: ErrDeadline, the *SignalError of the second signal, or, if
	// Start was left behind after the last step, ErrStepDeadline.
	Ended error

	// NotReady and Start are the plan's functions of these names; NotBegun if it
	// has none.
	NotReady, Start StepReport

	// Steps are the plan's, in its order.
	Steps []StepReport

	// Elapsed is the time since the exit began.
	Elapsed time.Duration
}

// StepReport says how a step went.
type StepReport struct {
	Name    string
	Outcome Outcome

	// Err is why it failed: its error, a *core.PanicError, or core.ErrGoexit.
	Err error

	// DeadlinePassed: the time of the step (see Step) was over before it had ended. It
	// may have ended since: Outcome tells.
	DeadlinePassed bool

	// Elapsed is the time from its begin until its end, or until the exit's.
	Elapsed time.Duration

	// Work is the report of the step's executor, whether the step was begun or
	// not; zero for a step with Run. Work.Running names the body that ran when
	// Timeout passed.
	Work core.Report

	// Running names the bodies that the executor ran when the exit ended, with their stacks;
	// empty if the step has ended, was not begun, or its executor has no method Running.
	Running string

	// Lost is how many tasks the executor had accepted that had not ended when the exit
	// did: those that were running, and those that will never run.
	Lost int64
}

// StillRunning returns the names of what had not ended when the exit did.
func (r Report) StillRunning() []string { return r.names(StillRunning) }

// NotBegun returns the names of the steps that were never begun.
func (r Report) NotBegun() []string { return r.names(NotBegun) }

func (r Report) names(o Outcome) []string {
	var names []string
	for _, s := range r.all() {
		if s.Outcome == o && s.Name != "" {
			names = append(names, s.Name)
		}
	}
	return names
}

// Lost returns how many accepted tasks had not ended, over all executors.
func (r Report) Lost() (n int64) {
	for _, s := range r.Steps {
		n += s.Lost
	}
	return n
}

// Cancelled returns how many submitted functions and timers were cancelled, over
// all executors.
func (r Report) Cancelled() (n int64) {
	for _, s := range r.Steps {
		n += s.Work.Cancelled + s.Work.TimersCancelled
	}
	return n
}

// all returns every part of the exit, in the order in which they are waited for.
func (r Report) all() []StepReport {
	all := append([]StepReport{r.NotReady}, r.Steps...)
	return append(all, r.Start)
}

// code is the exit code of an exit that was begun.
func (r Report) code() int {
	var second *SignalError
	if errors.As(r.Ended, &second) {
		return 128 + signalNumber(second.Signal)
	}
	if r.Ended != nil {
		return CodeFailed
	}
	for _, s := range r.all() {
		if s.DeadlinePassed || s.Outcome == Failed || s.Outcome == StillRunning || s.Lost > 0 {
			return CodeFailed
		}
	}
	return CodeClean
}
