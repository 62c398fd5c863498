package tcp

import (
	"iter"

	"eventide/core"
)

// Channels iterates over the open channels of group (IsOpen), accepted and dialled ones.
// Any goroutine may iterate, handlers and loops of group included.
//
// It yields each channel that is open during the whole iteration exactly
// once, and a channel that opens or closes meanwhile at most once. A channel is open just
// before its Handler.Active is called, so another goroutine may see it first. A channel may
// close at any time: a write in the loop body can be refused.
//
// A group that is nil, or not made of event loops, has no channels.
func Channels(group *core.Group) iter.Seq[*Channel] {
	return func(yield func(*Channel) bool) {
		if of := (loops{name: "group", group: group}); of.check("Channels") == nil {
			of.channels(func(*Channel) bool { return true })(yield)
		}
	}
}

// Channels iterates over the open channels that the listener has accepted, also after its
// Close. Otherwise it is like the function Channels.
func (l *Listener) Channels() iter.Seq[*Channel] {
	return l.workers.channels(func(c *Channel) bool { return c.cfg == l.cfg })
}

// channels iterates over the open channels of the loops for which wanted returns true.
func (l loops) channels(wanted func(*Channel) bool) iter.Seq[*Channel] {
	return func(yield func(*Channel) bool) {
		for loop := range l.all() {
			for registered := range loop.Channels() {
				side, ok := registered.(*loopSide)
				if !ok { // a listener, or another transport
					continue
				}
				if c := (*Channel)(side); wanted(c) && c.IsOpen() && !yield(c) {
					return
				}
			}
		}
	}
}
