package blocking_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// A channel that was closed before the shutdown call is none of those that the shutdown
// ended, though its last events, or its close, come after it.
func TestG23ClosedBeforeTheShutdown(t *testing.T) {
	for how, shutdown := range map[string]func(g *blocking.Group) *core.Termination{
		"ShutdownGracefully": func(g *blocking.Group) *core.Termination { return coretest.MustShutdownGracefully(t, g, 0, long) },
		"a timeout of 0":     func(g *blocking.Group) *core.Termination { return coretest.MustShutdownGracefully(t, g, 0, 0) },
		"Shutdown":           func(g *blocking.Group) *core.Termination { return g.Shutdown() },
	} {
		for _, at := range []string{"Inactive", "Unregistered", "on its way"} {
			t.Run(how+", "+at, func(t *testing.T) {
				var log bytes.Buffer
				g := newGroup(t, 1)
				ours, _ := tcpPair(t)
				h := &handler{}
				switch at {
				case "Inactive":
					h.inactive = func(*blocking.Channel) { shutdown(g) }
				case "Unregistered":
					h.unregistered = func(*blocking.Channel) { shutdown(g) }
				}
				ch := mustRegister(t, g, ours, h, blocking.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
				onLoop(t, ch, func() {}) // it is active
				if at == "on its way" {
					held, gate := make(chan struct{}), make(chan struct{})
					if err := ch.EventLoop().Execute(func() { close(held); <-gate }); err != nil {
						t.Fatal(err)
					}
					coretest.Await(t, "the task", held)
					ch.Close()
					shutdown(g)
					close(gate)
				} else {
					ch.Close()
				}
				r := coretest.AwaitDone(t, g)
				if r.ChannelsDrained != 0 || r.ChannelsAborted != 0 || r.BytesDiscarded != 0 {
					t.Errorf("G23: drained %d, aborted %d, discarded %d bytes of a channel that was closed before; want 0", r.ChannelsDrained, r.ChannelsAborted, r.BytesDiscarded)
				}
				if strings.Contains(log.String(), "aborted") {
					t.Errorf("G23: a channel that was closed before is logged as aborted: %s", log.String())
				}
			})
		}
	}
}

// InEventLoop is true in a body of another executor whose loop runs inside a body of the
// group: both are the caller's.
func TestG21InEventLoopInsideANestedLoop(t *testing.T) {
	g := newGroup(t, 1)
	ours, _ := tcpPair(t)
	ch := mustRegister(t, g, ours, &handler{})
	var nested func()
	inner, err := core.NewExecutor(core.WithSpawner(func(loop func()) error { nested = loop; return nil }))
	if err != nil {
		t.Fatal(err)
	}
	ran := false
	onLoop(t, ch, func() {
		if err := inner.Execute(func() {
			ran = true
			if !inner.InEventLoop() || !ch.EventLoop().InEventLoop() || !g.InEventLoop() {
				t.Errorf("G21: in a nested loop: InEventLoop of the inner one %v, of the outer one %v, of its group %v; want true", inner.InEventLoop(), ch.EventLoop().InEventLoop(), g.InEventLoop())
			}
		}); err != nil {
			t.Error(err)
		}
		inner.Shutdown()
		nested()
		if !g.InEventLoop() {
			t.Error("G21: InEventLoop is false after the nested loop has ended")
		}
	})
	if !ran || g.InEventLoop() {
		t.Errorf("G21: the nested body ran: %v; InEventLoop outside: %v; want true, false", ran, g.InEventLoop())
	}
}
