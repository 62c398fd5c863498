package tracked_test

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"eventide/core"
	"eventide/core/tracked"
)

// spec specifies a Group in an order of calls, ends and timers. Its methods do what happens at an
// instant, which is no earlier than that of the method before.
type spec struct {
	name    string // of WithName
	handled bool   // by an error handler

	limit   int
	state   core.State
	running []*running
	waiting []*call

	accepted, ran, rejected, panicked int64
	first                             error
	firstFrom                         string

	calledAt       time.Time // zero before the shutdown call
	quiet, timeout time.Duration
	idleSince      time.Time // the shutdown call, or the end of the last function since
	closedAt       time.Time
	cause          error
	still          []*running // when the timeout passed
	endedAt        time.Time

	logged []record
}

// running is a function that the group accepts or refuses.
type running struct {
	function
	began     time.Time // when it was accepted
	bare      bool      // of Execute: it has no context
	goroutine int64
	runs      int
	err       error // of its end
	ended     time.Time
}

// call is a call that may wait.
type call struct {
	what     string
	decided  bool // of an admission: accepted or refused
	at       time.Time
	err      error
	until    time.Time // of a wait: the end of its context; zero: it has none
	waits    bool      // for the end of the group
	accept   *running  // when the limit allows
	returned bool
}

// closesAt returns when and why the group closes if nothing else happens. At the timeout it closes
// because of it, even if the quiet period ends then.
func (s *spec) closesAt() (at time.Time, cause error, closes bool) {
	if s.state != core.StateShuttingDown {
		return at, nil, false
	}
	deadline, quietEnd := s.calledAt.Add(s.timeout), s.idleSince.Add(s.quiet)
	if len(s.running) == 0 && (quietEnd.Before(deadline) || s.quiet == 0) {
		return quietEnd, core.ErrShutdown, true
	}
	return deadline, core.ErrShutdownTimeout, true
}

// advance closes the group if that is due.
func (s *spec) advance(now time.Time) {
	if at, cause, closes := s.closesAt(); closes && !at.After(now) {
		s.close(cause, at)
	}
}

func (s *spec) close(cause error, at time.Time) {
	s.state, s.cause, s.closedAt = core.StateShutdown, cause, at
	for _, c := range s.waiting {
		s.refuse(c, cause, at)
	}
	s.waiting = nil
	if cause == core.ErrShutdownTimeout && len(s.running) > 0 {
		s.still = slices.Clone(s.running)
		s.log(at, slog.LevelWarn, "timeout of the graceful shutdown passed", map[string]any{"running": s.still})
	}
	s.end(at)
}

// end ends a closed group after its last function.
func (s *spec) end(at time.Time) {
	if s.state == core.StateShutdown && len(s.running) == 0 {
		s.state, s.endedAt = core.StateTerminated, at
	}
}

func (s *spec) log(at time.Time, level slog.Level, text string, attrs map[string]any) {
	if s.name != "" {
		attrs["group"] = s.name
	}
	s.logged = append(s.logged, record{at, level, "tracked: " + text, attrs})
}

// admit decides a call for f: f is accepted, refused, or waits for the limit if it may.
func (s *spec) admit(c *call, f *running, waits bool, now time.Time) {
	switch {
	case s.state >= core.StateShutdown:
		s.refuse(c, s.cause, now)
	case s.below():
		s.accept(c, f, now)
	case !waits:
		s.refuse(c, tracked.ErrLimit, now)
	default:
		s.waiting = append(s.waiting, c)
		c.accept = f
	}
}

func (s *spec) below() bool { return s.limit < 0 || len(s.running) < s.limit }

func (s *spec) refuse(c *call, reason error, now time.Time) {
	if s.state != core.StateTerminated {
		s.rejected++
	}
	c.decided, c.at, c.err = true, now, &core.RejectedError{State: s.state, Reason: reason}
}

