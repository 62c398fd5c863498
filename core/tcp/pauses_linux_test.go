package tcp_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// pauseLog keeps how long each pause of a listener is.
type pauseLog struct {
	slog.Handler
	pauses chan string
}

func (l pauseLog) Enabled(context.Context, slog.Level) bool { return true }

func (l pauseLog) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "pause" {
			l.pauses <- a.Value.String()
		}
		return true
	})
	return nil
}

// TestPausesOfAListener: each pause is twice as long as the one before, until a connection is taken:
// one that becomes a channel, or one that every worker refuses. The next pause is the first again.
func TestPausesOfAListener(t *testing.T) {
	for name, refused := range map[string]bool{"served": false, "refused": true} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			boss, worker := coretest.NewGroup(t, 1), coretest.NewGroup(t, 1)
			if refused {
				worker.Shutdown()
				coretest.AwaitDone(t, worker)
			}
			log := pauseLog{slog.DiscardHandler, make(chan string, 100)}
			attempt := 0 // accept is called on one loop
			l, err := tcp.Listen(boss, worker, "127.0.0.1:0", newEcho, tcp.WithLogger(slog.New(log)), tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
				if op != "accept" {
					return n, 0
				}
				if attempt++; attempt == 4 || attempt > 6 {
					return n, 0
				}
				return n, syscall.EMFILE
			}))
			coretest.Must(t, err)
			mustDial(t, l.Addr())
			const pauses = 5
			coretest.Until(t, "the pauses", func() bool { return len(log.pauses) >= pauses })
			var got []string
			for range pauses {
				got = append(got, <-log.pauses)
			}
			coretest.Want(t, "pauses", strings.Join(got, " "), "5ms 10ms 20ms 5ms 10ms")
			coretest.Want(t, "counters", fmt.Sprint(l.Stats()), map[bool]string{false: "{1 0 5}", true: "{1 1 5}"}[refused])
		})
	}
}
