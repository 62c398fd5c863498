package tcp_test

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// levels records the level of each message.
type levels struct {
	slog.Handler
	mu  *sync.Mutex
	all *[]slog.Level
}

func newLevels(t *testing.T) (l levels, option tcp.Option) {
	text := slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})
	l = levels{text, new(sync.Mutex), new([]slog.Level)}
	return l, tcp.WithLogger(slog.New(l))
}

func (l levels) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	*l.all = append(*l.all, r.Level)
	return nil
}

// TestLevels: failures are logged at Warn or Error; of the pauses of a listener the first at Warn,
// and later short ones at Debug.
func TestLevels(t *testing.T) {
	want := func(t *testing.T, l levels, want ...slog.Level) {
		t.Helper()
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(*l.all) != len(want) {
			t.Fatalf("levels: got %v, want %v", *l.all, want)
		}
		for i := range want {
			coretest.Want(t, "level", (*l.all)[i], want[i])
		}
	}
	t.Run("pauses", func(t *testing.T) {
		coretest.CheckLeaks(t)
		l, logger := newLevels(t)
		var attempts atomic.Int64
		g := coretest.NewGroup(t, 1)
		listener, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho, logger, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
			if op == "accept" && attempts.Add(1) <= 3 {
				return n, syscall.EMFILE
			}
			return n, 0
		}))
		coretest.Must(t, err)
		mustEcho(t, mustDial(t, listener.Addr()))
		want(t, l, slog.LevelWarn, slog.LevelDebug, slog.LevelDebug)
	})
	t.Run("a handler that panics", func(t *testing.T) {
		coretest.CheckLeaks(t)
		l, logger := newLevels(t)
		p := newPair(t, func(at string, _ *tcp.Channel, _ []byte) {
			if at == "Read" {
				panic("boom")
			}
		}, logger)
		_, _ = p.peer.Write([]byte("x"))
		p.Await(t, 1, "Unregistered")
		awaitGroupDown(t, p.group)
		want(t, l, slog.LevelError)
	})
	t.Run("a refused connection", func(t *testing.T) {
		coretest.CheckLeaks(t)
		l, logger := newLevels(t)
		g := coretest.NewGroup(t, 1)
		listener, err := tcp.Listen(g, g, "127.0.0.1:0", func() tcp.Handler { return nil }, logger)
		coretest.Must(t, err)
		wantEnd(t, mustDial(t, listener.Addr()))
		want(t, l, slog.LevelWarn)
	})
}
