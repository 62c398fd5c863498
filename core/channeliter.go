package core

import "iter"

// channelBatch is how many slots Channels looks at while it holds mu.
const channelBatch = 256

// Channels iterates over the channels that are registered with the loop. Any goroutine
// may iterate, including a body of the loop. A channel that stays registered during the
// whole iteration is seen exactly once. A channel that is registered or ends during the
// iteration is seen at most once, unless it ends and is registered again. mu is not held
// while the range statement's body runs, so a channel may have ended when that body gets
// it.
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
