package blocking_test

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"syscall"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// levels are the levels of TestG23FailuresAreLogged's failures.
var levels = map[string]slog.Level{
	"a handler panics":            slog.LevelError,
	"a deadline aborts a channel": slog.LevelWarn,
	"a shutdown discards a write": slog.LevelWarn,
	"a shutdown refuses a write":  slog.LevelWarn,
	"accept fails":                slog.LevelWarn,
}

// levelsOf is a slog.Handler that records the levels of the messages.
type levelsOf struct {
	slog.Handler
	mu   sync.Mutex
	seen map[slog.Level]bool
}

func (l *levelsOf) Enabled(context.Context, slog.Level) bool { return true }

func (l *levelsOf) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen[r.Level] = true
	return nil
}

// By default a failure that no call returns is logged to slog.Default. With a logger that
// discards, the group and its channels are silent.
func TestG23FailuresAreLogged(t *testing.T) {
	for name, fails := range map[string]func(t *testing.T, g *blocking.Group, opts ...blocking.Option){
		"a handler panics": func(t *testing.T, g *blocking.Group, opts ...blocking.Option) {
			ours, theirs := tcpPair(t)
			mustRegister(t, g, ours, &handler{read: func(*blocking.Channel, []byte) { panic("boom") }}, opts...)
			_, _ = theirs.Write([]byte("x"))
			_, _ = theirs.Read(make([]byte, 1)) // the end
			coretest.MustShutdownGracefully(t, g, 0, long)
			coretest.AwaitDone(t, g)
		},
		"a deadline aborts a channel": func(t *testing.T, g *blocking.Group, opts ...blocking.Option) {
			ours, _ := tcpPair(t)
			onLoop(t, mustRegister(t, g, ours, &handler{}, opts...), func() {})
			coretest.MustShutdownGracefully(t, g, 0, time.Millisecond) // the peer does not end its side
			coretest.AwaitDone(t, g)
		},
		"a shutdown discards a write": func(t *testing.T, g *blocking.Group, opts ...blocking.Option) {
			ours, _ := tcpPair(t)
			ch := mustRegister(t, g, ours, &handler{}, opts...)
			onLoop(t, ch, func() { ch.Write([]byte("never flushed")) })
			g.Shutdown()
			coretest.AwaitDone(t, g)
		},
		"a shutdown refuses a write": func(t *testing.T, g *blocking.Group, opts ...blocking.Option) {
			ours, theirs := tcpPair(t)
			ch := mustRegister(t, g, ours, &handler{}, opts...)
			onLoop(t, ch, func() {
				_, _ = g.ShutdownGracefully(0, long)
				refused := make(chan error)
				go func() { refused <- ch.Write([]byte("late")).Err() }()
				coretest.WantErr(t, "the write", <-refused, blocking.ErrChannelClosing)
			})
			_ = theirs.Close()
			coretest.AwaitDone(t, g)
		},
		"accept fails": func(t *testing.T, g *blocking.Group, opts ...blocking.Option) {
			ln := &scripted{Listener: listen(t), forever: syscall.EMFILE}
			served := make(chan error, 1)
			go func() { served <- g.Serve(ln, func() blocking.Handler { return echo() }, opts...) }()
			coretest.Until(t, "two tries", func() bool { return ln.calls.Load() >= 2 })
			g.Shutdown()
			if err := <-served; err != nil {
				t.Errorf("Serve: %v, want nil", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := coretest.DefaultLog(t)
			if fails(t, newGroup(t, 1)); h.String() == "" {
				t.Error("G23: nothing was logged by default")
			}
		})
		t.Run(name+", level", func(t *testing.T) {
			h := &levelsOf{Handler: slog.DiscardHandler, seen: map[slog.Level]bool{}}
			fails(t, newGroup(t, 1), blocking.WithLogger(slog.New(h)))
			if want := (map[slog.Level]bool{levels[name]: true}); !maps.Equal(h.seen, want) {
				t.Errorf("G23: logged at %v, want %v alone", h.seen, levels[name])
			}
		})
		t.Run(name+", silence asked for", func(t *testing.T) {
			h := coretest.DefaultLog(t)
			discard := slog.New(slog.DiscardHandler) // for the channels, and for the executors under them
			if fails(t, newGroup(t, 1, core.WithLogger(discard)), blocking.WithLogger(discard)); h.String() != "" {
				t.Errorf("G23: a logger that discards was bypassed: %s", h)
			}
		})
	}
}

// A nil logger is the default, and not silence.
func TestNilLoggerIsTheDefault(t *testing.T) {
	out := coretest.DefaultLog(t)
	g := newGroup(t, 1)
	ours, peer := tcpPair(t)
	h := &handler{read: func(*blocking.Channel, []byte) { panic("boom") }}
	mustRegister(t, g, ours, h, blocking.WithLogger(slog.New(slog.DiscardHandler)), blocking.WithLogger(nil), nil)
	_, _ = peer.Write([]byte("x"))
	_, _ = peer.Read(make([]byte, 1)) // the end
	coretest.MustShutdownGracefully(t, g, 0, long)
	coretest.AwaitDone(t, g)
	if out.String() == "" {
		t.Error("nothing was logged")
	}
}
