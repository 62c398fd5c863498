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
	for name, timeout := range map[string]time.Duration{"a timeout": time.Millisecond, "a timeout of 0": 0} {
		t.Run(name, func(t *testing.T) {
			var g *Group
			logged := make(chan struct{})
			g = NewGroup(WithLogger(coretest.OnMessage(func() {
				read := make(chan int, 1)
				go func() { read <- len(g.Functions()) }()
				coretest.Await(t, "Functions, which the logger calls", read)
				close(logged)
			})))
			release := make(chan struct{})
			coretest.Must(t, g.Go("one", func(context.Context) error { <-release; return nil }))
			_, err := g.ShutdownGracefully(0, timeout)
			coretest.Must(t, err)
			coretest.Await(t, "the message that the timeout has passed", logged)
			close(release)
			coretest.AwaitDone(t, g)
		})
	}
}
