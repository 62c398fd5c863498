package tcp_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"eventide/core/internal/coretest"
)

// TestNoCallOfAChannelWaitsForItsLoop: each call returns while a task of the loop waits until it has
// returned. A call that waits for the loop is a deadlock of the bubble.
func TestNoCallOfAChannelWaitsForItsLoop(t *testing.T) {
	for _, state := range channelStates {
		for _, it := range slices.Concat(channelCallsAtOnce, channelGettersAtOnce) {
			name := fmt.Sprintf("%s of a channel that is %s", it.name, state.name)
			coretest.InNamedBubble(t, name, func(t *testing.T) {
				c := newCalledChannel(t, state.opts, state.make)
				returned := make(chan struct{})
				coretest.MustExecute(t, c.loop, func() { <-returned })
				synctest.Wait()
				it.call(c)
				close(returned)
				c.end(t)
			})
		}
	}
}
