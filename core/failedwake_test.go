package core_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
)

// recordsHandler calls f for each record of a logger.
type recordsHandler struct{ f func(message string) }

func (h recordsHandler) Enabled(context.Context, slog.Level) bool { return true }
func (h recordsHandler) Handle(_ context.Context, r slog.Record) error {
	h.f(r.Message)
	return nil
}
func (h recordsHandler) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h recordsHandler) WithGroup(string) slog.Handler      { return h }

// A logger that posts work as the loop logs the failure of its poller does not wake the loop, which
// is awake.
func TestG12TheLoggerOfAFailureWakesNobody(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var ex *core.Executor
		model, called := pollertest.NewModel(nil), 0
		logger := slog.New(recordsHandler{func(string) {
			p := core.NewPromise[int](ex)
			p.Future().OnDone(func(int, error) { called++ })
			p.TrySuccess(1)
		}})
		ex, err := core.NewExecutor(core.WithPoller(model), core.WithLogger(logger))
		if err != nil {
			t.Fatal(err)
		}
		if err := ex.Execute(func() {}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		before := ex.Stats().Wakes
		model.Fail(pollertest.Wait, errPoller)
		coretest.AwaitDone(t, ex)
		if wakes := ex.Stats().Wakes - before; wakes != 0 || called != 1 {
			t.Errorf("G12: %d wake-ups and %d calls of the listener, want 0 and 1", wakes, called)
		}
	})
}
