package process

import (
	"context"
	"log/slog"
	"os"
	"time"

	"eventide/core"
)

const (
	// DefaultDeadline is the Deadline of a Plan that sets none. It is less than the 30 s
	// after which Kubernetes kills a process.
	DefaultDeadline = 25 * time.Second

	// DefaultStepDeadline is the Timeout of a Step with Executor that sets none, and the
	// longest Deadline of a Step with Run that sets none. NotReady has this long to return,
	// and so has Start after the last step.
	DefaultStepDeadline = 5 * time.Second
)

const (
	// leastTime is reserved for a step that declares no time of its own. An executor
	// without Drain has this long between its Timeout and the Plan's Deadline.
	leastTime = time.Second

	// heedTime is how long Run waits for a step to return after the step's context has
	// ended, and for the log handler to write the last lines.
	heedTime = 100 * time.Millisecond
)

// Plan describes how a process runs and ends. The zero value of every field is usable;
// with the zero Plan, Run waits for a signal and returns 0. Run does not change the Plan.
//
// If a service manager with systemd's protocol started the process (NOTIFY_SOCKET), Run
// notifies the manager: READY=1 at Ready, STOPPING=1 when the exit begins,
// EXTEND_TIMEOUT_USEC before each part of the exit, and, if the unit has WatchdogSec,
// WATCHDOG=1 as long as no executor of the plan is stuck (see Health.Liveness).
type Plan struct {
	// Start is the application; nil: Run calls none. It runs on a goroutine of its own.
	// Run subscribes to the signals first, and does not call Start if the exit has begun
	// by then.
	//
	// When Start returns, the exit begins. An error makes the exit code 1. A nil error means
	// that the program's work is done, and the code is 0 (ErrStartReturned). So the Start of
	// a server with goroutines of its own must wait for ctx.
	//
	// ctx ends when PreDrain has passed, just before the first step; its cause is the reason
	// for the exit. If Start then returns that cause or context.Canceled, wrapped or not, it
	// has not failed. Any other error, joined ones included, is a failure. (With http.Server,
	// turn http.ErrServerClosed into nil.) After the last step Run waits for Start,
	// DefaultStepDeadline at most.
	Start func(ctx context.Context) error

	// Starts are the parts of an application with more than one, such as an HTTP server and the
	// consumer of a queue. Each part is a function like Start. Run begins them all at once,
	// each on a goroutine of its own. At most one of Start and Starts may be set.
	//
	// The program is ready when each part has called Ready with its own context. A part that
	// has returned nil has done its work: it need not call Ready, and the others continue.
	// When all have returned nil, the exit begins with ErrStartReturned. The first part that
	// fails begins the exit at once, with a *PartError as the cause, and makes the exit code 1.
	// The other parts continue until PreDrain has passed; then their contexts end, as the
	// context of Start does. After the last step Run waits for all parts, DefaultStepDeadline
	// at most.
	Starts []Part

	// NotReady is called when the exit begins: it should make the readiness probe
	// fail. nil: nothing is called. Run stops waiting for it after DefaultStepDeadline, or
	// sooner if PreDrain and the steps need the time.
	NotReady func()

	// PreDrain is how long the program continues to serve after NotReady has returned. 0: no
	// delay. Run skips it if Start has failed, or if all of Starts have returned by then and
	// one has failed: such a program serves no traffic. Run shortens it if NotReady took so
	// long that the steps need the time.
	PreDrain time.Duration

	// Health answers probes. Its answers depend on Ready, on the begin of the exit, and on
	// the progress of the plan's executors. nil: no Health.
	Health *Health

	// Steps run one after another.
	Steps []Step

	// Deadline bounds the whole exit, PreDrain included. 0: DefaultDeadline. A Deadline
	// of less than two seconds shortens the Timeout of executors: see Step.Timeout.
	Deadline time.Duration

	// Signals begin the exit; a second signal forces it. Each must be one that a process
	// can catch: on Unix 1 to 64 without SIGKILL, SIGSTOP and SIGPROF, and on Linux without
	// 32, 33 and 34. nil: DefaultSignals(). Empty but not nil: no signals.
	Signals []os.Signal

	// Logger gets a line for each step, each part that still runs at the end, and the number of
	// lost tasks: failures at Error, a Timeout that passed and aborted channels at Warn, the
	// rest at Info. nil: slog.Default at the time of each line. To log nothing, set
	// slog.New(slog.DiscardHandler). The handler gets the values of the context of Run, without
	// its end, unless Run returns CodeBadPlan. It is called on a goroutine of its own, so a
	// handler that blocks, panics or calls runtime.Goexit does not delay the exit. After a
	// panic or a Goexit the handler still receives the later lines. Lines that the handler has
	// not written 100 ms after the exit are lost.
	Logger *slog.Logger

	_ struct{}
}

