package core

import (
	"context"
	"time"
)

// The defaults of Netty's shutdownGracefully(). Close uses DefaultShutdownTimeout, and no
// quiet period.
const (
	DefaultQuietPeriod     = 2 * time.Second
	DefaultShutdownTimeout = 15 * time.Second
)

// EventExecutor has the methods that Executor, EventLoop, Group and Pool have in common.
// Every method may be called from any goroutine, in a body, before the start and after the
// end. A method that would wait for the loop returns ErrInEventLoop in a body of the loop, and
// ErrStarting in the executor's own spawner (G18).
type EventExecutor interface {
	// Execute runs task on the loop. A nil error means that it is accepted: it runs
	// exactly once before Termination().Done() is closed. An error means that it never
	// runs (G3). On an Executor or EventLoop tasks begin in the order of the calls (G4);
	// the tasks of a Group or a Pool may begin in another order. Execute does not wait for
	// the task.
	Execute(task func()) error

	// ExecuteLazy is Execute, but wakes a sleeping loop only if the task fills a bounded
	// queue. Otherwise the task runs at the latest after the next wake-up, timer, end of a
	// quiet period, or shutdown call (G12).
	ExecuteLazy(task func()) error

	// Schedule runs task once, delay from now, never early (G7). A negative delay counts
	// as zero. WithTimersAtShutdown says what a shutdown does with the timer.
	Schedule(delay time.Duration, task func()) (*Timer, error)

	// ScheduleAtFixedRate runs task at initial, initial+period, and so on from now. It keeps
	// its phase: runs that are late follow each other without a pause.
	ScheduleAtFixedRate(initial, period time.Duration, task func()) (*Timer, error)

	// ScheduleWithFixedDelay runs task after initial, and again delay after the end of
	// each run.
	ScheduleWithFixedDelay(initial, delay time.Duration, task func()) (*Timer, error)

	// InEventLoop reports whether the caller runs on a goroutine of this executor: in a
	// body, or in code of the user that the loop calls, such as a Clock or a Tracer.
	InEventLoop() bool

	// State returns the current state in the executor's life (G1).
	State() State

	// ShutdownGracefully begins an orderly end and does not wait for it. Tasks are still
	// accepted until the quiet period has passed: no task, timer or hook has run for quiet,
	// every channel is closed, and no timer that WithTimersAtShutdown lets run is waiting.
	// Admission closes after timeout at the latest. Only the first call sets quiet and
	// timeout (G16). ShutdownGracefully returns an error only for a negative argument or
	// timeout < quiet.
	ShutdownGracefully(quiet, timeout time.Duration) (*Termination, error)

	// Shutdown closes admission: once it has returned, no task, timer or registration is
	// accepted, and only a hook that was accepted before can add a hook. Accepted work
	// still runs. During a graceful shutdown, too, it closes admission at once.
	Shutdown() *Termination

	// Termination returns the Termination of this executor, always the same pointer.
	Termination() *Termination

	// AwaitTermination blocks until the executor has terminated, and returns
	// Termination().Err(); or the cause of ctx if ctx ends first. It does not begin a
	// shutdown.
	AwaitTermination(ctx context.Context) error

	// Close is ShutdownGracefully(0, DefaultShutdownTimeout) followed by
	// AwaitTermination. From inside the loop it begins the shutdown and returns
	// ErrInEventLoop.
	Close() error

	// Context returns a context that is cancelled when admission closes, with
	// ErrShutdown, ErrShutdownTimeout or the error that ended the executor as its cause.
	// A long-running body should then return.
	Context() context.Context

	// ShutdownContext returns a context that ends earlier, when the shutdown begins, with
	// ErrShutdown as its cause. A body that loops for ever should then return.
	ShutdownContext() context.Context

	// Stats returns one consistent snapshot; of a Group, the sum of one snapshot per child.
	Stats() Stats
}
