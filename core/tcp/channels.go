package tcp

import (
	"iter"

	"eventide/core"
)

// Channels iterates over the open channels of group (IsOpen), accepted and dialled ones.
// Any goroutine may iterate, handlers and loops of group included.
//
// It sees each channel that is open from the begin of the loop statement to its end exactly
// once, and one that opens or closes meanwhile at most once. A channel is open just before
// its Handler.Active is called, so another goroutine may see it first. It may close at any
// time: what the loop body writes can be refused.
//
// A group that is nil, or not made of event loops, has no channels.
func Channels(group *core.Group) iter.Seq[*Channel] {
	return func(yield func(*Channel) bool) {
		if (loops{group: group}).check("Channels", "group") == nil {
			loops{group: group}.channels(func(*Channel) bool { return true })(yield)
		}
	}
}

// Channels iterates over the open channels that the listener has accepted, after its Close
// too. All else is as in the function of this name.
func (l *Listener) Channels() iter.Seq[*Channel] {
	return l.workers.channels(func(c *Channel) bool { return c.cfg == l.cfg })
}

// channels iterates over the open channels of the loops that are wanted.
func (l loops) channels(wanted func(*Channel) bool) iter.Seq[*Channel] {
	return func(yield func(*Channel) bool) {
		for loop := range l.all() {
			for registered := range loop.Channels() {
				side, ok := registered.(*loopSide) // not a listener, or a transport of others
				if !ok {
					continue
				}
				if c := (*Channel)(side); wanted(c) && c.IsOpen() && !yield(c) {
					return
				}
			}
		}
	}
}
