package blocking_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// acceptsInTurn is a listener whose Accept returns a connection for each nil error of a list. It
// records when it is called.
type acceptsInTurn struct {
	results []error
	at      []time.Time
	before  func(call int)
}

func (a *acceptsInTurn) Accept() (net.Conn, error) {
	a.at = append(a.at, time.Now())
	if a.before != nil {
		a.before(len(a.at))
	}
	err := a.results[0]
	a.results = a.results[1:]
	if err != nil {
		return nil, err
	}
	ours, theirs := net.Pipe()
	time.AfterFunc(time.Minute, func() { _ = theirs.Close() })
	return ours, nil
}

func (*acceptsInTurn) Close() error   { return nil }
func (*acceptsInTurn) Addr() net.Addr { return &net.TCPAddr{Port: 7} }

// TestServePauses: the pauses of Serve double from 5 ms to 1 s, an accepted connection ends the
// series, and each series has one line in the log.
func TestServePauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, 0)
		gone, out := errors.New("listener is gone"), &coretest.Log{}
		ln := &acceptsInTurn{results: append(append(slices.Repeat([]error{syscall.EMFILE}, 10), nil, syscall.ENFILE, syscall.ENOBUFS), gone)}
		err := g.Serve(ln, newEcho, blocking.WithLogger(slog.New(slog.NewTextHandler(out, nil))))
		coretest.Want(t, "the error of Serve", err, gone)
		const ms = time.Millisecond
		want := []time.Duration{5 * ms, 10 * ms, 20 * ms, 40 * ms, 80 * ms, 160 * ms, 320 * ms, 640 * ms, time.Second, time.Second, 0, 5 * ms, 10 * ms}
		for i, pause := range want {
			if got := ln.at[i+1].Sub(ln.at[i]); got != pause {
				t.Errorf("the pause after call %d of Accept is %v, want %v", i+1, got, pause)
			}
		}
		var lines []string
		for line := range strings.Lines(out.String()) {
			if strings.Contains(line, "Serve pauses") {
				lines = append(lines, line)
			}
		}
		for i, why := range []error{syscall.EMFILE, syscall.ENFILE} {
			if len(lines) != 2 || !strings.Contains(lines[i], why.Error()) || !strings.Contains(lines[i], "level=WARN") || !strings.Contains(lines[i], "listener=:7") {
				t.Errorf("the log says %q, want a line for the first failure of each series", lines)
			}
		}
		time.Sleep(time.Hour) // the peer closes its end
	})
}

// TestServeFailsAsTheShutdownComes: a failure of Accept after the shutdown call is its effect, and
// Serve neither pauses nor logs.
func TestServeFailsAsTheShutdownComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, out := newGroup(t, 0), &coretest.Log{}
		ln := &acceptsInTurn{results: []error{syscall.ECONNABORTED}, before: func(int) { g.Shutdown() }}
		began := time.Now()
		err := g.Serve(ln, newEcho, blocking.WithLogger(slog.New(slog.NewTextHandler(out, nil))))
		coretest.Want(t, "the error of Serve", err, nil)
		coretest.Want(t, "the time of Serve", time.Since(began), 0)
		coretest.Want(t, "the log", out.String(), "")
		coretest.Must(t, g.AwaitTermination(context.Background()))
	})
}
