package blocking_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// failures are the ways in which a handler method does not return, with the text of its cause.
var failures = map[string]struct {
	fail func()
	text string
}{
	"panic with an error": {func() { panic(errOfConn) }, "core: panic: " + errOfConn.Error()},
	"panic with a number": {func() { panic(7) }, "core: panic: 7"},
	"Goexit":              {runtime.Goexit, core.ErrGoexit.Error()},
}

// TestPropHandlerFailures: a handler method that does not return closes the channel, if it is open, with a cause that says
// how the method has ended. No further input reaches the handler, Inactive and Unregistered follow, and a write
// fails with the cause. The log has one line, which names the connection. The executor counts a panic and reports it once
// (G14, G22).
func TestPropHandlerFailures(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		where := rapid.SampledFrom([]string{"Active", "Read", "ReadComplete", "InputShutdown", "Inactive", "Unregistered"}).Draw(rt, "method")
		how := rapid.SampledFrom([]string{"panic with an error", "panic with a number", "Goexit"}).Draw(rt, "how")
		var log coretest.Log
		reported := 0
		g, err := blocking.NewGroup(0, core.WithPanicHandler(func(*core.PanicError) { reported++ }))
		coretest.Must(t, err)
		defer func() { <-g.Shutdown().Done() }()
		ours, theirs := net.Pipe()
		defer func() { _ = theirs.Close() }()
		calls, last := &coretest.Journal{}, make(chan struct{})
		method := func(name string) {
			calls.Add(name)
			if name == "Unregistered" {
				defer close(last)
			}
			if name == where {
				failures[how].fail()
			}
		}
		ch := mustRegister(t, g, &onceConn{Conn: ours}, &handler{
			active: func(*blocking.Channel) { method("Active") }, readComplete: func(*blocking.Channel) { method("ReadComplete") },
			inputShutdown: func(*blocking.Channel) { method("InputShutdown") }, inactive: func(*blocking.Channel) { method("Inactive") },
			unregistered: func(*blocking.Channel) { method("Unregistered") },
			read:         func(*blocking.Channel, []byte) { method("Read") }, failed: func(*blocking.Channel, error) { method("Error") },
		}, blocking.WithHalfClosure(where == "InputShutdown"), blocking.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		coretest.Await(t, "Unregistered", last)
		all := []string{"Active", "Read", "ReadComplete", "InputShutdown", "ReadComplete", "Inactive", "Unregistered"}
		want, wantText := slices.Concat(all[:3], all[5:]), "EOF"
		if i := slices.Index(all, where); i < 5 {
			want, wantText = slices.Concat(all[:i+1], all[5:]), "blocking: a handler method panicked or called runtime.Goexit: "+failures[how].text
		}
		if got := calls.All(); !slices.Equal(got, want) {
			rt.Fatalf("G22: after a %s in %s the handler got %q, want %q", how, where, got, want)
		}
		g.Shutdown()
		report := coretest.AwaitDone(t, g)
		cause := ch.CloseCause()
		failed, byGoexit := wantText != "EOF", how == "Goexit"
		if text(cause) != wantText || errors.Is(cause, blocking.ErrHandlerFailed) != failed || errors.Is(cause, core.ErrHandlerFailed) != failed ||
			errors.Is(cause, core.ErrGoexit) != (failed && byGoexit) || errors.As(cause, new(*core.PanicError)) != (failed && !byGoexit) {
			rt.Fatalf("G14: the cause after a %s in %s is %q, want %q", how, where, text(cause), wantText)
		}
		if err := ch.Write(nil).Err(); !errors.Is(err, cause) || text(err) != fmt.Sprintf("blocking: channel is closed: %v", cause) {
			rt.Fatalf("G14: a write after a %s in %s: %v, want the cause %v", how, where, err, cause)
		}
		line := `level=ERROR msg="blocking: a handler method panicked or called runtime.Goexit, and its channel is closed" local=pipe remote=pipe`
		if n, failures := strings.Count(log.String(), "\n"), strings.Count(log.String(), line); n != failures || failures != map[bool]int{true: 1}[failed] {
			rt.Fatalf("G14: after a %s in %s the log is %q", how, where, log.String())
		}
		if n := map[bool]int64{false: 1}[byGoexit]; report.Panicked != n || int64(reported) != n {
			rt.Fatalf("G14: after a %s in %s %d panics are counted and %d reported, want %d", how, where, report.Panicked, reported, n)
		}
	})
}

// onceConn is a connection whose input is one byte and the end.
type onceConn struct {
	net.Conn
	reads int
}

func (c *onceConn) Read(p []byte) (int, error) {
	if c.reads++; c.reads > 1 {
		return 0, io.EOF
	}
	p[0] = 'x'
	return 1, nil
}
