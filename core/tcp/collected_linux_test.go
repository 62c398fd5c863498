package tcp_test

import (
	"net"
	"runtime"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestG24AClosedChannelIsCollected: no timer of a close or of idle times keeps the memory of a channel that has ended, however
// long its deadlines are.
func TestG24AClosedChannelIsCollected(t *testing.T) {
	graceful := func(ch *tcp.Channel, ahead time.Duration) { ch.CloseGracefully(time.Now().Add(ahead)) }
	for name, end := range map[string]func(*tcp.Channel){
		"Close":           func(ch *tcp.Channel) { ch.Close() },
		"CloseGracefully": func(ch *tcp.Channel) { graceful(ch, time.Hour); ch.Close() },
		"CloseGracefully with an earlier deadline": func(ch *tcp.Channel) {
			graceful(ch, 2*time.Hour)
			graceful(ch, time.Hour)
			ch.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := coretest.NewGroup(t, 1)
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

// useChannel makes a channel whose peer does not end its side, and ends it on the loop.
func useChannel(t *testing.T, g *core.Group, end func(*tcp.Channel), collected chan struct{}) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	coretest.Must(t, err)
	defer l.Close()
	ch, err := tcp.Dial(t.Context(), g, l.Addr().String(), tcp.HandlerBase{}, tcp.WithIdleTimeouts(time.Hour, time.Hour, time.Hour))
	coretest.Must(t, err)
	peer, err := l.Accept()
	coretest.Must(t, err)
	defer peer.Close()
	runtime.AddCleanup(ch, func(c chan struct{}) { close(c) }, collected)
	coretest.OnLoop(t, ch.EventLoop(), func() { end(ch) })
	coretest.AwaitErr(t, "the end of the channel", ch.CloseFuture())
}
