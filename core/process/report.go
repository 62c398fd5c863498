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
	// ErrDeadline is the cause of a step's context if Plan.Deadline ended the context.
	ErrDeadline = errors.New("process: deadline of the exit passed")

	// ErrStepDeadline is the cause of a step's context if the step's own deadline ended
	// the context. It is Report.Ended if Start did not return within DefaultStepDeadline
	// after the last step.
	ErrStepDeadline = errors.New("process: deadline of the step passed")

	// ErrStopped is the error of a Graceful step that ran out of time and called Stop.
	ErrStopped = errors.New("process: the server was stopped with requests in flight")

	// ErrStartReturned is the cause of an exit that began because Start returned nil.
	ErrStartReturned = errors.New("process: Start returned")
)

// SignalError is a signal that began the exit or, if Second is set, forced its end.
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

// Outcome is the state of a step at the end of the exit.
type Outcome uint8

const (
	// NotBegun: the step was not called.
	NotBegun Outcome = iota
	// Done: the step returned nil; its executor has terminated without an error.
	Done
	// Failed: the step returned an error, panicked, or called runtime.Goexit.
	Failed
	// StillRunning: the step had not ended when the exit ended.
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

// Report is the result of an exit.
type Report struct {
	// Code is the exit code.
	Code int

	// Err is the reason why nothing was started, and nil otherwise. With CodeBadPlan it is
	// the mistake in the plan or the call. With CodeFailed the process had no descriptors
	// left for a timer. If Err is not nil, all fields but Code are zero.
	Err error

	// Cause says why the exit began: a *SignalError, the cause of Run's context,
	// ErrStartReturned, the error of Start, or the *PartError of the first of Starts that
	// failed.
	Cause error

	// Ended is nil if Run came to the end of the plan: before Plan.Deadline each step had
	// ended or was left behind at its own deadline, and Start returned. Otherwise Ended is
	// the reason that came first: ErrDeadline, the *SignalError of the second signal, or
	// ErrStepDeadline if Start did not return after the last step.
	Ended error

	// NotReady and Start report on the plan's functions of these names. Their Outcome is
	// NotBegun if the plan has none.
	NotReady, Start StepReport

	// Starts has a report for each of Plan.Starts, in order. With Plan.Starts, Start
	// reports on all parts together: Done if each part returned nil, Failed if one failed.
	// Starts is empty if the plan has no parts, or if none was begun.
	Starts []StepReport

	// Steps has a report for each of Plan.Steps, in order.
	Steps []StepReport

	// Elapsed is the time since the exit began.
	Elapsed time.Duration
}

// StepReport is the result of a step.
type StepReport struct {
	Name    string
	Outcome Outcome

	// Err is the error that the step returned, a *core.PanicError, or core.ErrGoexit.
	Err error

	// DeadlinePassed is true if the step had not ended when its time was over (see Step).
	// If the step ended later, Outcome is Done or Failed.
	DeadlinePassed bool

	// Elapsed is the time from the begin of the step to its end, or to the end of the exit.
	Elapsed time.Duration

	// Work is the report of the step's executor, even if the step was not begun. It is
	// zero for a step with Run. Work.Running names the body that ran when Timeout passed.
	Work core.Report

	// Running names the bodies that the executor ran when the exit ended, with their stacks;
	// empty if the step has ended, was not begun, or its executor has no method Running.
	Running string

	// Lost counts the accepted tasks of the executor that had not ended when the exit
	// ended: running tasks, and tasks that will never run.
	Lost int64
}

// StillRunning returns the names of the parts that had not ended when the exit ended.
func (r Report) StillRunning() []string { return r.names(StillRunning) }

// NotBegun returns the names of the steps that were never begun.
func (r Report) NotBegun() []string { return r.names(NotBegun) }

// names returns the names of the parts with an outcome. Parts of Plan.Starts take the place
// of Start.
func (r Report) names(o Outcome) []string {
	all := r.all()
	if len(r.Starts) > 0 {
		all = append(all[:len(all)-1], r.Starts...)
	}
	return namesOf(all, o)
}

func namesOf(all []StepReport, o Outcome) (names []string) {
	for _, s := range all {
		if s.Outcome == o && s.Name != "" {
			names = append(names, s.Name)
		}
	}
	return names
}

// Lost returns the sum of StepReport.Lost over all steps.
func (r Report) Lost() (n int64) {
	for _, s := range r.Steps {
		n += s.Lost
	}
	return n
}

// Cancelled returns the number of cancelled futures and timers of all executors.
func (r Report) Cancelled() (n int64) {
	for _, s := range r.Steps {
		n += s.Work.Cancelled + s.Work.TimersCancelled
	}
	return n
}

// all returns the reports of all parts, in the order in which the exit waits for them.
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
		if s.DeadlinePassed || s.Outcome == Failed || s.Outcome == StillRunning || s.Lost > 0 || s.Work.ChannelsHeld > 0 {
			return CodeFailed
		}
	}
	return CodeClean
}
