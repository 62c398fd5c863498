package transport_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/process"
	"eventide/core/tcp"
	"eventide/core/tracked"
	"eventide/core/watch"
)

// TestOptionsBehaveAlike: docs/options.md, for each package that has options.
func TestOptionsBehaveAlike(t *testing.T) {
	group, err := core.NewGroup(1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { <-group.Shutdown().Done() }()
	pairs, err := blocking.NewGroup(0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { <-pairs.Shutdown().Done() }()

	for name, with := range map[string]func(...core.Option) (process.Executor, error){
		"core.NewExecutor":      func(o ...core.Option) (process.Executor, error) { return core.NewExecutor(o...) },
		"core.NewEventLoop":     func(o ...core.Option) (process.Executor, error) { return core.NewEventLoop(o...) },
		"core.NewGroup":         func(o ...core.Option) (process.Executor, error) { return core.NewGroup(1, o...) },
		"core.NewExecutorGroup": func(o ...core.Option) (process.Executor, error) { return core.NewExecutorGroup(1, o...) },
		"core.NewPool":          func(o ...core.Option) (process.Executor, error) { return core.NewPool(1, o...) },
		"blocking.NewGroup": func(o ...core.Option) (process.Executor, error) {
			g, err := blocking.NewGroup(1, o...)
			return g, unwrapped(err)
		},
	} {
		alike(t, name, core.WithName("x"), core.WithLogger(nil), core.WithMaxPendingTasks(0),
			"core: WithMaxPendingTasks: n is 0, want at least 1", func(opts ...core.Option) error {
				made, err := with(opts...)
				if err == nil {
					<-made.Shutdown().Done()
				}
				return err
			})
	}
	newHandler := func() tcp.Handler { return tcp.HandlerBase{} }
	server, err := tcp.Listen(group, group, "127.0.0.1:0", newHandler)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for name, with := range map[string]func(...tcp.Option) error{
		"tcp.Listen": func(o ...tcp.Option) error {
			l, err := tcp.Listen(group, group, "127.0.0.1:0", newHandler, o...)
			return closed(t, l, err)
		},
		"tcp.Dial": func(o ...tcp.Option) error {
			ch, err := tcp.Dial(t.Context(), group, server.Addr().String(), newHandler(), o...)
			return closed(t, ch, err)
		},
	} {
		alike(t, name, tcp.WithNoDelay(true), tcp.WithLogger(nil), tcp.WithReadBuffer(0),
			"tcp: WithReadBuffer: size is 0, want 1 to 1073741824", with)
	}
	alike(t, "blocking.Register", blocking.WithHalfClosure(true), blocking.WithLogger(nil), blocking.WithReadBuffer(0),
		"blocking: WithReadBuffer: size is 0, want 1 to 1073741824", func(opts ...blocking.Option) error {
			ours, theirs := net.Pipe()
			defer theirs.Close()
			ch, err := pairs.Register(ours, blocking.HandlerBase{}, opts...)
			if err != nil {
				_ = ours.Close()
				return err
			}
			return closed(t, ch, nil)
		})
}

// unwrapped returns the error of core in one that begins with the name of another call.
func unwrapped(err error) error {
	if err == nil {
		return nil
	}
	return errors.Unwrap(err)
}

// closed closes what a call has made, unless the call failed.
func closed(t *testing.T, made interface{ Close() *core.Future[struct{}] }, err error) error {
	if err == nil {
		_, err = made.Close().Wait(t.Context())
	}
	return err
}

// alike checks options of a package that returns errors: they may be missing or nil; a bad one has
// no effect.
func alike[O any](t *testing.T, name string, good, nilLogger, zero O, zeroWants string, with func(...O) error) {
	t.Helper()
	var none O
	for _, c := range []struct {
		what string
		opts []O
		want string // "" for no error
	}{
		{"no option", nil, ""},
		{"twice the same", []O{good, good}, ""},
		{"nil option", []O{good, none}, ""},
		{"nil logger", []O{nilLogger}, ""},
		{"zero", []O{zero}, zeroWants},
		{"a bad option beside nil", []O{none, zero, nilLogger}, zeroWants},
	} {
		if got := text(with(c.opts...)); got != c.want {
			t.Errorf("%s, %s: got %q, want %q", name, c.what, got, c.want)
		}
	}
}

// TestZeroValuesAreDefaults: docs/options.md, for packages in which a zero value is ready for
// use. A nil option or argument, and a field that is not set, mean the default there.
func TestZeroValuesAreDefaults(t *testing.T) {
	for name, g := range map[string]*tracked.Group{
		"the zero Group": {},
		"nil option":     tracked.NewGroup(nil),
		"nil arguments":  tracked.NewGroup(tracked.WithLogger(nil), tracked.WithErrorHandler(nil), nil),
	} {
		ran := false
		if err := g.Execute(func() { ran = true }); err != nil {
			t.Errorf("tracked: %s: %v", name, err)
		}
		if <-g.Shutdown().Done(); !ran {
			t.Errorf("tracked: %s: the function did not run", name)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if code := process.Run(ended, process.Plan{Logger: slog.New(slog.DiscardHandler)}); code != process.CodeClean {
		t.Errorf("process: the zero Plan: exit code %d, want %d", code, process.CodeClean)
	}
	if err := new(watch.Watcher).Run(ended); err != nil {
		t.Errorf("watch: the zero Watcher: %v", err)
	}
	ex, err := core.NewExecutor(watch.Labels(nil)) //lint:ignore SA1012 a nil context is what is tested
	if err != nil {
		t.Fatalf("watch: Labels of a nil context: %v", err)
	}
	<-ex.Shutdown().Done()
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestDefaultLoggerIsThatOfTheMoment: without WithLogger a failure goes to slog.Default as
// it is when the failure happens, and not as it was when the option was applied.
func TestDefaultLoggerIsThatOfTheMoment(t *testing.T) {
	before := slog.Default()
	defer slog.SetDefault(before)
	slog.SetDefault(slog.New(slog.DiscardHandler)) // the first one writes to whatever is the default
	group, err := core.NewGroup(1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { <-group.Shutdown().Done() }()
	pairs, err := blocking.NewGroup(0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { <-pairs.Shutdown().Done() }()
	ex, err := core.NewExecutor()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { <-ex.Shutdown().Done() }()
	pool, err := core.NewPool(1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { <-pool.Shutdown().Done() }()
	goroutines := tracked.NewGroup()
	l, err := tcp.Listen(group, group, "127.0.0.1:0", func() tcp.Handler { return failing{} })
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ours, theirs := net.Pipe()
	defer theirs.Close()
	ch, err := pairs.Register(ours, failsToRead{})
	if err != nil {
		t.Fatal(err)
	}

	var out bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))

	if err := ex.Execute(func() { panic("of a task") }); err != nil {
		t.Fatal(err)
	}
	if err := pool.Execute(func() { panic("in a pool") }); err != nil {
		t.Fatal(err)
	}
	if err := goroutines.Go("failing", func(context.Context) error { return errors.New("of a goroutine") }); err != nil {
		t.Fatal(err)
	}
	conn, err := net.DialTimeout("tcp", l.Addr().String(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.Copy(io.Discard, conn) // until the channel is closed
	_, _ = theirs.Write([]byte("x"))
	_, _ = ch.CloseFuture().Wait(t.Context())
	code := process.Run(t.Context(), process.Plan{Start: func(context.Context) error {
		return errors.New("of Start")
	}})
	if code != process.CodeFailed {
		t.Errorf("process: a Start that fails: exit code %d, want %d", code, process.CodeFailed)
	}
	<-ex.Shutdown().Done()
	<-pool.Shutdown().Done()
	<-goroutines.Shutdown().Done()
	<-group.Shutdown().Done()
	<-pairs.Shutdown().Done()
	synctest.Test(t, stall)
	for _, want := range []string{"of a task", "in a pool", "of a goroutine", "body is stalled", "of Start", "tcp: a handler method panicked or called runtime.Goexit", "blocking: a handler method panicked or called runtime.Goexit"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the new default logger did not get %q:\n%s", want, out.String())
		}
	}
}

// stall lets a Watcher without a Logger see a body that runs for longer than its default limit.
// It is called in a bubble.
func stall(t *testing.T) {
	ex, err := core.NewExecutor()
	if err != nil {
		t.Fatal(err)
	}
	var w watch.Watcher
	ctx, end := context.WithCancel(t.Context())
	watching := make(chan error)
	if err := w.Watch(ex); err != nil {
		t.Fatal(err)
	}
	go func() { watching <- w.Run(ctx) }()
	if err := ex.Execute(func() { time.Sleep(2 * watch.DefaultLimit) }); err != nil {
		t.Fatal(err)
	}
	<-ex.Shutdown().Done()
	end()
	if err := <-watching; err != nil {
		t.Error(err)
	}
}

type failing struct{ tcp.HandlerBase }

func (failing) Active(*tcp.Channel) { panic("of Active") }

type failsToRead struct{ blocking.HandlerBase }

func (failsToRead) Read(*blocking.Channel, []byte) { panic("of Read") }

// TestErrorsOfChannelsAreCores: the errors of each transport are those of core by
// errors.Is, keep their own texts, and are not those of the other transport.
func TestErrorsOfChannelsAreCores(t *testing.T) {
	for _, c := range []struct {
		core, tcp, blocking error
		ofTCP, ofBlocking   string
	}{
		{core.ErrChannelClosed, tcp.ErrChannelClosed, blocking.ErrChannelClosed, "tcp: channel is closed", "blocking: channel is closed"},
		{core.ErrChannelClosing, tcp.ErrChannelClosing, blocking.ErrChannelClosing, "tcp: channel is closing", "blocking: channel is closing"},
		{core.ErrHandlerFailed, tcp.ErrHandlerFailed, blocking.ErrHandlerFailed, "tcp: a handler method panicked or called runtime.Goexit", "blocking: a handler method panicked or called runtime.Goexit"},
		{core.ErrCloseDeadline, tcp.ErrCloseDeadline, blocking.ErrCloseDeadline, "tcp: deadline of the graceful close passed", "blocking: deadline of the close passed"},
	} {
		if !errors.Is(c.tcp, c.core) || !errors.Is(c.blocking, c.core) {
			t.Errorf("%v and %v: want both to be %v", c.tcp, c.blocking, c.core)
		}
		if errors.Is(c.tcp, c.blocking) || errors.Is(c.blocking, c.tcp) || errors.Is(c.core, c.tcp) {
			t.Errorf("%v, %v, %v: want no two of them to be the same", c.core, c.tcp, c.blocking)
		}
		if c.tcp.Error() != c.ofTCP || c.blocking.Error() != c.ofBlocking {
			t.Errorf("got %q and %q, want %q and %q", c.tcp, c.blocking, c.ofTCP, c.ofBlocking)
		}
	}
}

// TestClosedErrorOfEachTransport: a write to a closed channel fails with core's
// ClosedError, which is the sentinels of its transport and of core.
func TestClosedErrorOfEachTransport(t *testing.T) {
	pairs, err := blocking.NewGroup(0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { <-pairs.Shutdown().Done() }()
	ours, theirs := net.Pipe()
	defer theirs.Close()
	ch, err := pairs.Register(ours, blocking.HandlerBase{})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = ch.Close().Wait(t.Context())
	_, err = ch.Write([]byte("x")).Wait(t.Context())
	if !errors.Is(err, blocking.ErrChannelClosed) || !errors.Is(err, core.ErrChannelClosed) {
		t.Errorf("blocking: got %v, want ErrChannelClosed of blocking and of core", err)
	}

	group, err := core.NewGroup(1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { <-group.Shutdown().Done() }()
	l, err := tcp.Listen(group, group, "127.0.0.1:0", func() tcp.Handler { return tcp.HandlerBase{} })
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialled, err := tcp.Dial(t.Context(), group, l.Addr().String(), tcp.HandlerBase{})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = dialled.Close().Wait(t.Context())
	_, err = dialled.Write([]byte("x")).Wait(t.Context())
	var closed *core.ClosedError
	if !errors.As(err, &closed) || !errors.Is(err, tcp.ErrChannelClosed) || !errors.Is(err, core.ErrChannelClosed) {
		t.Errorf("tcp: got %v, want a ClosedError that is ErrChannelClosed of tcp and of core", err)
	}
}