// Step is one part of the exit: a function to run, or an executor to shut down.
//
// # The time of a step
//
// The next step begins when this one has ended or has used up its time. A step that has
// used up its time is left running, its report has DeadlinePassed set, and the exit code
// is not 0. No step lasts beyond Plan.Deadline.
//
//   - With Executor: Timeout bounds admission, not the accepted tasks. Accepted tasks have
//     until Drain after Timeout. If the step sets Deadline instead, they have until Deadline.
//     If it sets neither, they have until Plan.Deadline, less the time reserved for later
//     steps.
//   - With Run: the step has Deadline. If it sets none, it has DefaultStepDeadline, but at
//     most the time until Plan.Deadline, less the time reserved for later steps.
//
// The time reserved for a later step is its Deadline, or else its Timeout (at least Quiet)
// plus its Drain. A missing Drain, or a missing Deadline of Run, counts as one second. Later
// steps together reserve at most half of the remaining time (with Executor: of the time that
// remains after Timeout). So a stuck step that sets neither Drain nor Deadline leaves later
// steps their time, unless its Quiet is longer than the remaining time. A Drain or Deadline
// is used as set, even if nothing remains for later steps.
type Step struct {
	// Name identifies the step in logs and reports. Names must be unique.
	Name string

	// Run is called on a goroutine of its own. Its context ends when the step's time
	// is over, at the Plan's Deadline, or with the second signal. The context carries the
	// values of the context given to process.Run, but does not end with it.
	Run func(ctx context.Context) error

	// Executor is shut down gracefully, and the step waits for its termination. When the
	// step is done, every accepted task has run. Exactly one of Run and Executor must be
	// set.
	Executor Executor

	// Quiet and Timeout are the arguments of Executor.ShutdownGracefully. Timeout is how
	// long tasks are still accepted (G11) and how long channels have to drain before they
	// are aborted. 0: DefaultStepDeadline. Run shortens Timeout, but not below Quiet, so that
	// Drain (0: one second) remains between the end of Timeout and the Plan's Deadline. If
	// less than twice Drain remains when the step begins, Run shortens Timeout to half of the
	// remaining time. A Timeout that passes is logged as a warning and is no failure: see
	// core.Report.TimedOut.
	Quiet, Timeout time.Duration

	// Drain is how long after Timeout the next step waits for the accepted tasks of
	// Executor. 0: as long as the Plan's Deadline allows (see The time of a step). A task
	// that runs later may find its resources closed, because later steps have begun.
	Drain time.Duration

	// Deadline is how long the next step waits for this one, counted from the begin of
	// this one. 0: see The time of a step. With Executor, at most one of Drain and
	// Deadline may be set.
	Deadline time.Duration

	// Set only in steps that HTTP and Graceful return.
	patient bool   // without a Deadline the step has all time but that of later steps
	onExit  func() // called when the exit begins; returns at once
	mistake string // of the call that made the step
}

// Executor is the part of core.EventExecutor that a step needs. core.Executor, core.Group,
// blocking.Group and tracked.Group implement it. A type of your own can wrap one of them or
// use core.NewTermination. Termination must return the same pointer every time, and never
// nil. If the executor also has a method Running() string, as core.Executor has, or All, as
// groups have, the report names the bodies that still run when the exit ends.
type Executor interface {
	ShutdownGracefully(quiet, timeout time.Duration) (*core.Termination, error)
	Shutdown() *core.Termination
	Termination() *core.Termination
}

// DefaultSignals returns the signals that end a process: os.Interrupt and, on
// Unix, SIGTERM. To end on SIGUSR2 too, set
//
//	Signals: append(process.DefaultSignals(), syscall.SIGUSR2)
//
// The slice is the caller's.
func DefaultSignals() []os.Signal { return append([]os.Signal(nil), defaultSignals...) }

// hasStart reports whether the plan has an application to call.
func (p *Plan) hasStart() bool { return p.Start != nil || len(p.Starts) > 0 }

func (p *Plan) deadline() time.Duration { return orDefault(p.Deadline, DefaultDeadline) }

func (p *Plan) signals() []os.Signal {
	if p.Signals == nil {
		return defaultSignals
	}
	return p.Signals
}