func (s *spec) accept(c *call, f *running, now time.Time) {
	c.decided, c.at = true, now
	f.began = now
	s.running = append(s.running, f)
	s.accepted++
	s.state = max(s.state, core.StateStarted)
}

// acceptWaiting serves the waiting calls in order.
func (s *spec) acceptWaiting(now time.Time) {
	for len(s.waiting) > 0 && s.below() {
		c := s.waiting[0]
		s.waiting = s.waiting[1:]
		s.accept(c, c.accept, now)
	}
}

func (s *spec) setLimit(n int, now time.Time) {
	s.limit = n
	s.acceptWaiting(now)
}

// gracefully is a shutdown call; only the first one has an effect.
func (s *spec) gracefully(quiet, timeout time.Duration, now time.Time) {
	if !s.calledAt.IsZero() {
		return
	}
	s.calledAt, s.idleSince, s.quiet, s.timeout, s.state = now, now, quiet, timeout, core.StateShuttingDown
	s.advance(now)
}

func (s *spec) shutdown(now time.Time) {
	if s.calledAt.IsZero() {
		s.calledAt = now
	}
	if s.state < core.StateShutdown {
		s.close(core.ErrShutdown, now)
	}
}

// fails records the error of a function that has not returned yet.
func (s *spec) fails(f *running, now time.Time) {
	if f.err == nil {
		return
	}
	if s.first == nil {
		s.first, s.firstFrom = f.err, f.Name
	}
	if f.End == "panic" {
		s.panicked++
	}
	if !s.handled {
		attrs := map[string]any{"function": f.Name, "error": f.err}
		if f.End == "panic" {
			attrs["stack"] = "(*living).ends"
		}
		s.log(now, slog.LevelError, "function failed", attrs)
	}
}

// returns ends a function.
func (s *spec) returns(f *running, now time.Time) {
	s.running = slices.DeleteFunc(s.running, func(other *running) bool { return other == f })
	s.ran++
	if s.state < core.StateShutdown {
		s.acceptWaiting(now)
	}
	s.idleSince = now
	s.advance(now)
	s.end(now)
}

// report returns the report without Running.
func (s *spec) report(now time.Time) core.Report {
	r := core.Report{
		Accepted: s.accepted, Ran: s.ran, Rejected: s.rejected, Panicked: s.panicked,
		TimedOut: s.cause == core.ErrShutdownTimeout, Quiet: s.quiet, Timeout: s.timeout,
	}
	switch {
	case s.state == core.StateTerminated:
		r.Elapsed = s.endedAt.Sub(s.calledAt)
	case !s.calledAt.IsZero():
		r.Elapsed = now.Sub(s.calledAt)
	}
	return r
}

// sameFailure compares the error of the group with that of its first failed function.
func (s *spec) sameFailure(got error) bool {
	if s.first == nil || s.firstFrom == "" {
		return same(got, s.first)
	}
	inner := errors.Unwrap(got)
	return got != nil && same(inner, s.first) && got.Error() == "tracked: "+s.firstFrom+": "+inner.Error()
}

// oldestFirst is the order of Functions.
func oldestFirst(all []*running) []*running {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b *running) int { return cmp.Or(a.began.Compare(b.began), cmp.Compare(a.Name, b.Name)) })
	return all
}

var errOfFunction, errOfContext = errors.New("of the function"), errors.New("of the context of a wait")

// errOf is the error of a function that ends so.
func errOf(end string) error {
	switch end {
	case "error":
		return errOfFunction
	case "panic":
		return &core.PanicError{Value: "of the function"}
	case "exit":
		return core.ErrGoexit
	case "wrapped":
		return fmt.Errorf("the future: %w", &core.PanicError{Value: "elsewhere", Stack: []byte("elsewhere")})
	case "old": // it has the result of a future, and does not panic itself
		return &core.PanicError{Value: "elsewhere", Stack: []byte("elsewhere")}
	}
	return nil
}
