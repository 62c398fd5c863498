package blocking_test

import (
	"net"
	"testing"
	"time"

	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// TestG24AClosedChannelIsCollected: no alarm of a close keeps the memory of a channel that has ended, however long
// WithCloseTimeout and the deadline are.
func TestG24AClosedChannelIsCollected(t *testing.T) {
	for name, end := range map[string]func(*blocking.Channel){
		"Close": func(ch *blocking.Channel) { ch.Close() },
		"Close on the executor": func(ch *blocking.Channel) {
			onLoop(t, ch, func() { ch.Close() })
		},
		"CloseGracefully": func(ch *blocking.Channel) { ch.CloseGracefully(time.Now().Add(time.Hour)) },
		"Close behind CloseGracefully": func(ch *blocking.Channel) {
			ch.CloseGracefully(time.Now().Add(2 * time.Hour))
			ch.CloseGracefully(time.Now().Add(time.Hour))
			ch.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, 0)
			coretest.AwaitCollected(t, "the channel (G24)", func() *blocking.Channel { return useChannel(t, g, end) })
		})
	}
}

// useChannel registers a channel, which writes, ends it, and returns it.
func useChannel(t *testing.T, g *blocking.Group, end func(*blocking.Channel)) *blocking.Channel {
	ours, theirs := net.Pipe()
	defer func() { _ = theirs.Close() }()
	ended := make(chan struct{})
	ch := mustRegister(t, g, ours, &handler{unregistered: func(*blocking.Channel) { close(ended) }}, blocking.WithCloseTimeout(time.Hour))
	w := ch.WriteAndFlush([]byte("x"))
	_, err := theirs.Read(make([]byte, 1))
	coretest.Must(t, err)
	coretest.Await(t, "the write", w.Done())
	end(ch)
	coretest.Await(t, "the end of the channel", ended)
	return ch
}
