package props

import (
	"time"

	"eventide/core"
	"eventide/props/interleave/control"
)

// shutdownLooks are what looks have seen of the shutdown. Guarded by harness.mu.
type shutdownLooks struct {
	open           time.Time // the last look that saw no shutdown call, at its begin; zero: none did
	called         time.Time // the first look that saw one, at its end; zero: none did
	quiet, timeout time.Duration
	timedOut       bool
}

// lookAtReport compares the report before the end with the counters before and after it, and with
// what other looks have seen.
func (h *harness) lookAtReport() {
	from, before := time.Now(), h.ex.Stats()
	sample := ReportSample{After: h.rec.log.Len()}
	sample.Cancelled[0] = h.rec.cancelledTimers()
	r := h.ex.Termination().Report()
	sample.take(h, r)
	after := h.ex.Stats()
	to := time.Now()
	if before.State == core.StateTerminated {
		return // checkFinal judges the sealed report
	}
	for _, c := range []struct {
		what              string
		before, is, after int64
	}{
		{"Accepted", before.Accepted, r.Accepted, after.Accepted}, {"Ran", before.Ran, r.Ran, after.Ran},
		{"Cancelled", before.Cancelled, r.Cancelled, after.Cancelled}, {"Panicked", before.Panicked, r.Panicked, after.Panicked},
		{"Rejected", before.Rejected, r.Rejected, after.Rejected}, {"HooksRun", before.HooksRun, r.HooksRun, after.HooksRun},
		{"TimersRun", before.TimersRun, r.TimersRun, after.TimersRun}, {"TimersCancelled", before.TimersCancelled, r.TimersCancelled, after.TimersCancelled},
	} {
		if c.is < c.before || c.is > c.after {
			h.blame("the report has %s %d between two snapshots that have %d and %d", c.what, c.is, c.before, c.after)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reports = append(h.reports, sample)
	s := &h.shut
	if after.State < core.StateShuttingDown {
		if s.open.Before(from) {
			s.open = from
		}
		if r.Quiet != 0 || r.Timeout != 0 || r.Elapsed != 0 || r.TimedOut || r.Running != "" {
			h.blame("before the shutdown call the report is %+v", r)
		}
	}
	if before.State < core.StateShuttingDown {
		return
	}
	if s.called.IsZero() {
		s.called, s.quiet, s.timeout = to, r.Quiet, r.Timeout
	}
	exact := !h.real && h.clock.h == nil && h.clock.grain == 0
	// A caller reads a user's clock before the lock. Under chosen schedules time may pass between the two.
	late := control.Chosen()
	switch {
	case r.Quiet != s.quiet || r.Timeout != s.timeout || s.timedOut && !r.TimedOut:
		h.blame("the report has the quiet period %v, the timeout %v and timed out: %v; an earlier one had %v, %v and %v", r.Quiet, r.Timeout, r.TimedOut, s.quiet, s.timeout, s.timedOut)
	case exact && r.Elapsed < from.Sub(s.called), exact && !late && !s.open.IsZero() && r.Elapsed > to.Sub(s.open):
		h.blame("Elapsed is %v; the shutdown call came more than %v and at most %v ago", r.Elapsed, from.Sub(s.called), to.Sub(s.open))
	}
	s.timedOut = r.TimedOut
}

// lookAtBegun is called with a state that the executor has had: ShutdownContext ends with the shutdown
// call, and so has ended if that call was seen at an earlier time. Under chosen schedules time may pass
// within the call, so nothing is known of it there.
func (h *harness) lookAtBegun(state core.State) {
	if h.real || control.Chosen() || state < core.StateShuttingDown {
		return
	}
	now := int64(time.Since(h.start)) + 1
	if first := h.begunAt.Load(); first == 0 {
		h.begunAt.CompareAndSwap(0, now)
	} else if now > first && !isClosed(h.ex.ShutdownContext().Done()) {
		h.blame("ShutdownContext has not ended %v after the shutdown call", time.Duration(now-first))
	}
}

// lookAtReportEnded compares the sealed report with what looks have seen.
func (h *harness) lookAtReportEnded() {
	h.mu.Lock()
	defer h.mu.Unlock()
	r, s := h.ex.Termination().Report(), &h.shut
	if !s.called.IsZero() && (r.Quiet != s.quiet || r.Timeout != s.timeout || s.timedOut && !r.TimedOut) {
		h.blame("the sealed report has the quiet period %v, the timeout %v and timed out: %v; an earlier one had %v, %v and %v", r.Quiet, r.Timeout, r.TimedOut, s.quiet, s.timeout, s.timedOut)
	}
}

// lookAtState compares State with Done: it is Terminated if and only if Done is closed (G15). The
// clock of the program calls it too, because an executor reads the clock while it ends.
func (h *harness) lookAtState() {
	open := !isClosed(h.ex.Termination().Done())
	switch state := h.ex.State(); {
	case !open && state != core.StateTerminated:
		h.blame("Done is closed, and the state is %v", state)
	case state == core.StateTerminated && !isClosed(h.ex.Termination().Done()):
		h.blame("the state is Terminated, and Done is open")
	}
}
