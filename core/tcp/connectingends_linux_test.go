package tcp_test

import (
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestG23ConnectingChannelIsNotCounted: a shutdown that ends a channel before it is active fails the dial with the cause, and
// counts no channel.
func TestG23ConnectingChannelIsNotCounted(t *testing.T) {
	addr := silentAddr(t)
	for name, end := range map[string]func(g *core.Group){
		"Shutdown":           func(g *core.Group) { g.Shutdown() },
		"ShutdownGracefully": func(g *core.Group) { coretest.MustShutdownGracefully(t, g, 0, coretest.HangGuard) },
	} {
		g := coretest.NewGroup(t, 1)
		h := &recorder{}
		f := tcp.DialAsync(t.Context(), g, addr, h)
		coretest.OnLoop(t, g, func() {}) // the connect has begun
		end(g)
		coretest.WantErr(t, name+": the dial", coretest.AwaitErr(t, "the dial", f), core.ErrShutdown)
		if r := coretest.AwaitDone(t, g); r.ChannelsAborted != 0 || r.ChannelsDrained != 0 {
			t.Errorf("G23: %s: %+v, want no channels", name, r)
		}
		h.Want(t, "the handler", "")
	}
}
