package props

import (
	"eventide/core"
	"eventide/props/history"
)

// A step that schedules a timer of its own passes a core.Timer to ScheduleTimer: that of an earlier step,
// if it has ended and no call on it is in progress, or else a zero one. From then on the timer of
// the earlier step is not known any more: a call on it would be a call on the new one.

// claim reports whether the target of a cancel, a reset, a removal or a question exists, and keeps
// it from being scheduled again until release.
func (h *harness) claim(s Step) (known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch s.Op {
	case history.OpRemoveHook:
		known = h.removes[s.Target] != nil
	case history.OpCancel:
		known = h.futures[s.Target] != nil || h.timers[s.Target] != nil
	default:
		known = h.timers[s.Target] != nil
	}
	if known {
		h.claims[s.Target]++
	}
	return known
}

func (h *harness) release(s Step) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.claims[s.Target]--
}

// ownTimer returns the timer of step from, or a zero one.
func (h *harness) ownTimer(from int) *core.Timer {
	h.mu.Lock()
	t := h.timers[from]
	if t == nil || !h.oneShots[from] || h.claims[from] > 0 {
		h.mu.Unlock()
		return new(core.Timer)
	}
	delete(h.timers, from)
	h.mu.Unlock()
	if !isClosed(t.Done()) {
		h.mu.Lock()
		h.timers[from] = t
		h.mu.Unlock()
		return new(core.Timer)
	}
	h.lookAtEndedTimer(from, t)
	outcome := result(t.Err())
	h.mu.Lock()
	h.reused[from] = outcome
	h.mu.Unlock()
	return t
}
