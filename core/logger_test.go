package core_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/internal/coretest"

	"github.com/petermattis/goid"
)

// textLogger returns a logger, and what it has written.
func textLogger() (*slog.Logger, *coretest.Log) {
	out := &coretest.Log{}
	return slog.New(slog.NewTextHandler(out, nil)), out
}

// TestLogsNameTheExecutor: each log message has the name of its executor.
func TestLogsNameTheExecutor(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		logger, out := textLogger()
		pool := coretest.NewPool(t, 1, core.WithName("bakery"), core.WithLogger(logger))
		ex := coretest.NewExecutor(t, core.WithName("brewery"), core.WithLogger(logger))
		coretest.MustExecute(t, pool, panics)
		coretest.MustExecute(t, ex, panics)
		synctest.Wait()
		for _, want := range []string{"executor=bakery", "executor=brewery"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("the log is %q, want %s in it", out, want)
			}
		}
	})
}

// TestDefaultLoggerIsReadAtEachFailure: a default logger that is set after the executor was
// made is used.
func TestDefaultLoggerIsReadAtEachFailure(t *testing.T) {
	ex := coretest.NewExecutor(t)
	for range 2 {
		out := coretest.DefaultLog(t)
		coretest.MustExecute(t, ex, panics)
		coretest.OnLoop(t, ex, func() {}) // the panic is reported before the next body
		if !strings.Contains(out.String(), "panic in a body") {
			t.Errorf("the default logger of the moment got %q, want the panic", out)
		}
	}
}

// hookedHandler is a slog.Handler that calls a function for each message.
type hookedHandler struct {
	slog.Handler
	handle func(message string)
}

func newHooked(handle func(message string)) *slog.Logger {
	return slog.New(hookedHandler{slog.DiscardHandler, handle})
}

func (h hookedHandler) Enabled(context.Context, slog.Level) bool { return true }
func (h hookedHandler) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h hookedHandler) Handle(_ context.Context, r slog.Record) error {
	h.handle(r.Message)
	return nil
}

// TestLoggerRunsWhereTheFailureIs: the panic of a body is logged on the loop, and that of a
// listener after Done on the goroutine that adds the listener.
func TestLoggerRunsWhereTheFailureIs(t *testing.T) {
	var mu sync.Mutex
	var at []int64
	ex := coretest.NewExecutor(t, core.WithLogger(newHooked(func(string) {
		mu.Lock()
		defer mu.Unlock()
		at = append(at, goid.Get())
	})))
	var loop int64
	coretest.MustExecute(t, ex, func() { loop = goid.Get(); panics() })
	coretest.Must(t, ex.Close())
	ex.Termination().OnDone(func(core.Report, error) { panics() })
	mu.Lock()
	defer mu.Unlock()
	if len(at) != 2 || at[0] != loop || at[1] != goid.Get() {
		t.Errorf("failures on goroutine %d and on %d were logged on %v", loop, goid.Get(), at)
	}
}

// TestLoggerThatPanics: nothing is lost if the handler of the logger panics.
func TestLoggerThatPanics(t *testing.T) {
	if !crashes(t) { // off the loop the panic would end the process
		return
	}
	calls := 0
	ex := coretest.NewExecutor(t, core.WithLogger(newHooked(func(string) { calls++; panic("no disk") })))
	ran := false
	coretest.MustExecute(t, ex, panics)
	coretest.MustExecute(t, ex, func() { ran = true })
	coretest.Must(t, ex.Close())
	ex.Termination().OnDone(func(core.Report, error) { panics() })
	if !ran || calls != 2 {
		t.Errorf("ran %v, logged %d times; want true, 2", ran, calls)
	}
}

// TestPanicHandlerInsteadOfTheLogger: the panic handler gets each panic once, and the logger
// none. It is called on the loop when the body has ended, and for a listener off the loop on
// the goroutine of the listener.
func TestPanicHandlerInsteadOfTheLogger(t *testing.T) {
	logger, out := textLogger()
	var ex *core.Executor
	var at []int64 // by the loop, and after Done by this goroutine
	ex = coretest.NewExecutor(t, core.WithLogger(logger), core.WithPanicHandler(func(*core.PanicError) {
		at = append(at, goid.Get())
		if s := ex.Stats(); s.Pending != 0 {
			t.Errorf("%d tasks are pending in the panic handler, want none: the body has ended", s.Pending)
		}
	}))
	var loop int64
	coretest.MustExecute(t, ex, func() { loop = goid.Get(); panics() })
	coretest.Must(t, ex.Close())
	core.Submit(ex, give(1)).OnDone(func(int, error) { panics() })
	if len(at) != 2 || at[0] != loop || at[1] != goid.Get() {
		t.Errorf("panics on the loop's goroutine %d and on %d were reported on %v", loop, goid.Get(), at)
	}
	if out.String() != "" {
		t.Errorf("the logger got %q, want nothing", out)
	}
}
