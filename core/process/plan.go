package process

import (
	"context"
	"log/slog"
	"os"
	"time"

	"eventide/core"
)

const (
	// DefaultDeadline is the Deadline of a Plan that gives none: less than the
	// 30 s after which Kubernetes kills.
	DefaultDeadline = 25 * time.Second

	// DefaultStepDeadline is the Timeout of a Step with Executor that gives none, and
	// at most the Deadline of one with Run. NotReady has as long to return, and so
	// has Start after the last step.
	DefaultStepDeadline = 5 * time.Second
)

const (
	// leastTime is kept for a step that declares no time of its own, and is what an
	// executor without Drain has between its Timeout and the Plan's Deadline.
	leastTime = time.Second

	// heedTime is what a step has to return after its context has ended, before
	// it counts as one that does not, and what the last log lines have to get out.
	heedTime = 100 * time.Millisecond
)

// Plan says how a process runs and ends. The zero value of every field is good;
// the zero Plan waits for a signal and returns 0. Run does not change it.
type Plan struct {
	// Start is the application; nil: there is none to call. It runs on a goroutine of its
	// own, after the signals have been subscribed. It is not called if the exit has begun
	// by then.
	//
	// When Start returns, the exit begins: after an error with exit code 1, after nil,
	// which says that the work of the program is done, with 0 (ErrStartReturned). So
	// the Start of a server that has its own goroutines waits for ctx. The context
	// ends when PreDrain has passed, just before the first step, with the reason for the
	// exit as its cause. A Start that then returns this cause or context.Canceled, wrapped or
	// not, has not failed; one that returns another error, or joins one to them, has.
	// (http.Server: let http.ErrServerClosed become nil.) After the last step Run waits
	// for Start, DefaultStepDeadline at most.
	Start func(ctx context.Context) error

	// NotReady is called when the exit begins: it should make the readiness probe
	// fail. nil: nothing is called. It is left running after DefaultStepDeadline, or sooner if
	// PreDrain and the steps need the time.
	NotReady func()

	// PreDrain is how long the program goes on serving after NotReady has returned. 0: no
	// delay. It is skipped if Start has failed: Run takes a program for ready until
	// its Start returns an error, and one that is not ready has no traffic to wait for. It
	// is shortened if NotReady has taken so long that the steps need the time.
	PreDrain time.Duration

	// Steps run one after another.
	Steps []Step

	// Deadline bounds the whole exit, PreDrain included. 0: DefaultDeadline. One of
	// less than two seconds is short for executors: see Step.Timeout.
	Deadline time.Duration

	// Signals begin the exit, and a second one forces it. Each is one that can be
	// caught: on Unix 1 to 64, but not SIGKILL, SIGSTOP and SIGPROF, nor, on Linux, 32,
	// 33 and 34. nil: DefaultSignals(). Empty but not nil: none.
	Signals []os.Signal

	// Logger gets a line for each step, for what was still running, and for how much was
	// lost: failures at Error, a Timeout that passed and aborted channels at Warn, the
	// rest at Info. nil: slog.Default(); slog.New(slog.DiscardHandler) is silent. It is
	// called on a goroutine of its own: a handler that blocks, panics or calls
	// runtime.Goexit does not delay the exit, and gets the rest after a panic or a
	// Goexit. Lines that a handler has not written 100 ms after the end are lost.
	Logger *slog.Logger

	_ struct{}
}

// Step is one part of the exit: a function to run, or an executor to shut down.
//
// # The time of a step
//
// The next step begins when this one has ended, or when its time is over. Then it is
// left running, its report says DeadlinePassed, and the exit code is not 0. Plan.Deadline
// ends every step.
//
//   - With Executor: Timeout bounds admission, and not the tasks that were accepted. These
//     have until Drain after the Timeout; or until Deadline, if the step gives that; or,
//     if it gives neither, until Plan.Deadline less the time that is kept for later steps.
//   - With Run: Deadline; or, if the step gives none, DefaultStepDeadline, but no
//     more than what is left until Plan.Deadline less the time kept for later steps.
//
// Kept for each later step: its Deadline, or its Timeout (at least Quiet) and Drain, and one
// second in place of a Drain, or of the Deadline of Run, that it does not give. If that is
// more than half of the time that is left (with Executor: left after Timeout), then half.
// So a stuck step that gives neither Drain nor Deadline takes no later step's turn, unless
// its Quiet is longer than the time that is left. A Drain or Deadline is used as it is
// given, even if nothing is left for later steps.
type Step struct {
	// Name names it in logs and reports. Each name may be used once.
	Name string

	// Run is called on a goroutine of its own. Its context ends when the step's time
	// is over, at the Plan's Deadline, or with the second signal; it carries the values
	// of Run's context, and does not end with that.
	Run func(ctx context.Context) error

	// Executor is shut down gracefully and waited for. All tasks that it had accepted
	// have run when the step is done. Exactly one of Run and Executor is set.
	Executor Executor

	// Quiet and Timeout are the arguments of Executor.ShutdownGracefully. Timeout is how
	// long tasks are still accepted (G11), and how long channels have to drain: then
	// they are aborted. 0: DefaultStepDeadline. It is shortened, but not below Quiet, to
	// pass Drain (0: one second) before the Plan's Deadline; or, if less than twice that
	// is left when the step begins, to half of what is left. A Timeout that passes is
	// logged as a warning, and is no failure by itself: see core.Report.TimedOut.
	Quiet, Timeout time.Duration

	// Drain is how long after Timeout the next step waits for the accepted tasks of
	// Executor. 0: as long as the Plan's Deadline allows, see above. Tasks that have not
	// run by then may find what they use closed: later steps have begun.
	Drain time.Duration

	// Deadline is how long the next step waits for this one, counted from its begin.
	// 0: see above. With Executor, at most one of Drain and Deadline is given.
	Deadline time.Duration

	_ struct{}
}

// Executor is what a step needs of a core.EventExecutor: a core.Executor, a
// core.Group, a blocking.Group, or anything that wraps one or ends like one
// (core.NewTermination). Termination must return the same pointer every time, and
// never nil. With a method Running() string, as core.Executor has, or All, as groups have, the
// report names the bodies that run when the exit ends.
type Executor interface {
	ShutdownGracefully(quiet, timeout time.Duration) (*core.Termination, error)
	Shutdown() *core.Termination
	Termination() *core.Termination
}

// DefaultSignals returns the signals that end a process: os.Interrupt and, on
// Unix, SIGTERM. A program whose supervisor also sends SIGUSR2 sets
//
//	Signals: append(process.DefaultSignals(), syscall.SIGUSR2)
//
// The slice is the caller's.
func DefaultSignals() []os.Signal { return append([]os.Signal(nil), defaultSignals...) }

func (p *Plan) deadline() time.Duration { return orDefault(p.Deadline, DefaultDeadline) }

func (p *Plan) signals() []os.Signal {
	if p.Signals == nil {
		return defaultSignals
	}
	return p.Signals
}

func (p *Plan) logger() *slog.Logger {
	if p.Logger == nil {
		return slog.Default()
	}
	return p.Logger
}
