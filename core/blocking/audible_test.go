package blocking_test

import (
	"bytes"
	"log/slog"
	"sync"
	"syscall"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/blocking"
)

// defaultLog is what reaches slog.Default at Warn or above while a test runs.
type defaultLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (h *defaultLog) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.Write(p)
}

func (h *defaultLog) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.String()
}

func hearDefault(t *testing.T) *defaultLog {
	t.Helper()
	h, before := new(defaultLog), slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(h, &slog.HandlerOptions{Level: slog.LevelWarn})))
	t.Cleanup(func() { slog.SetDefault(before) })
	return h
}

// By default a failure that no caller is told of reaches slog.Default. A logger that
// discards is silence, for the group and for its channels.
func TestG23FailuresAreLogged(t *testing.T) {
	for name, fails := range map[string]func(t *testing.T, g *blocking.Group, opts ...blocking.Option){
		"a handler panics": func(t *testing.T, g *blocking.Group, opts ...blocking.Option) {
			ours, theirs := tcpPair(t)
			mustRegister(t, g, ours, &handler{read: func(*blocking.Channel, []byte) { panic("boom") }}, opts...)
			_, _ = theirs.Write([]byte("x"))
			_, _ = theirs.Read(make([]byte, 1)) // the end
			mustShutdownGracefully(t, g, 0, long)
			awaitDone(t, g)
		},
		"a deadline aborts a channel": func(t *testing.T, g *blocking.Group, opts ...blocking.Option) {
			ours, _ := tcpPair(t)
			onLoop(t, mustRegister(t, g, ours, &handler{}, opts...), func() {})
			mustShutdownGracefully(t, g, 0, time.Millisecond) // the peer does not end its side
			awaitDone(t, g)
		},
		"a shutdown discards a write": func(t *testing.T, g *blocking.Group, opts ...blocking.Option) {
			ours, _ := tcpPair(t)
			ch := mustRegister(t, g, ours, &handler{}, opts...)
			onLoop(t, ch, func() { ch.Write([]byte("never flushed")) })
			g.Shutdown()
			awaitDone(t, g)
		},
		"accept fails": func(t *testing.T, g *blocking.Group, opts ...blocking.Option) {
			ln := &scripted{Listener: listen(t), forever: syscall.EMFILE}
			served := make(chan error, 1)
			go func() { served <- g.Serve(ln, func() blocking.Handler { return echo() }, opts...) }()
			until(t, "two tries", func() bool { return ln.calls.Load() >= 2 })
			g.Shutdown()
			if err := <-served; err != nil {
				t.Errorf("Serve: %v, want nil", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := hearDefault(t)
			if fails(t, newGroup(t, 1)); h.String() == "" {
				t.Error("G23: nothing was logged by default")
			}
		})
		t.Run(name+", silence asked for", func(t *testing.T) {
			h := hearDefault(t)
			discard := slog.New(slog.DiscardHandler) // for the channels, and for the executors under them
			if fails(t, newGroup(t, 1, core.WithLogger(discard)), blocking.WithLogger(discard)); h.String() != "" {
				t.Errorf("G23: logged although silence was asked for: %s", h)
			}
		})
	}
}

// A nil logger is an error, as in core: it does not say whether silence is meant.
func TestNilLoggerIsAnError(t *testing.T) {
	g := newGroup(t, 1)
	ours, _ := tcpPair(t)
	defer func() { _ = ours.Close() }()
	if _, err := g.Register(ours, &handler{}, blocking.WithLogger(nil)); err == nil {
		t.Error("Register with a nil logger: got nil, want an error")
	}
}
