package watch

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"eventide/core"
)

// Stall is a body that has run for longer than the limit; it may have ended since. While it
// runs, its executor (or its worker of a pool) runs nothing else.
type Stall struct {
	Name string        // of the executor
	Body core.Body     // kind
	For  time.Duration // a lower bound, exact to about one Interval

	// Stack is the stack of the goroutine that runs the body, at the time of the report. It
	// is "" if Over is true.
	Stack string

	Over bool // the body has ended
}

// String returns one line, and the stack if there is one.
func (s Stall) String() string {
	if s.Over {
		return fmt.Sprintf("%s: a %v ended after %v", s.Name, s.Body, s.For)
	}
	return fmt.Sprintf("%s: a %v has been running for %v:\n%s", s.Name, s.Body, s.For, s.Stack)
}

// stalling is a body that was running at the last reading.
type stalling struct {
	ran      time.Duration // time since the first reading that found it running
	reported bool
}

// watchdog compares the running bodies with those of the last reading. It returns the stalls
// that have begun or ended since. Only time in which the Watcher ran counts: a process that
// was stopped for an hour has no stalled bodies.
func (s *subject) watchdog(passed, limit time.Duration) (stalls []Stall) {
	if s.stack == nil {
		return nil
	}
	running := make(map[core.RunningBody]*stalling, len(s.status.Running))
	for i, r := range s.status.Running {
		b := s.seen[r.body]
		if b == nil {
			b = &stalling{ran: -passed}
		}
		b.ran += passed
		running[r.body] = b
		s.status.Running[i].For = b.ran
		if limit < 0 || b.reported || b.ran < limit {
			continue
		}
		if stack := s.stack(r.body); stack != "" { // otherwise it has just ended
			b.reported = true
			s.status.Stalls++
			stalls = append(stalls, Stall{Name: s.name, Body: r.body.Kind, For: b.ran, Stack: stack})
		}
	}
	for body, b := range s.seen {
		if running[body] == nil && b.reported {
			stalls = append(stalls, Stall{Name: s.name, Body: body.Kind, For: b.ran + passed, Over: true})
		}
	}
	s.seen = running
	return stalls
}

// report passes s to OnStall, or to the logger if OnStall is nil. It recovers their panics.
func (w *Watcher) report(s Stall) {
	if w.OnStall == nil {
		w.logStall(s)
		return
	}
	defer func() {
		if v := recover(); v != nil {
			w.log(slog.LevelError, "panic in OnStall", "executor", s.Name, "panic", v)
		}
	}()
	w.OnStall(s)
}

func (w *Watcher) logStall(s Stall) {
	if s.Over {
		w.log(slog.LevelInfo, "stalled body has ended", "executor", s.Name, "body", s.Body.String(), "for", s.For)
		return
	}
	w.log(slog.LevelWarn, "body is stalled", "executor", s.Name, "body", s.Body.String(), "for", s.For, "stack", s.Stack)
}

func (w *Watcher) log(level slog.Level, msg string, args ...any) {
	defer func() { _ = recover() }() // of the user's logger
	logger := w.Logger
	if logger == nil {
		logger = slog.Default()
	}
	logger.Log(context.Background(), level, msg, args...)
}
