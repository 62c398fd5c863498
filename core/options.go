package core

import (
	"fmt"
	"log/slog"
	"time"

	"eventide/core/internal/netpoll"
	"eventide/core/internal/transport"
	"eventide/internal/vocabulary"
)

// Option configures an executor. The constructors check every option; a bad one
// is an error that names the value and what was expected. nil means the default: a nil
// Option has no effect, and an option with a nil argument sets the default.
type Option func(*config) error

// config holds the values of the options. It is set once, by the constructor.
type config struct {
	name         string
	limit        int // the largest number of tasks that are accepted and have not begun
	onFull       func(attempt int, err *RejectedError) (retryAfter time.Duration, retry bool)
	timers       TimersAtShutdown
	jitter       *jitter      // nil: none
	logger       *slog.Logger // nil: slog.Default at the time of the call
	panicHandler func(*PanicError)
	spawner      func(func()) error
	userSpawner  bool              // spawner is the user's: it may be slow
	onGoroutine  func(name string) // nil: none
	tracer       Tracer
	clock        Clock // nil: the system's
	poller       Poller

	// Of event loops.
	drain    DrainPolicy
	ioRatio  int
	spin     time.Duration
	blocking bool
}

// minPendingTasks is the least bound of a queue, as in Netty (R29).
const minPendingTasks = 16

const unbounded = int(^uint(0) >> 1)

// newConfig applies the options of a constructor. It also opens the network poller of
// Go's runtime, because without free descriptors the loop's first timer would end the
// process.
func newConfig(call string, opts []Option) (config, error) {
	c := config{
		limit:   unbounded,
		onFull:  RefuseWhenFull,
		spawner: goSpawner,
		ioRatio: defaultIORatio,
		spin:    DefaultSpin,
	}
	if err := transport.Apply(&c, opts); err != nil {
		return c, err
	}
	if err := netpoll.Open(); err != nil {
		return c, fmt.Errorf("core: %s: %w", call, err)
	}
	return c, nil
}

// newSharedConfig is newConfig for a constructor of several sleepers, each of which needs a poller
// of its own: WithPoller is an error that says what one poller serves.
func newSharedConfig(call, serves string, opts []Option) (config, error) {
	c, err := newConfig(call, opts)
	if err == nil && c.poller != nil {
		err = argumentError(call, "WithPoller is set, want none: a poller serves one %s", serves)
	}
	return c, err
}

// WithName names the executor in logs, in Report.Running and in String. The children of a
// group add "-0", "-1", ....
func WithName(name string) Option {
	return func(c *config) error {
		if name == "" {
			return argumentError("WithName", `name is "", want at least one character`)
		}
		c.name = name
		return nil
	}
}

// WithMaxPendingTasks bounds the tasks that are accepted and have not begun. The
// smallest bound is 16: a smaller positive n means 16 (R29). Timers, hooks and
// listeners do not count (G19). The default is no bound. In a Group each child has this
// bound; a Pool has it as a whole.
func WithMaxPendingTasks(n int) Option {
	return func(c *config) error {
		if n < 1 {
			return argumentError("WithMaxPendingTasks", "n is %d, want at least 1", n)
		}
		c.limit = max(minPendingTasks, n)
		return nil
	}
}

// WithRejectedHandler sets the handler of a full queue: it returns whether to try again, and
// after how long. attempt counts from 1. The handler runs on the caller's goroutine and does not
// get the task. If it returns retry false, the call returns the error. The handler is not called
// in a body of the executor, nor in its spawner: the loop would wait for the retries and make no
// room.
// Retries end when admission closes (G19). RefuseWhenFull and the results of BackOff are
// such handlers; the default is RefuseWhenFull.
func WithRejectedHandler(handler func(attempt int, err *RejectedError) (retryAfter time.Duration, retry bool)) Option {
	return func(c *config) error {
		if handler == nil {
			handler = RefuseWhenFull
		}
		c.onFull = handler
		return nil
	}
}

// RefuseWhenFull is the default handler: no retry.
func RefuseWhenFull(int, *RejectedError) (time.Duration, bool) { return 0, false }

// BackOff returns a handler that tries again up to retries times, and waits pause before each
// retry (Netty's RejectedExecutionHandlers.backoff, R30). With retries of 0 or less it never tries
// again; with a pause of 0 or less it yields the processor before each retry.
func BackOff(retries int, pause time.Duration) func(int, *RejectedError) (time.Duration, bool) {
	return func(attempt int, _ *RejectedError) (time.Duration, bool) { return pause, attempt <= retries }
}

// TimersAtShutdown says what a shutdown does with timers.
type TimersAtShutdown = vocabulary.TimerPolicy

