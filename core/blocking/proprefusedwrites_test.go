package blocking_test

import (
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// refusedEnd is an end of a channel, with a shutdown call before or after it.
type refusedEnd struct {
	name     string
	reported bool  // the shutdown is the reason why later writes are refused
	cause    error // nil: not compared
	end      func(r *refusedRun)
}

// refusedRun is a channel whose peer does not end its side by itself.
type refusedRun struct {
	t      testing.TB
	g      *blocking.Group
	ch     *blocking.Channel
	theirs net.Conn
}

func (r *refusedRun) shutdown(timeout time.Duration) {
	coretest.MustShutdownGracefully(r.t, r.g, 0, timeout)
}

var refusedEnds = []refusedEnd{
	{"a drain", true, nil, func(r *refusedRun) { r.shutdown(time.Hour); _ = r.theirs.Close() }},
	{"Shutdown", true, core.ErrShutdown, func(r *refusedRun) { r.g.Shutdown() }},
	{"the timeout", true, core.ErrShutdownTimeout, func(r *refusedRun) { r.shutdown(time.Millisecond) }},
	{"Close", false, nil, func(r *refusedRun) { r.ch.Close(); r.shutdown(time.Hour) }},
	{"CloseGracefully", false, nil, func(r *refusedRun) { r.ch.CloseGracefully(time.Time{}); r.shutdown(time.Hour); _ = r.theirs.Close() }},
	{"the peer", false, nil, func(r *refusedRun) {
		_ = r.theirs.Close()
		coretest.Await(r.t, "the end", r.ch.CloseFuture().Done())
		r.shutdown(time.Hour)
	}},
	{"the handler", false, blocking.ErrHandlerFailed, func(r *refusedRun) {
		_, _ = r.theirs.Write([]byte("fail"))
		coretest.Await(r.t, "the end", r.ch.CloseFuture().Done())
		r.shutdown(time.Hour)
	}},
}

// TestPropRefusedWrites: the log reports a write after the end as refused by a shutdown if the shutdown is the reason of
// the refusal. It does not if a Close, a CloseGracefully or an error has ended the channel before. The error of the write says
// whether the channel was closing (G22, G23).
func TestPropRefusedWrites(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		end := refusedEnds[rapid.IntRange(0, len(refusedEnds)-1).Draw(rt, "end")]
		writes := rapid.IntRange(0, 9).Draw(rt, "writes")
		var out coretest.Log
		g, err := blocking.NewGroup(0, core.WithLogger(slog.New(slog.DiscardHandler)))
		coretest.Must(t, err)
		defer func() { <-g.Shutdown().Done() }()
		ours, theirs := net.Pipe()
		defer func() { _ = theirs.Close() }()
		r := &refusedRun{t: t, g: g, theirs: theirs}
		r.ch = mustRegister(t, g, &halfClosing{Conn: ours, closeWrite: func() {}}, &handler{
			read: func(*blocking.Channel, []byte) { panic("of the handler") },
		}, blocking.WithLogger(slog.New(slog.NewTextHandler(&out, nil))))
		end.end(r)
		coretest.AwaitDone(t, g)
		if cause := r.ch.CloseCause(); end.cause != nil && !errors.Is(cause, end.cause) {
			rt.Fatalf("the end by %s has the cause %v, want %v", end.name, cause, end.cause)
		}
		lines := 0
		for n := 1; n <= writes; n++ {
			taken, err := r.ch.Write([]byte("late")).Wait(t.Context())
			if taken != 0 || !errors.Is(err, blocking.ErrChannelClosed) {
				rt.Fatalf("G22: a write after the end by %s: %d, %v, want 0, ErrChannelClosed", end.name, taken, err)
			}
			if closing := errors.Is(err, blocking.ErrChannelClosing); end.name != "Close" && closing != (end.reported || end.name == "CloseGracefully") {
				rt.Fatalf("G22: a write after the end by %s matches ErrChannelClosing: %v", end.name, closing)
			}
			if end.reported && n&(n-1) == 0 {
				lines++
			}
		}
		if got := strings.Count(out.String(), refusedLine); got != lines {
			rt.Fatalf("G23: after the end by %s the log has %d lines of %d refused writes, want %d: %s", end.name, got, writes, lines, out.String())
		}
	})
}
