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

	// DefaultStepDeadline is the Deadline of a Step with Run that gives none, and
	// the Timeout of one with Executor. NotReady has as long to return, and so
	// has Start after the last step.
	DefaultStepDeadline = 5 * time.Second
)

const (
	// drainTime is what an executor has between its Timeout, which closes it, and
	// the default Deadline of its step, for what it had accepted.
	drainTime = time.Second

	// heedTime is what a step has to return after its context has ended, before
	// it counts as one that does not, and what the last log lines have to get out.
	heedTime = 100 * time.Millisecond
)

// Plan says how a process runs and ends. The zero value of every field is good;
// the zero Plan waits for a signal and returns 0. Run does not change it.
type Plan struct {
	// Start is the application; nil: there is none to call. It runs on a
	// goroutine of its own, after the signals have been subscribed. When it
	// returns, the exit begins. Its context ends when PreDrain has passed, just
	// before the first step, with what began the exit as its cause, and to return
	// that, or context.Canceled, is then no failure. (Others are: let
	// http.ErrServerClosed become nil.) After the last step it is waited for. It
	// is not called if the exit has begun by then.
	Start func(ctx context.Context) error

	// NotReady is called when the exit begins: it should make the readiness probe
	// fail. nil: nothing is called.
	NotReady func()

	// PreDrain is how long the program goes on serving after that. 0: no delay.
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

	// Logger hears of every step, of what was still running, and of how much was
	// lost. nil: silence, even about a wrong plan. It is called from a goroutine of
	// its own: one that blocks, panics or calls runtime.Goexit does not delay the
	// exit, and hears of the rest after a panic or a Goexit.
	Logger *slog.Logger

	_ struct{}
}

// Step is one part of the exit: a function to run, or an executor to shut down.
type Step struct {
	// Name names it in logs and reports. Each name may be used once.
	Name string

	// Run is called on a goroutine of its own. Its context ends at the step's
	// deadline, at the Plan's, or with the second signal; it carries the values
	// of Run's context, and does not end with that.
	Run func(ctx context.Context) error

	// Executor is shut down gracefully and waited for. What it had accepted has
	// run when the step is done. Exactly one of Run and Executor is set.
	Executor Executor

	// Quiet and Timeout are the arguments of Executor.ShutdownGracefully. A
	// Timeout of 0 is DefaultStepDeadline. It is shortened, but not below Quiet, to
	// pass a second before the Plan's Deadline; or, if less than two seconds are left
	// until that when the step begins, to half of what is left. A Timeout that passes
	// is logged, and is no failure by itself: see core.Report.TimedOut. Channels that
	// have not drained by then are aborted.
	Quiet, Timeout time.Duration

	// Deadline is how long the next step waits for this one. 0: for Run,
	// DefaultStepDeadline; for Executor, a second more than Timeout.
	Deadline time.Duration

	_ struct{}
}

// Executor is what a step needs of a core.EventExecutor: a core.Executor, a
// core.Group, a blocking.Group, or anything that wraps one or ends like one
// (core.NewTermination). Termination must return the same pointer every time, and
// never nil.
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

func (s *Step) timeout() time.Duration { return orDefault(s.Timeout, DefaultStepDeadline) }

func (s *Step) deadline() time.Duration {
	if s.Executor == nil {
		return orDefault(s.Deadline, DefaultStepDeadline)
	}
	timeout := s.timeout()
	return orDefault(s.Deadline, max(timeout, timeout+drainTime)) // a sum that overflows is negative
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}
