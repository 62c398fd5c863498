package tcp_test

import (
	"context"
	"net"
	"slices"
	"sync"
	"syscall"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
	"eventide/core/tcp"
)

// ownContext is a context that is not of package context. Each watch of it is counted until it is stopped.
type ownContext struct {
	context.Context
	mu      sync.Mutex
	watches int
}

func (c *ownContext) Value(any) any { return nil }

// AfterFunc is called by package context for each context that is derived, and for each call of context.AfterFunc.
func (c *ownContext) AfterFunc(f func()) (stop func() bool) {
	c.add(1)
	stopped := context.AfterFunc(c.Context, func() { c.add(-1); f() })
	return func() bool {
		ok := stopped()
		if ok {
			c.add(-1)
		}
		return ok
	}
}

func (c *ownContext) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watches += n
}

func (c *ownContext) left() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.watches
}

// TestG24DialLeavesItsContext: a dial that has ended watches its context no more, which may live as long as the
// process.
func TestG24DialLeavesItsContext(t *testing.T) {
	l, err := listenForPeers()
	coretest.Must(t, err)
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_, closedPort, _ := net.SplitHostPort(closedAddr(t))
	for name, c := range map[string]struct {
		addr  string
		fails bool
	}{
		"connected":         {"127.0.0.1:" + port, false},
		"connected by name": {"localhost:" + port, false},
		"refused":           {"127.0.0.1:" + closedPort, true},
		"refused by name":   {"localhost:" + closedPort, true},
		"bad name":          {"localhost:no-such-service", true},
	} {
		for _, how := range []string{"Dial", "DialAsync"} {
			t.Run(name+", "+how, func(t *testing.T) {
				coretest.CheckLeaks(t)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				own, g := &ownContext{Context: ctx}, coretest.NewGroup(t, 1)
				ch, err := (*tcp.Channel)(nil), error(nil)
				if how == "Dial" {
					ch, err = tcp.Dial(own, g, c.addr, tcp.HandlerBase{})
				} else {
					ch, err = tcp.DialAsync(own, g, c.addr, tcp.HandlerBase{}).Wait(t.Context())
				}
				if (err != nil) != c.fails {
					t.Errorf("%s returned the error %v", how, err)
				}
				coretest.Until(t, "the end of the look-up", func() bool { return own.left() == 0 })
				if ch != nil {
					coretest.AwaitErr(t, "the close", ch.Close())
				}
			})
		}
	}
}

// TestDialThatTheLoopRefuses: the error says that the loop refuses the channel, and of which call it is. The call
// watches its context no more (G24).
func TestDialThatTheLoopRefuses(t *testing.T) {
	coretest.CheckLeaks(t)
	g := coretest.NewGroup(t, 1)
	g.Shutdown()
	coretest.AwaitDone(t, g)
	ctx, loop := &ownContext{Context: t.Context()}, g.Next().(*core.EventLoop)
	_, dial := tcp.Dial(ctx, g, closedAddr(t), tcp.HandlerBase{})
	_, dialOn := tcp.DialOn(ctx, loop, "localhost:1", tcp.HandlerBase{})
	_, dialAsync := tcp.DialAsync(ctx, g, closedAddr(t), tcp.HandlerBase{}).Wait(ctx)
	_, listen := tcp.Listen(g, g, "127.0.0.1:0", newEcho)
	_, listenOn := tcp.ListenOn(loop, "127.0.0.1:0", newEcho)
	const why = ": the loop refuses the channel: "
	cause := loop.TryExecute(func() {})
	for call, err := range map[string]error{"Dial": dial, "DialOn": dialOn, "DialAsync": dialAsync, "Listen": listen, "ListenOn": listenOn} {
		coretest.WantErr(t, call, err, core.ErrRejected, core.ErrShutdown)
		coretest.WantText(t, call, err, "tcp: "+call+why+cause.Error())
	}
	coretest.Want(t, "watches of the context", ctx.left(), 0)
}

// TestG24DialThatThePollerRefuses: a dial whose socket the poller refuses watches its context no more, and leaves no descriptor.
// A watch that is left would use a registration that does not exist, as soon as the context ends.
func TestG24DialThatThePollerRefuses(t *testing.T) {
	coretest.CheckLeaks(t)
	m := pollertest.NewModel(nil)
	l, err := core.NewEventLoop(core.WithPoller(m))
	loop := coretest.EndWithTest(t, l, err)
	m.Fail(pollertest.Add, syscall.ENOSPC)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	own, before := &ownContext{Context: ctx}, coretest.Descriptors(t)
	_, err = tcp.DialOn(own, loop, closedAddr(t), tcp.HandlerBase{})
	coretest.WantErr(t, "DialOn", err, syscall.ENOSPC)
	coretest.Until(t, "the end of the watches of the context", func() bool { return own.left() == 0 })
	if after := coretest.Descriptors(t); !slices.Equal(after, before) {
		t.Errorf("G24: the descriptors are %q, want %q", after, before)
	}
}