const (
	// CancelTimers: no timer body begins after the shutdown call. Each timer ends with
	// ErrCancelled as soon as the loop's current body has ended. A timer scheduled later
	// is accepted, and ends with ErrCancelled at once.
	CancelTimers = vocabulary.CancelTimers

	// RunDueTimers: timers that are due at the shutdown call run, and the others are
	// cancelled. A fixed-rate timer that is late makes each run that was due at the call,
	// one after the other, until admission closes.
	RunDueTimers = vocabulary.RunDueTimers

	// RunTimersUntilTimeout: timers due before the timeout run at their time, periodic
	// ones repeatedly, and the quiet period does not end while such a timer is pending.
	// Shutdown runs timers that are due, as RunDueTimers does, and cancels the others.
	RunTimersUntilTimeout = vocabulary.RunTimersUntilTimeout
)

// WithTimersAtShutdown sets the policy for timers. The default is CancelTimers.
func WithTimersAtShutdown(policy TimersAtShutdown) Option {
	return func(c *config) error {
		if policy < CancelTimers || policy > RunTimersUntilTimeout {
			return argumentError("WithTimersAtShutdown", "policy is %d, want CancelTimers, RunDueTimers or RunTimersUntilTimeout", int(policy))
		}
		c.timers = policy
		return nil
	}
}

// WithLogger sets the logger of failures that no call returns: panics, the timeout of a
// shutdown that passed while a body was running or while tasks or channels were left, a
// poller that was rebuilt, a failed loop, and a termination with an error. Each is logged
// at Warn or Error. The default is slog.Default(), called at each failure. To log
// nothing, use WithLogger(slog.New(slog.DiscardHandler)).
//
// The logger's handler is called on the goroutine where the failure happens, and a panic of
// the handler is ignored. The handler must not wait for the executor, which may be waiting
// for the handler: AwaitTermination in it may never return. With WithTracer the handler must
// not call the executor at all: see Tracer.
func WithLogger(logger *slog.Logger) Option {
	return func(c *config) error {
		c.logger = logger
		return nil
	}
}

// WithPanicHandler sets a function that is called once with each recovered panic of a body,
// instead of the logger. It is called on the loop after the body has ended; for a listener
// that runs off the loop, as after a refused Submit, on the goroutine that runs the
// listener. To end the process, the handler calls os.Exit. A panic of the handler itself is
// logged.
func WithPanicHandler(handler func(*PanicError)) Option {
	return func(c *config) error {
		c.panicHandler = handler
		return nil
	}
}

// WithSpawner sets the function that starts the loop's goroutine. The spawner must
// make another goroutine call loop once, and return nil; or it must return an
// error and not call loop. The default is the go statement. The spawner is called when
// the executor starts, and again when a body calls runtime.Goexit, which ends the loop's
// goroutine (G14, G17). A Pool calls it for each worker. Calls such as Execute, and workers, call
// the spawner on their own goroutine and wait for it. A shutdown call and the timeout of a
// shutdown do not wait for it: they call it on a new goroutine.
//
// If the spawner returns an error after a Goexit, the loop continues inside the goroutine
// that is ending, some stack frames deeper. After about a million such errors in a row
// the stack reaches its limit, 1 GB by default, and the process ends.
func WithSpawner(spawner func(loop func()) error) Option {
	return func(c *config) error {
		c.spawner, c.userSpawner = spawner, spawner != nil
		if spawner == nil {
			c.spawner = goSpawner
		}
		return nil
	}
}

// WithGoroutineStart sets a function that is called on each goroutine of the loop, or of a
// pool's workers, before its first body: see WithSpawner for when there is a new one. Use
// it to set attributes of a goroutine, such as the labels of runtime/pprof: by default the
// goroutine inherits the labels of the goroutine that starts it. name is the name of the
// executor; children of a group have names of their own. The function must return. Its
// panic is logged and otherwise ignored.
func WithGoroutineStart(start func(name string)) Option {
	return func(c *config) error {
		c.onGoroutine = start
		return nil
	}
}

func goSpawner(loop func()) error {
	go loop()
	return nil
}

// WithTracer sets an observer of every event. The tracer must not call the executor, and
// with a tracer the logger must not call the executor either (see Tracer). By default
// there is no tracer.
func WithTracer(tracer Tracer) Option {
	return func(c *config) error {
		c.tracer = tracer
		return nil
	}
}

// WithClock sets the clock of the executor. The default is the system's clock.
func WithClock(clock Clock) Option {
	return func(c *config) error {
		c.clock = clock
		return nil
	}
}

// WithPoller sets the poller in which the loop sleeps. A poller serves one executor: a
// group or a pool refuses the option. The default of an Executor is NewParkPoller, and
// that of an EventLoop is an epoll poller.
func WithPoller(poller Poller) Option {
	return func(c *config) error {
		c.poller = poller
		return nil
	}
}
