package tcp_test

import (
	"net/netip"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
	"eventide/core/tcp/tcptest"
)

// stub is a Socket that counts the calls of Close.
type stub struct {
	tcp.Socket
	closed *int
}

func (stub) FD() int                      { return 1 << 20 }
func (stub) Addrs() (l, r netip.AddrPort) { return }
func (s stub) Close(bool) error           { *s.closed++; return nil }

// TestEmbedThatFails leaves the socket to the caller, and does not call the handler.
func TestEmbedThatFails(t *testing.T) {
	coretest.CheckLeaks(t)
	closed := 0
	s := stub{closed: &closed}
	h := &recorder{}
	g, ended := coretest.NewGroup(t, 1), coretest.NewGroup(t, 1)
	ended.Shutdown()
	coretest.AwaitDone(t, ended)
	for name, f := range map[string]*core.Future[*tcp.Channel]{
		"no loop":                      tcp.Embed(nil, s, h),
		"no socket":                    tcp.Embed(loopOf(g), nil, h),
		"no handler":                   tcp.Embed(loopOf(g), s, nil),
		"a bad option":                 tcp.Embed(loopOf(g), s, h, tcp.WithWriteSpin(0)),
		"a loop that has ended":        tcp.Embed(loopOf(ended), s, h),
		"a poller that has no such FD": tcp.Embed(loopOf(g), s, h),
	} {
		if err := coretest.AwaitErr(t, name, f); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	coretest.OnLoop(t, g, func() {})
	coretest.Want(t, "calls of Close", closed, 0)
	h.Want(t, "the handler", "")
}

// TestEmbedWhoseActivePanics: the future completes with the channel, which closes, and its
// listeners run on the loop.
func TestEmbedWhoseActivePanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{then: func(at string, _ *tcp.Channel, _ []byte) {
			if at == "Active" {
				panic("boom")
			}
		}}
		p := tcptest.Connect(t, h)
		coretest.WantErr(t, "the cause", p.Channel().CloseCause(), tcp.ErrHandlerFailed)
		h.Want(t, "events", "Active Inactive Unregistered")
	})
}
