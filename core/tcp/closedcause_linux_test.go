package tcp_test

import (
	"errors"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestG22PendingWritesSayThatAShutdownHadBegun: a write that was accepted before a
// shutdown which does not drain fails as one that comes after it does: by errors.Is it
// is ErrChannelClosing too.
func TestG22PendingWritesSayThatAShutdownHadBegun(t *testing.T) {
	for name, c := range map[string]struct {
		opts    []core.Option
		channel []tcp.Option
		fill    bool // or the peer's kernel may have acknowledged everything at once
		end     func(t *testing.T, p *pair)
		closing bool
	}{
		"Shutdown":      {end: func(t *testing.T, p *pair) { p.group.Shutdown() }, closing: true},
		"CloseChannels": {opts: []core.Option{core.WithDrain(core.CloseChannels)}, end: func(t *testing.T, p *pair) { _, _ = p.group.ShutdownGracefully(0, coretest.HangGuard) }, closing: true},
		"Shutdown while it lingers": {channel: []tcp.Option{tcp.WithLinger(coretest.HangGuard)}, fill: true, end: func(t *testing.T, p *pair) {
			coretest.OnLoop(t, p.ch.EventLoop(), func() { p.ch.Close(); p.group.Shutdown() })
		}, closing: true},
		"Close":                      {end: func(t *testing.T, p *pair) { p.ch.Close() }},
		"Close, and then a shutdown": {end: func(t *testing.T, p *pair) { coretest.Await(t, "the close", p.ch.Close().Done()); p.group.Shutdown() }},
	} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			p := newPairOn(t, coretest.NewGroup(t, 1, c.opts...), nil, c.channel...)
			if c.fill {
				p.fill(t)
			}
			write := p.ch.Write([]byte("never flushed"))
			c.end(t, p)
			p.Await(t, 1, "Unregistered")
			output := coretest.AwaitErr(t, "the output", p.ch.CloseOutput())
			for what, err := range map[string]error{"the pending write": awaitWrite(t, write), "CloseOutput": output} {
				var closed *tcp.ClosedError
				if !errors.As(err, &closed) || closed.Closing != c.closing || errors.Is(err, tcp.ErrChannelClosing) != c.closing {
					t.Errorf("G22: %s failed with %#v, want a ClosedError with Closing %v", what, err, c.closing)
				}
			}
		})
	}
}
