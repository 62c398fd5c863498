package exectest

import (
	"time"

	"eventide/props/history"
)

// Subject is an executor under the kit. Its methods are called from many
// goroutines at once and from inside its own tasks.
type Subject interface {
	// Execute hands over a task. A nil error is the promise that the task
	// runs exactly once before Done closes; any other, that it never runs.
	Execute(task func()) error
	// Shutdown begins a graceful shutdown and does not wait for it. A quiet
	// below zero or a timeout below quiet is an error.
	Shutdown(quiet, timeout time.Duration) error
	// Done is closed once the shutdown is over.
	Done() <-chan struct{}
}

// Scheduler is a Subject with timers (G7, G8, G13).
type Scheduler interface {
	Schedule(delay time.Duration, task func()) (cancel func() bool, err error)
}

// Hooker is a Subject with shutdown hooks (G6).
type Hooker interface {
	AddShutdownHook(hook func()) (remove func() bool, err error)
}

// Stater is a Subject that tells its state (G1, G15).
type Stater interface {
	State() history.State
}

// LoopTeller is a Subject that knows whether it is running the caller (G2).
type LoopTeller interface {
	InEventLoop() bool
}

// Submitter is a Subject with futures (G9).
type Submitter interface {
	// Submit never returns nil: a refusal is the error of the future.
	Submit(task func() error) Future
}

// Future is the outcome of a submitted task.
type Future interface {
	Done() <-chan struct{}
	Err() error    // nil before Done, and after it if the task returned nil
	Refused() bool // the task was not accepted and never runs
}

// Counter is a Subject that counts (G20).
type Counter interface {
	Stats() history.Stats
}

// Closer is a Subject that can close admission at once: when ShutdownNow
// returns nothing is accepted any more, and what was accepted still runs (G5).
type Closer interface {
	ShutdownNow()
}

// Abandoner is a Subject that can be given up. The kit calls Abandon once at
// the end of each run, whatever happened, so that a subject that did not end
// can let go of its goroutines. A correct subject needs none.
type Abandoner interface {
	Abandon()
}

// parts returns what a log of the subject will show.
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

// lacking returns which of the interfaces that a clause may need the subject lacks.
func lacking(s Subject) map[string]bool {
	_, schedules := s.(Scheduler)
	_, hooks := s.(Hooker)
	_, states := s.(Stater)
	_, submits := s.(Submitter)
	return map[string]bool{"Scheduler": !schedules, "Hooker": !hooks, "Stater": !states, "Submitter": !submits}
}
