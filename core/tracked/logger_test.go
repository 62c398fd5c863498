package tracked

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// panickingHandler is a slog.Handler that panics with each record.
type panickingHandler struct{ slog.Handler }

func (panickingHandler) Enabled(context.Context, slog.Level) bool { return true }

func (panickingHandler) Handle(context.Context, slog.Record) error { panic("the logger is broken") }

func (h panickingHandler) WithAttrs([]slog.Attr) slog.Handler { return h }

// TestG14LoggerPanics: a panic of the logger is ignored at each place that logs, and the
// group ends with the error of the function, as an executor of package core does.
func TestG14LoggerPanics(t *testing.T) {
	failure := errors.New("failure")
	fails := func(context.Context) error { return failure }
	for _, tc := range []struct {
		name    string
		f       func(context.Context) error
		timeout time.Duration
		err     error
		opts    []Option
	}{
		{"failed function", fails, time.Second, failure, nil},
		{"panicked error handler", fails, time.Second, failure, []Option{WithErrorHandler(func(string, error) { panic("handler") })}},
		{"timeout", sleep(time.Minute), time.Second, nil, nil},
		{"timeout of 0", sleep(time.Minute), 0, nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := []Option{WithName("group"), WithLogger(slog.New(panickingHandler{slog.DiscardHandler}))}
				g := NewGroup(append(opts, tc.opts...)...)
				coretest.Must(t, g.Go("one", tc.f))
				_, err := g.ShutdownGracefully(0, tc.timeout)
				coretest.Must(t, err)
				if err := g.AwaitTermination(context.Background()); !errors.Is(err, tc.err) {
					t.Errorf("got the error %v, want %v", err, tc.err)
				}
				coretest.Want(t, "G15: state", g.State(), core.StateTerminated)
				coretest.Want(t, "G3: functions that ran", g.Report().Ran, 1)
			})
		})
	}
}

// TestLoggerReadsTheGroup: no record is written with the lock of the group held, so a logger may read
// the group.
func TestLoggerReadsTheGroup(t *testing.T) {
	for name, tc := range map[string]struct {
		f       func(context.Context) error
		timeout time.Duration
		opts    []Option
	}{
		"a timeout":                    {sleep(time.Minute), time.Second, nil},
		"a timeout of 0":               {sleep(time.Minute), 0, nil},
		"a failed function":            {panics, time.Minute, nil},
		"an error handler that panics": {panics, time.Minute, []Option{WithErrorHandler(func(string, error) { panic("handler") })}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var g *Group
				records := 0
				g = NewGroup(append(tc.opts, WithLogger(coretest.OnMessage(func() {
					records++
					if !g.mu.TryLock() { // no other goroutine uses the group at this time
						t.Error("the logger is called with the lock held, want a logger that may call State")
						return
					}
					g.mu.Unlock()
				})))...)
				coretest.Must(t, g.Go("one", tc.f))
				synctest.Wait()
				_, err := g.ShutdownGracefully(0, tc.timeout)
				coretest.Must(t, err)
				<-g.Termination().Done()
				coretest.Want(t, "records", records, 1)
			})
		})
	}
}
