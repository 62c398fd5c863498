package tcp_test

import (
	"context"
	"io"
	"net"
	"runtime"
	"testing"
	"time"
	"weak"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestG24ClosedChannelIsReleased: nothing of ours, a timer least of all, holds a
// channel that has closed before its deadline.
func TestG24ClosedChannelIsReleased(t *testing.T) {
	coretest.CheckLeaks(t)
	g := coretest.NewGroup(t, 1)
	closed := closeEarly(t, g)
	for range 100 {
		runtime.GC()
		if closed.Value() == nil {
			return
		}
		coretest.OnLoop(t, g.Next(), func() {})
	}
	t.Error("G24: a closed channel is still referred to")
}

// closeEarly closes a channel gracefully, with a deadline that is far away.
func closeEarly(t *testing.T, g *core.Group) weak.Pointer[tcp.Channel] {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ch, err := tcp.Dial(context.Background(), g, l.Addr().String(), tcp.HandlerBase{})
	if err != nil {
		t.Fatal(err)
	}
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	f := ch.CloseGracefully(time.Now().Add(time.Hour))
	_, _ = io.Copy(io.Discard, peer)
	_ = peer.Close()
	coretest.WantErr(t, "CloseGracefully", coretest.AwaitErr(t, "the close", f), nil)
	return weak.Make(ch)
}
