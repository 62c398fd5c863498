package blocking_test

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// ending is a channel whose executor runs a task, so that every call on another goroutine comes
// before its end.
type ending struct {
	ch       *blocking.Channel
	closed   bool // by Close
	before   bool // Close was called before each shutdown call
	graceful bool // CloseGracefully was called
	accepted int  // bytes
}

// endings are the channels of a group, and what the group has to report of them.
type endings struct {
	t        *rapid.T
	g        *blocking.Group
	channels []*ending
	shutting bool  // a shutdown call was made
	hard     bool  // that of Shutdown
	refused  int64 // writes that a shutdown has refused
}

// write checks the future of a Write, and IsOpen.
func (e *endings) write(c *ending) {
	n := rapid.IntRange(0, 3).Draw(e.t, "bytes")
	var want error
	switch {
	case c.closed:
		want = blocking.ErrChannelClosed
	case c.graceful:
		want = blocking.ErrChannelClosing
	case e.shutting:
		want = blocking.ErrChannelClosing
		e.refused++
	default:
		c.accepted += n
	}
	if open := c.ch.IsOpen(); open != (want == nil) {
		e.t.Fatalf("IsOpen: %v, and a write is to fail with %v", open, want)
	}
	if err := c.ch.Write(make([]byte, n)).Err(); !errors.Is(err, want) || (err == nil) != (want == nil) {
		e.t.Fatalf("G23: Write: %v, want %v", err, want)
	}
	if got := c.ch.PendingBytes(); got != int64(c.accepted) {
		e.t.Fatalf("%d pending bytes, want %d", got, c.accepted)
	}
}

// step makes a call.
func (e *endings) step(call string) {
	c := e.channels[rapid.IntRange(0, len(e.channels)-1).Draw(e.t, "channel")]
	switch call {
	case "Write":
		e.write(c)
	case "Close":
		c.before = c.before || !e.shutting
		c.closed = true
		c.ch.Close()
	case "CloseGracefully":
		c.graceful = true
		c.ch.CloseGracefully(core.Deadline{})
	case "Shutdown":
		e.shutting, e.hard = true, true
		e.g.Shutdown()
	case "ShutdownGracefully":
		e.shutting = true
		if _, err := e.g.ShutdownGracefully(0, time.Hour); err != nil {
			e.t.Fatal(err)
		}
	}
}

// check compares the report. A pipe cannot half-close, so each channel that a shutdown has ended counts
// as aborted: also one that Close was to end, if Shutdown comes first and finds bytes that were not
// sent. Shutdown discards all of them, ShutdownGracefully none.
func (e *endings) check(r core.Report) {
	counted, discarded, exact := int64(0), int64(0), true
	for _, c := range e.channels {
		if lost := e.hard && c.accepted > 0; lost || !c.before {
			counted++
		}
		if e.hard {
			discarded += int64(c.accepted)
		}
		exact = exact && (e.hard || !c.closed) // Close sends nothing that was not flushed
		if err := c.ch.Write(nil).Err(); !errors.Is(err, blocking.ErrChannelClosed) {
			e.t.Fatalf("G22: a write after the end: %v, want ErrChannelClosed", err)
		}
		if n := c.ch.KeptBytes(); n != 0 {
			e.t.Fatalf("G24: a closed channel keeps a queue of %d bytes", n)
		}
	}
	if r.ChannelsDrained != 0 || r.ChannelsAborted != counted || exact && r.BytesDiscarded != discarded || r.WritesRefused != e.refused {
		e.t.Fatalf("G23: the report is %+v, want %d aborted channels, %d discarded bytes and %d refused writes", r, counted, discarded, e.refused)
	}
}

// TestPropEndings: while its executor runs a task, a channel accepts writes until the first Close,
// CloseGracefully or shutdown call, and a shutdown counts the channels that were not closed before it
// (G23). A closed channel keeps no unsent bytes (G24).
func TestPropEndings(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g, err := blocking.NewGroup(0)
		coretest.Must(t, err)
		e := &endings{t: rt, g: g}
		gate := make(chan struct{})
		for range rapid.IntRange(1, 3).Draw(rt, "channels") {
			ours, theirs := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, theirs) }() // until the channel closes
			ch := mustRegister(t, g, ours, &handler{})
			e.channels = append(e.channels, &ending{ch: ch})
			held := make(chan struct{})
			coretest.MustExecute(t, ch.EventLoop(), func() { close(held); <-gate })
			coretest.Await(t, "the task", held)
		}
		calls := rapid.SampledFrom([]string{"Write", "Write", "Close", "CloseGracefully", "ShutdownGracefully", "Shutdown"})
		func() {
			defer close(gate)
			for range rapid.IntRange(0, 8).Draw(rt, "calls") {
				e.step(calls.Draw(rt, "call"))
			}
			if !e.shutting {
				e.step(rapid.SampledFrom([]string{"ShutdownGracefully", "Shutdown"}).Draw(rt, "last call"))
			}
		}()
		e.check(coretest.AwaitDone(t, g))
	})
}
