package tcp_test

import (
	"net"
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
		"CloseGracefully elsewhere, which the loop handles behind Close": func(ch *tcp.Channel) {
			done := make(chan struct{})
			go func() { defer close(done); graceful(ch, time.Hour) }()
			<-done
			ch.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := coretest.NewGroup(t, 1)
			coretest.AwaitCollected(t, "the channel (G24)", func() *tcp.Channel { return useChannel(t, g, end) })
		})
	}
}

// useChannel makes a channel whose peer does not end its side, ends it on the loop, and returns it.
func useChannel(t *testing.T, g *core.Group, end func(*tcp.Channel)) *tcp.Channel {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	coretest.Must(t, err)
	defer l.Close()
	ch, err := tcp.Dial(t.Context(), g, l.Addr().String(), tcp.HandlerBase{}, tcp.WithIdleTimeouts(time.Hour, time.Hour, time.Hour))
	coretest.Must(t, err)
	peer, err := l.Accept()
	coretest.Must(t, err)
	defer peer.Close()
	coretest.OnLoop(t, ch.EventLoop(), func() { end(ch) })
	coretest.AwaitErr(t, "the end of the channel", ch.CloseFuture())
	return ch
}
