package core

import "iter"

// channelBatch is the number of slots that Channels reads in one critical section.
const channelBatch = 256

// Channels iterates over the channels that are registered with the loop. Any goroutine
// may iterate, including a body of the loop. It yields a channel that stays registered
// during the whole iteration exactly once. It yields a channel that is registered or ends
// meanwhile at most once, unless that channel ends and is registered again. The body of the
// range statement runs without the lock of the loop, so a channel may have ended when it is
// yielded.
func (l *EventLoop) Channels() iter.Seq[Channel] {
	return func(yield func(Channel) bool) {
		var batch []Channel
		for slot, more := 0, true; more; {
			batch, slot, more = l.channelsFrom(batch[:0], slot)
			for _, ch := range batch {
				if !yield(ch) {
					return
				}
			}
		}
	}
}

// channelsFrom appends the channels of the next slots to batch, and returns the slot after
// them and whether there are more. The slot of a registration does not change.
func (e *Executor) channelsFrom(batch []Channel, slot int) ([]Channel, int, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	end := min(slot+channelBatch, len(e.io.slots))
	for ; slot < end; slot++ {
		if r := e.io.slots[slot]; r != nil && r.isChannel {
			batch = append(batch, r.target)
		}
	}
	return batch, slot, slot < len(e.io.slots)
}
