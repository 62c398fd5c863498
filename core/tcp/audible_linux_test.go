package tcp_test

import (
	"log/slog"
	"syscall"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestG23FailuresAreLogged: by default a failure that no call returns is logged to
// slog.Default. A logger that discards keeps silent.
func TestG23FailuresAreLogged(t *testing.T) {
	for name, fails := range map[string]func(t *testing.T, opts ...tcp.Option){
		"a handler panics": func(t *testing.T, opts ...tcp.Option) {
			p := newPair(t, func(at string, _ *tcp.Channel, _ []byte) {
				if at == "Read" {
					panic("boom")
				}
			}, opts...)
			_, _ = p.peer.Write([]byte("x"))
			p.Await(t, 1, "Unregistered")
			awaitGroupDown(t, p.group)
		},
		"a deadline aborts a channel": func(t *testing.T, opts ...tcp.Option) {
			p := newPair(t, nil, opts...)
			_, _ = p.group.ShutdownGracefully(0, time.Millisecond) // the peer does not end its side
			coretest.AwaitDone(t, p.group)
			p.Want(t, "events", "Active Inactive Unregistered")
		},
		"a shutdown discards a write": func(t *testing.T, opts ...tcp.Option) {
			p := newPairOn(t, coretest.NewGroup(t, 1, core.WithDrain(core.CloseChannels)), nil, opts...)
			p.fill(t)
			_, _ = p.group.ShutdownGracefully(0, coretest.HangGuard)
			coretest.AwaitDone(t, p.group)
		},
		"accept fails": func(t *testing.T, opts ...tcp.Option) {
			g := coretest.NewGroup(t, 1)
			l, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho, append(opts, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
				if op == "accept" {
					return n, syscall.EMFILE
				}
				return n, 0
			}))...)
			if err != nil {
				t.Fatal(err)
			}
			defer mustDial(t, l.Addr()).Close()
			coretest.Until(t, "a pause", func() bool { return l.Stats().Paused > 0 })
			coretest.OnLoop(t, g, func() {}) // behind the line
		},
	} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			h := coretest.DefaultLog(t)
			if fails(t); h.String() == "" {
				t.Error("G23: nothing was logged by default")
			}
		})
		t.Run(name+", silence asked for", func(t *testing.T) {
			coretest.CheckLeaks(t)
			h := coretest.DefaultLog(t)
			if fails(t, tcp.WithLogger(slog.New(slog.DiscardHandler))); h.String() != "" {
				t.Errorf("G23: logged although silence was asked for: %s", h)
			}
		})
	}
}
