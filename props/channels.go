package props

import (
	"maps"
	"slices"

	"eventide/props/history"
)

// askChannels iterates over the channels of the event loop: each one that is registered all the
// time comes once, each other one at most once, and none that has ended before.
func (h *harness) askChannels() {
	open, ended := h.openChannels(), h.rec.endedChannels()
	times := map[int]int{}
	for ch := range h.fds.loop.Channels() {
		c, ours := ch.(*channel)
		if !ours {
			h.blame("Channels has a %T", ch)
			return
		}
		times[c.r.step.ID]++
	}
	after := h.rec.endedChannels()
	for _, id := range open {
		if times[id] == 0 && !after[id] {
			h.blame("channel %d was registered all the time, and Channels leaves it out", id)
		}
	}
	for id, n := range times {
		if n > 1 || ended[id] {
			h.blame("Channels has channel %d %d times, and that it had ended before is %v", id, n, ended[id])
		}
	}
}

// openChannels returns the channels that are registered, except those that end meanwhile.
func (h *harness) openChannels() (ids []int) {
	ended := h.rec.endedChannels()
	h.fds.mu.Lock()
	defer h.fds.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(h.fds.byID)) { // in one order, so that a schedule can be repeated
		r := h.fds.byID[id]
		r.mu.Lock()
		registered := r.step.Op == history.OpRegisterChannel && r.reg != nil
		r.mu.Unlock()
		if registered && !ended[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// endedChannels returns the channels that have ended.
func (r *recorder) endedChannels() map[int]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.over)
}
