package core

import (
	"context"
	"time"
)

// What Netty's shutdownGracefully() without arguments takes. Close has the timeout of
// these, and no quiet period.
const (
	DefaultQuietPeriod     = 2 * time.Second
	DefaultShutdownTimeout = 15 * time.Second
)

// EventExecutor is what an Executor and a Group have in common. Every method may
// be called from any goroutine, from inside a body, before the start and after
// the end; those that would wait for the loop return ErrInEventLoop when a body
// of it calls them (G18).
type EventExecutor interface {
	// Execute runs task on the loop. A nil error means that it is accepted: it
	// runs exactly once before Termination().Done() is closed. Any other means
	// that it never runs (G3). Tasks begin in the order in which the calls
	// happened (G4). It does not wait for the task.
	Execute(task func()) error

	// ExecuteLazy is Execute, but does not wake a sleeping loop: the task runs
	// no later than the next wake-up, timer, or shutdown (G12).
	ExecuteLazy(task func()) error

	// Schedule runs task once, delay from now, never early (G7). A negative
	// delay is zero. What shutdown does with it: WithTimersAtShutdown.
	Schedule(delay time.Duration, task func()) (*Timer, error)

	// ScheduleAtFixedRate runs task at initial, initial+period, ... from now.
	// It keeps its phase: runs that are late follow one another at once.
	ScheduleAtFixedRate(initial, period time.Duration, task func()) (*Timer, error)

	// ScheduleWithFixedDelay runs task at initial from now, and again delay
	// after each end of it.
	ScheduleWithFixedDelay(initial, delay time.Duration, task func()) (*Timer, error)

	// InEventLoop reports whether the caller is a body of this executor.
	InEventLoop() bool

	// State returns where in its life the executor is (G1).
	State() State

	// ShutdownGracefully begins an orderly end and does not wait for it. Tasks
	// are still accepted until nothing has run for quiet, and no longer than
	// timeout. The first call counts; a later one changes nothing (G16). The
	// error is about the arguments: negative, or timeout < quiet.
	ShutdownGracefully(quiet, timeout time.Duration) (*Termination, error)

	// Shutdown closes admission now: when it returns, nothing more is accepted.
	// What was accepted still runs. It also shortens a graceful shutdown.
	Shutdown() *Termination

	// Termination returns the one Termination of this executor.
	Termination() *Termination

	// AwaitTermination waits until the executor has terminated, and returns
	// Termination().Err(), or the cause of ctx if that ends first. It does not
	// begin a shutdown.
	AwaitTermination(ctx context.Context) error

	// Close is ShutdownGracefully(0, DefaultShutdownTimeout), and waits. From
	// inside the loop it begins the shutdown and returns ErrInEventLoop.
	Close() error

	// Context is cancelled at the close, with ErrShutdown, ErrShutdownTimeout or
	// the loop's error as its cause: this is how a running body learns that it
	// should end.
	Context() context.Context

	// Stats returns one consistent snapshot.
	Stats() Stats
}
