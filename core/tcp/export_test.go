package tcp

import (
	"iter"

	"eventide/core"
)

// ChannelsOn iterates over the open channels of one loop, as Channels does over those of a group.
func ChannelsOn(loop *core.EventLoop) iter.Seq[*Channel] {
	return loops{loop: loop}.channels(func(*Channel) bool { return true })
}
