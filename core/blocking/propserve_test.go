package blocking_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/blocking"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// servePlan is what Accept returns: a connection for each nil error. The last call fails for good, or the
// shutdown calls come in it.
type servePlan struct {
	Results []error
	Last    error
	Stops   bool
	Again   int // further shutdown calls
}

var (
	errGone    = errors.New("listener is gone")
	errWrapped = &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	temporary  = []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, errWrapped}
)

func drawServePlan(t *rapid.T) servePlan {
	result := rapid.OneOf(rapid.Just(error(nil)), rapid.SampledFrom(temporary), rapid.SampledFrom(temporary))
	p := servePlan{Results: rapid.SliceOfN(result, 0, 20).Draw(t, "results"), Last: errGone, Stops: rapid.Bool().Draw(t, "stops")}
	if p.Stops {
		p.Again = rapid.IntRange(0, 2).Draw(t, "again")
		p.Last = rapid.OneOf(result, rapid.SampledFrom([]error{errGone, net.ErrClosed})).Draw(t, "last")
	}
	return p
}

// run returns the first difference, or "".
func (p servePlan) run() string {
	g, err := blocking.NewGroup(0)
	if err != nil {
		return err.Error()
	}
	defer time.Sleep(time.Hour) // the peers close, and the executors end
	defer g.Shutdown()
	out, handlers := &coretest.Log{}, 0
	ln := &acceptsInTurn{results: append(append([]error(nil), p.Results...), p.Last)}
	ln.before = func(call int) {
		if !p.Stops || call != len(p.Results)+1 {
			return
		}
		done := make(chan struct{})
		go func() { // here a panic ends the program; in Accept, the test would wait for the mutex that the panic left locked
			defer close(done)
			_, _ = g.ShutdownGracefully(0, time.Hour)
			for range p.Again {
				g.Shutdown()
			}
		}()
		<-done
	}
	want := errGone
	if p.Stops {
		want = nil
	}
	err = g.Serve(ln, func() blocking.Handler { handlers++; return echo() }, blocking.WithLogger(slog.New(slog.NewTextHandler(out, nil))))
	if err != want || len(ln.at) != len(p.Results)+1 {
		return fmt.Sprintf("Serve: %v after %d calls of Accept, want %v after %d", err, len(ln.at), want, len(p.Results)+1)
	}
	accepted, pause, series := 0, time.Duration(0), 0
	for i, result := range p.Results {
		switch {
		case result == nil:
			accepted, pause = accepted+1, 0
		case pause == 0:
			series, pause = series+1, 5*time.Millisecond
		default:
			pause = min(2*pause, time.Second)
		}
		if got := ln.at[i+1].Sub(ln.at[i]); got != pause {
			return fmt.Sprintf("the pause after call %d of Accept is %v, want %v", i+1, got, pause)
		}
	}
	if !ln.at[len(p.Results)].Equal(time.Now()) {
		return "Serve pauses as it ends"
	}
	if n := strings.Count(out.String(), `level=WARN msg="blocking: Serve pauses, as accept failed" listener=:7 error=`); n != series || strings.Count(out.String(), "\n") != series {
		return fmt.Sprintf("the log has %d lines of pauses, want %d: %s", n, series, out.String())
	}
	if p.Last == nil {
		handlers-- // of a connection that the shutdown refuses
	}
	if s := g.Stats(); handlers != accepted || !p.Stops && s.Channels != accepted {
		return fmt.Sprintf("%d handlers and %d channels of %d connections", handlers, s.Channels, accepted)
	}
	return ""
}

// TestPropServe: Serve makes a channel of each connection. After temporary errors of Accept it pauses for
// 5 ms, and for twice as long after each further one, up to 1 s, until it gets a connection; each such
// series has one line in the log. Another error ends Serve. A shutdown call ends Serve without an error, and
// further shutdown calls change nothing.
func TestPropServe(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawServePlan(rt)
		var wrong string
		synctest.Test(t, func(*testing.T) { wrong = p.run() })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}
