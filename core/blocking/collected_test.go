package blocking_test

import (
	"net"
	"runtime"
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
			collected := make(chan struct{})
			useChannel(t, g, end, collected)
			coretest.Until(t, "the collection of the channel (G24)", func() bool {
				runtime.GC()
				select {
				case <-collected:
					return true
				default:
					return false
				}
			})
		})
	}
}

// useChannel registers a channel, which writes, and ends it.
func useChannel(t *testing.T, g *blocking.Group, end func(*blocking.Channel), collected chan struct{}) {
	ours, theirs := net.Pipe()
	defer func() { _ = theirs.Close() }()
	ended := make(chan struct{})
	ch := mustRegister(t, g, ours, &handler{unregistered: func(*blocking.Channel) { close(ended) }}, blocking.WithCloseTimeout(time.Hour))
	runtime.AddCleanup(ch, func(c chan struct{}) { close(c) }, collected)
	w := ch.WriteAndFlush([]byte("x"))
	_, err := theirs.Read(make([]byte, 1))
	coretest.Must(t, err)
	coretest.Await(t, "the write", w.Done())
	end(ch)
	coretest.Await(t, "the end of the channel", ended)
}
