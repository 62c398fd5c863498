package tcp_test

import (
	"io"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestG23ClosedBeforeTheShutdown: a channel that was closed before the shutdown call is none
// of those that the shutdown ended, though its last events, or its close, come after it.
func TestG23ClosedBeforeTheShutdown(t *testing.T) {
	shutdowns := map[string]func(g *core.Group){
		"ShutdownGracefully": func(g *core.Group) { _, _ = g.ShutdownGracefully(0, coretest.HangGuard) },
		"Shutdown":           func(g *core.Group) { g.Shutdown() },
	}
	for how, shutdown := range shutdowns {
		for name, run := range map[string]func(t *testing.T, p *pair){
			"shutdown in Inactive": func(t *testing.T, p *pair) {
				p.on(t, "Inactive", func() { shutdown(p.group) })
				p.ch.Close()
			},
			"shutdown in Unregistered": func(t *testing.T, p *pair) {
				p.on(t, "Unregistered", func() { shutdown(p.group) })
				p.ch.Close()
			},
			"shutdown in a listener of the close, after a reset": func(t *testing.T, p *pair) {
				p.ch.CloseFuture().OnDone(func(struct{}, error) { shutdown(p.group) })
				_ = p.peer.SetLinger(0)
				_ = p.peer.Close()
			},
			"the close is on its way": func(t *testing.T, p *pair) {
				held, gate := make(chan struct{}), make(chan struct{})
				if err := p.group.Execute(func() { close(held); <-gate }); err != nil {
					t.Fatal(err)
				}
				coretest.Await(t, "the task", held)
				p.ch.Close()
				shutdown(p.group)
				close(gate)
			},
		} {
			t.Run(how+", "+name, func(t *testing.T) {
				coretest.CheckLeaks(t)
				p := newPair(t, nil)
				p.ch.Write([]byte("never flushed"))
				run(t, p)
				r := coretest.AwaitDone(t, p.group)
				if r.ChannelsDrained != 0 || r.ChannelsAborted != 0 || r.BytesDiscarded != 0 {
					t.Errorf("G23: drained %d, aborted %d, discarded %d bytes of a channel that was closed before; want 0", r.ChannelsDrained, r.ChannelsAborted, r.BytesDiscarded)
				}
			})
		}
	}
}

// TestG23ClosedAfterTheShutdownCall: the Report counts a Close of a draining channel.
func TestG23ClosedAfterTheShutdownCall(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil)
	p.fill(t)
	if _, err := p.group.ShutdownGracefully(0, coretest.HangGuard); err != nil {
		t.Fatal(err)
	}
	p.ch.Close()
	if r := coretest.AwaitDone(t, p.group); r.ChannelsDrained != 0 || r.ChannelsAborted != 1 || r.BytesDiscarded == 0 {
		t.Errorf("G23: drained %d, aborted %d, discarded %d bytes; want 0, 1, more than 0", r.ChannelsDrained, r.ChannelsAborted, r.BytesDiscarded)
	}
}

// TestG23LingeringAtTheShutdown: a shutdown that cuts a linger short has ended the channel.
func TestG23LingeringAtTheShutdown(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil, tcp.WithLinger(coretest.HangGuard))
	p.fill(t)
	coretest.OnLoop(t, p.group, func() { p.ch.Close() })
	p.group.Shutdown()
	if r := coretest.AwaitDone(t, p.group); r.ChannelsDrained != 0 || r.ChannelsAborted != 1 {
		t.Errorf("G23: drained %d, aborted %d; want 0, 1", r.ChannelsDrained, r.ChannelsAborted)
	}
}

// TestG23LingerThatEndsByItself: a shutdown does not count a channel that lingers after the end of the peer's stream, if
// Close was called before it and the time of the linger passes: the shutdown has cut nothing.
func TestG23LingerThatEndsByItself(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil, tcp.WithLinger(100*time.Millisecond), noWaterMarks())
	n := p.ourKernelTakes(t)
	coretest.OnLoop(t, p.group, func() { p.ch.WriteAndFlush(make([]byte, n)) })
	coretest.Must(t, p.peer.CloseWrite())
	coretest.Until(t, "the channel to linger", func() bool { return !p.ch.IsOpen() })
	p.ch.Close()
	_, err := p.group.ShutdownGracefully(0, coretest.HangGuard)
	coretest.Must(t, err)
	p.ch.Close() // the first call was before the shutdown
	if r := coretest.AwaitDone(t, p.group); r.ChannelsDrained != 0 || r.ChannelsAborted != 0 {
		t.Errorf("G23: drained %d, aborted %d; want 0, 0", r.ChannelsDrained, r.ChannelsAborted)
	}
	coretest.WantErr(t, "the cause of the close", p.ch.CloseCause(), io.EOF)
}
