package props

import (
	"eventide/model"
	"eventide/props/history"
)

// A log has one total order, but concurrent events have none: an event may be written a
// moment after the fact, and another event may come between. This file has what the
// refinement allows for that, each with its limits.

// overtaken returns the Begin of a timer, the next event of the loop, if a is a shutdown call or a
// deadline on another goroutine, which may have come too late for that timer: nil otherwise. Both
// are possible, so r keeps both. Of a periodic timer a Cancel that returns true may come too late
// for the run that the loop has dequeued, which is then the last. A Cancel that returns false has come too late
// for such a run, or the policy had cancelled the timer.
func (r *refinement) overtaken(e *history.Event, a model.Action) *history.Event {
	switch a.Kind {
	case model.OpShutdown, model.OpShutdownGracefully, model.StepTimeoutFires:
	case model.OpCancel:
		if a.Body.Kind != model.TimerBody {
			return nil
		}
	default:
		return nil
	}
	next := r.nextOfLoop(e.N)
	if a.Kind == model.OpCancel && next != nil && next.ID != a.Body.ID {
		return nil
	}
	if a.From != model.Outside || next == nil || next.Kind != history.Begin || next.Body != history.BodyTimer || r.about[next.N].begun {
		return nil
	}
	return next
}

// endOvertakes reports whether a ends a registration on another goroutine, too late for the body
// of the registration whose Begin is the next event of the loop.
func (r *refinement) endOvertakes(e *history.Event, a model.Action) bool {
	if a.Kind != model.OpEnd || a.From != model.Outside {
		return false
	}
	next := r.nextOfLoop(e.N)
	return next != nil && next.Kind == history.Begin && next.Body.Registration() && next.ID == e.ID
}

// beginEarly moves the begin of the next body before position n, and reports whether that
// was possible. In core a body has begun when the loop has decided to run it, shortly
// before the log shows it: a cancel in between is too late, and the task takes no room in
// a bounded queue any more. The begin must be the next event of an awake loop.
func (r *refinement) beginEarly(n int) bool {
	e := r.nextOfLoop(n)
	if e == nil || e.Kind != history.Begin || r.about[e.N].begun || e.Body == history.BodyListener {
		return false
	}
	if e.Body == history.BodyAbort && r.faultBefore(n) { // the poller has lost the channel: see lostFirst
		for _, lost := range r.lost(e.ID) {
			if !r.sim.Follow(lost) {
				return false
			}
		}
	}
	follow := r.sim.Follow
	if r.about[e.N].either {
		follow = r.sim.Confirm
	}
	if !follow(r.begins(e)) {
		return false
	}
	r.about[e.N].begun = true
	return true
}

// madeRoom returns the Begin of a task that may have made room in a full queue for the task that
// a submits, though the log shows it after e; nil if there is none. Another explanation is that
// the loop has dropped a cancelled task, so r keeps both.
func (r *refinement) madeRoom(e *history.Event, a model.Action) *history.Event {
	if e.Kind != history.Admit || a.Outcome != history.Accepted || !a.Kind.Tasks() || !r.sim.MayBeFull() {
		return nil
	}
	begin := r.nextOfLoop(e.N)
	if begin == nil || begin.Kind != history.Begin || r.about[begin.N].begun || begin.Body != history.BodyTask && begin.Body != history.BodyTail {
		return nil
	}
	return begin
}

// justEnded reports whether a cancels or moves a periodic timer whose run has an End in the log
// but is not finished in core: there the timer is still running, so the call returns true.
func (r *refinement) justEnded(n int, a model.Action) bool {
	if a.Kind != model.OpCancel && a.Kind != model.OpReset || a.Outcome != history.True || a.Body.Kind != model.TimerBody {
		return false
	}
	for i := n - 1; i >= 0; i-- {
		if e := &r.events[i]; r.ofLoop(e) {
			return e.Kind == history.End && e.Body == history.BodyTimer && e.ID == a.Body.ID
		}
	}
	return false
}

// wasFull reports whether a is a refusal for a queue that was full a moment before. core
// counts, then logs its decision, and in between the loop may begin a task, for which it
// needs no lock. All other events that could come between need the lock. So wasFull
// searches back only over Begin, End, Invoke and Return events, and not beyond the call.
func (r *refinement) wasFull(e *history.Event, a model.Action) bool {
	if a.Outcome != history.RefusedQueueFull {
		return false
	}
	for n := e.N - 1; n > e.Call && r.full <= n; n-- {
		switch before := &r.events[n-1]; before.Kind {
		case history.Begin, history.End, history.Invoke, history.Return:
			if r.full == n {
				return true
			}
		default:
			return false
		}
	}
	return false
}

// nextOfLoop returns the first event of the loop itself after position n, or nil if the
// loop is asleep at n.
func (r *refinement) nextOfLoop(n int) *history.Event {
	for i := n - 1; i >= 0; i-- {
		if e := &r.events[i]; e.Kind == history.Park {
			return nil
		} else if r.ofLoop(e) {
			break
		}
	}
	for i := n; i < len(r.events); i++ {
		if e := &r.events[i]; r.ofLoop(e) {
			return e
		}
	}
	return nil
}

func (r *refinement) ofLoop(e *history.Event) bool {
	switch e.Kind {
	case history.Begin, history.End:
		return e.Body != history.BodyListener || r.regs[e.ID] && r.loops[e.G]
	case history.Park, history.Unpark:
		return true
	case history.Ended: // ended by the loop itself
		return e.Outcome == history.Errored && e.Cause != history.CauseReused
	}
	return false
}
