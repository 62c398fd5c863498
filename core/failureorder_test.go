package core_test

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// slowLog is a handler that takes an hour for the record of a failure.
type slowLog struct {
	slog.Handler
	failures *atomic.Int64
}

func (slowLog) Enabled(context.Context, slog.Level) bool { return true }
func (h slowLog) WithAttrs([]slog.Attr) slog.Handler     { return h }

func (h slowLog) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "failed") {
		h.failures.Add(1)
		time.Sleep(time.Hour)
	}
	return nil
}

// TestG11ContextEndsBeforeAFailureIsLogged: a logger that takes long does not delay the end of the contexts.
func TestG11ContextEndsBeforeAFailureIsLogged(t *testing.T) {
	for name, open := range map[string]func(t testing.TB, opts ...core.Option) core.EventExecutor{
		"executor": func(t testing.TB, opts ...core.Option) core.EventExecutor { return coretest.NewExecutor(t, opts...) },
		"pool":     func(t testing.TB, opts ...core.Option) core.EventExecutor { return coretest.NewPool(t, 1, opts...) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				clock, failures := &askingClock{}, new(atomic.Int64)
				ex := open(t, core.WithClock(clock), core.WithLogger(slog.New(slowLog{failures: failures})))
				coretest.OnLoop(t, ex, func() {})
				began, fails := time.Now(), func() { panic(errClock) }
				coretest.MustExecute(t, ex, func() { clock.ask.Store(&fails) })
				<-ex.Context().Done()
				coretest.Want(t, "G11: the time until Context ends", time.Since(began), 0)
				coretest.AwaitDoneWithin(t, ex, 24*time.Hour)
				coretest.Want(t, "records of the failure", failures.Load() > 0, true)
			})
		})
	}
}
