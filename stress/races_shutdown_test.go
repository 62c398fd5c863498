package stress

import (
	"context"
	"errors"
	"time"

	"eventide/core"
)

// ending is an executor with two shutdown calls at the same time.
type ending struct {
	ex    *core.Executor
	terms [2]*core.Termination
}

func newEnding() *ending { return &ending{ex: started()} }

func gracefully(i int, quiet, timeout time.Duration) func(*ending) {
	return func(e *ending) { e.terms[i] = must(e.ex.ShutdownGracefully(quiet, timeout)) }
}

func (e *ending) shutdown() { e.terms[1] = e.ex.Shutdown() }

// outcome names the call whose parameters the report has.
func (e *ending) outcome() string {
	if !ended(e.ex) {
		return stuck
	}
	if e.terms[0] != e.terms[1] || e.terms[0] != e.ex.Termination() {
		return "two Terminations"
	}
	report := e.ex.Termination().Report()
	first := "neither's parameters"
	switch [2]time.Duration{report.Quiet, report.Timeout} {
	case [2]time.Duration{0, time.Hour}, [2]time.Duration{time.Hour, time.Hour}, [2]time.Duration{0, time.Nanosecond}:
		first = "the first call's parameters"
	case [2]time.Duration{0, 2 * time.Hour}, [2]time.Duration{}:
		first = "the second call's parameters"
	}
	if cause := context.Cause(e.ex.Context()); report.TimedOut != errors.Is(cause, core.ErrShutdownTimeout) {
		return "the cause of Context is not the report's"
	}
	if report.TimedOut {
		return first + ", timed out"
	}
	return first
}

func endingRows(more ...Row) []Row {
	return append([]Row{
		{"the first call's parameters", Acceptable, "G16: the first in time of the two wins."},
		{"the second call's parameters", Acceptable, "G16: the other one came first."},
		{"neither's parameters", Forbidden, "G16: quiet and timeout are published together."},
		{"two Terminations", Forbidden, "G15: the same Termination every time."},
		{"the cause of Context is not the report's", Forbidden, "G11: there is one close, and it has one cause."},
	}, more...)
}

func shutdownRaces() []contest {
	race := func(name string, first, second func(*ending), more ...Row) contest {
		return contest{name: name, run: Race[*ending]{
			Setup:   newEnding,
			Actors:  []func(*ending){first, second},
			Outcome: (*ending).outcome,
		}.Run, rows: endingRows(more...)}
	}
	return []contest{
		race("two graceful shutdowns", gracefully(0, 0, time.Hour), gracefully(1, 0, 2*time.Hour)),
		// Without the escalation the first would take an hour.
		race("ShutdownGracefully against Shutdown", gracefully(0, time.Hour, time.Hour), (*ending).shutdown),
		race("a deadline against Shutdown", gracefully(0, 0, time.Nanosecond), (*ending).shutdown,
			Row{"the first call's parameters, timed out", Acceptable, "The deadline made the close."}),
	}
}
