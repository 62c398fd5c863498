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
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/process"
	"eventide/core/tcp"
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

	ofCore := func(opts ...core.Option) error {
		ex, err := core.NewExecutor(opts...)
		if err == nil {
			<-ex.Shutdown().Done()
		}
		return err
	}
	ofTCP := func(opts ...tcp.Option) error {
		l, err := tcp.Listen(group, group, "127.0.0.1:0", func() tcp.Handler { return tcp.HandlerBase{} }, opts...)
		if err == nil {
			_, err = l.Close().Wait(t.Context())
		}
		return err
	}
	ofBlocking := func(opts ...blocking.Option) error {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		ch, err := pairs.Register(ours, blocking.HandlerBase{}, opts...)
		if err != nil {
			_ = ours.Close()
			return err
		}
		_, err = ch.Close().Wait(t.Context())
		return err
	}
	for _, c := range []struct {
		name string
		err  error
		want string // "" for no error
	}{
		{"core: none", ofCore(), ""},
		{"core: nil option", ofCore(core.WithName("x"), nil), "core: options: option 1 is nil, want a value returned by a With function"},
		{"core: nil logger", ofCore(core.WithLogger(nil)), "core: WithLogger: logger is nil, want a *slog.Logger"},
		{"core: zero value", ofCore(core.WithMaxPendingTasks(0)), "core: WithMaxPendingTasks: n is 0, want at least 1"},
		{"tcp: none", ofTCP(), ""},
		{"tcp: nil option", ofTCP(tcp.WithNoDelay(true), nil), "tcp: options: option 1 is nil, want a value returned by a With function"},
		{"tcp: nil logger", ofTCP(tcp.WithLogger(nil)), "tcp: WithLogger: logger is nil, want a *slog.Logger"},
		{"tcp: zero value", ofTCP(tcp.WithReadBuffer(0)), "tcp: WithReadBuffer: size is 0, want 1 to 1073741824"},
		{"blocking: none", ofBlocking(), ""},
		{"blocking: nil option", ofBlocking(blocking.WithHalfClosure(true), nil), "blocking: options: option 1 is nil, want a value returned by a With function"},
		{"blocking: nil logger", ofBlocking(blocking.WithLogger(nil)), "blocking: WithLogger: logger is nil, want a *slog.Logger"},
		{"blocking: zero value", ofBlocking(blocking.WithReadBuffer(0)), "blocking: WithReadBuffer: size is 0, want 1 to 1073741824"},
	} {
		if got := text(c.err); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	// A Plan has fields and no options: the zero value of each is its default.
	ctx, end := context.WithCancel(t.Context())
	end()
	if code := process.Run(ctx, process.Plan{Logger: slog.New(slog.DiscardHandler)}); code != process.CodeClean {
		t.Errorf("process: the zero Plan: exit code %d, want %d", code, process.CodeClean)
	}
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
	<-group.Shutdown().Done()
	<-pairs.Shutdown().Done()
	for _, want := range []string{"of a task", "of Start", "tcp: a handler method did not return", "blocking: a handler method did not return"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the new default logger did not get %q:\n%s", want, out.String())
		}
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
		{core.ErrHandlerFailed, tcp.ErrHandlerFailed, blocking.ErrHandlerFailed, "tcp: a handler method did not return", "blocking: a handler method did not return"},
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
