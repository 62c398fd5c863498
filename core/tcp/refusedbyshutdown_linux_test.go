package tcp_test

import (
	"strings"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

const refusedLine = "a shutdown refused a write"

// TestG23RefusedWritesAreReported: an answer that is computed off the loop, of a handler that
// neither holds its channel nor quiesces, is refused by a shutdown. The report counts it and the
// log has it, even if nobody looks at its future.
func TestG23RefusedWritesAreReported(t *testing.T) {
	out := coretest.DefaultLog(t)
	p := newPair(t, nil)
	_, _ = p.group.ShutdownGracefully(0, coretest.HangGuard)
	p.ch.Write([]byte("an answer"))
	p.ch.WriteAndFlush([]byte("another"))
	p.ch.Flush() // it loses nothing
	_ = p.peer.Close()
	coretest.AwaitDone(t, p.group)
	coretest.Want(t, "G23: WritesRefused", p.group.Termination().Report().WritesRefused, 2)
	coretest.Want(t, "G23: refused writes of the sum with another report", p.group.Termination().Report().Plus(core.Report{WritesRefused: 1}).WritesRefused, 3)
	coretest.Want(t, "G23: lines", strings.Count(out.String(), refusedLine), 2)

	p.ch.WriteAndFlush([]byte("after the end")) // the third
	p.ch.WriteAndFlush([]byte("after the end")) // the fourth: the count is a power of two
	coretest.Want(t, "G23: lines, with that of a write after the end", strings.Count(out.String(), refusedLine), 3)
}

// TestOtherRefusedWritesAreNotReported: a write that no shutdown has refused is its caller's.
func TestOtherRefusedWritesAreNotReported(t *testing.T) {
	for name, end := range map[string]func(p *pair){
		"Close":           func(p *pair) { p.ch.Close() },
		"CloseGracefully": func(p *pair) { p.ch.CloseGracefully(time.Time{}) },
		"CloseOutput":     func(p *pair) { p.ch.CloseOutput() },
		"the peer's reset": func(p *pair) {
			_ = p.peer.SetLinger(0)
			_ = p.peer.Close()
			p.Await(t, 1, "Unregistered")
		},
	} {
		t.Run(name, func(t *testing.T) {
			out := coretest.DefaultLog(t)
			p := newPair(t, nil)
			end(p)
			_, _ = p.group.ShutdownGracefully(0, coretest.HangGuard)
			if p.ch.Write([]byte("x")).Err() == nil {
				t.Error("the write was accepted, want a refusal")
			}
			_ = p.peer.Close()
			coretest.AwaitDone(t, p.group)
			coretest.Want(t, "WritesRefused", p.group.Termination().Report().WritesRefused, 0)
			coretest.Want(t, "the log", out.String(), "")
		})
	}
}

// TestWritesToAHeldChannelAreNotRefused: nothing is counted that was accepted.
func TestWritesToAHeldChannelAreNotRefused(t *testing.T) {
	p, release := heldPair(t)
	_, _ = p.group.ShutdownGracefully(0, coretest.HangGuard)
	coretest.WantErr(t, "a write to a held channel", p.ch.WriteAndFlush([]byte("answer")).Err(), nil)
	release()
	coretest.WantErr(t, "a write after the release", p.ch.Write([]byte("x")).Err(), tcp.ErrChannelClosing)
	_ = p.peer.Close()
	coretest.AwaitDone(t, p.group)
	coretest.Want(t, "WritesRefused", p.group.Termination().Report().WritesRefused, 1)
}
