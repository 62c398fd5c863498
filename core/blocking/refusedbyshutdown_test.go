package blocking_test

import (
	"strings"
	"testing"
	"time"

	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

const refusedLine = "a shutdown refused a write"

// TestG23RefusedWritesAreReported: an answer that is computed on another goroutine, of a handler
// that does not wait for it in Read, is refused by a shutdown. The report counts it and the log has
// it, even if nobody looks at its future.
func TestG23RefusedWritesAreReported(t *testing.T) {
	out := coretest.DefaultLog(t)
	g := newGroup(t, 1)
	ours, theirs := tcpPair(t)
	ch := mustRegister(t, g, ours, &handler{})
	coretest.MustShutdownGracefully(t, g, 0, long)
	ch.WriteAndFlush([]byte("an answer"))
	ch.Write([]byte("another"))
	_ = theirs.Close()
	coretest.AwaitDone(t, g)
	coretest.Want(t, "G23: WritesRefused", g.Termination().Report().WritesRefused, 2)
	coretest.Want(t, "G23: lines", strings.Count(out.String(), refusedLine), 2)

	ch.Write([]byte("after the end")) // the third
	ch.Write([]byte("after the end")) // the fourth: the count is a power of two
	coretest.Want(t, "G23: lines, with that of a write after the end", strings.Count(out.String(), refusedLine), 3)
}

// TestOtherRefusedWritesAreNotReported: a write that no shutdown has refused is its caller's.
func TestOtherRefusedWritesAreNotReported(t *testing.T) {
	for name, end := range map[string]func(ch *blocking.Channel){
		"Close":           func(ch *blocking.Channel) { ch.Close() },
		"CloseGracefully": func(ch *blocking.Channel) { ch.CloseGracefully(time.Time{}) },
	} {
		t.Run(name, func(t *testing.T) {
			out := coretest.DefaultLog(t)
			g := newGroup(t, 1)
			ours, theirs := tcpPair(t)
			ch := mustRegister(t, g, ours, &handler{})
			end(ch)
			coretest.MustShutdownGracefully(t, g, 0, long)
			if ch.Write([]byte("x")).Err() == nil {
				t.Error("the write was accepted, want a refusal")
			}
			_ = theirs.Close()
			coretest.AwaitDone(t, g)
			coretest.Want(t, "WritesRefused", g.Termination().Report().WritesRefused, 0)
			coretest.Want(t, "the log", out.String(), "")
		})
	}
}
