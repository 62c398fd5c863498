package exectest

import (
	"time"

	"eventide/props/history"
)

// Subject is an executor under test. The kit calls its methods from many goroutines
// concurrently and inside the subject's own tasks.
type Subject interface {
	// Execute submits a task. A nil error promises that the task runs exactly once
	// before Done closes; any other error promises that it never runs.
	Execute(task func()) error
	// Shutdown begins a graceful shutdown and does not wait for its end. A negative
	// quiet, or a timeout below quiet, is an error. The first call with other arguments
	// returns nil.
	Shutdown(quiet, timeout time.Duration) error
	// Done returns a channel that is closed at the end of the shutdown.
	Done() <-chan struct{}
}

// Scheduler is a Subject with timers (G7, G8, G13).
type Scheduler interface {
	Schedule(delay time.Duration, task func()) (cancel func() bool, err error)
}

// Resetter is a Scheduler whose timers can be moved to another deadline (G7, G8).
type Resetter interface {
	Scheduler
	ScheduleTimer(delay time.Duration, task func()) (Timer, error)
}

// Timer is a timer that can be moved.
type Timer interface {
	// Cancel ends the timer and reports true if its task has not begun and never will.
	Cancel() bool
	// Reset moves the deadline to delay from now and reports true. It changes nothing and
	// reports false if the task has begun, the timer was cancelled, or a shutdown has
	// decided what happens to the timer.
	Reset(delay time.Duration) bool
}

// Hooker is a Subject with shutdown hooks (G6).
type Hooker interface {
	AddShutdownHook(hook func()) (remove func() bool, err error)
}

// Stater is a Subject with a state (G1, G15).
type Stater interface {
	State() history.State
}

// LoopTeller is a Subject that knows whether the caller runs on its loop (G2).
type LoopTeller interface {
	InEventLoop() bool
}

// Submitter is a Subject with futures (G9).
type Submitter interface {
	// Submit never returns nil. A refusal is the error of the future.
	Submit(task func() error) Future
}

// Future is the result of a submitted task.
type Future interface {
	Done() <-chan struct{}
	Err() error    // nil before Done, and after it if the task returned nil
	Refused() bool // the task was not accepted and never runs
}

// Counter is a Subject with counters (G20).
type Counter interface {
	Stats() history.Stats
}

// Closer is a Subject that can close admission at once. When ShutdownNow returns, no task
// is accepted any more, and accepted tasks still run (G5).
type Closer interface {
	ShutdownNow()
}

// Abandoner is a Subject that can be abandoned. The kit calls Abandon once at the end of
// each run, whatever its result, so that a subject that did not end can stop its
// goroutines. A correct subject does not need it.
type Abandoner interface {
	Abandon()
}

// parts returns what a log of the subject shows.
func parts(s Subject) history.Parts {
	shown := history.QuietPeriod | history.Deadlines
	if _, ok := s.(LoopTeller); ok {
		shown |= history.LoopKnown
	}
	if _, ok := s.(Submitter); ok {
		shown |= history.Completions
	}
	if _, ok := s.(Counter); ok {
		shown |= history.Samples
	}
	return shown
}

// lacking returns the optional interfaces that the subject does not implement.
func lacking(s Subject) map[string]bool {
	_, schedules := s.(Scheduler)
	_, hooks := s.(Hooker)
	_, states := s.(Stater)
	_, submits := s.(Submitter)
	return map[string]bool{"Scheduler": !schedules, "Hooker": !hooks, "Stater": !states, "Submitter": !submits}
}
