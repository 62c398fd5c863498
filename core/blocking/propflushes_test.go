package blocking_test

import (
	"bytes"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// flushPhase has calls on another goroutine while the executor is busy, and calls of the executor before that.
type flushPhase struct {
	InWrite bool // the executor is busy in a Write of the connection; false: in a task
	OnLoop  []string
	Others  []string
}

func drawFlushPhase(t *rapid.T) flushPhase {
	calls := rapid.SampledFrom([]string{"Write", "Write nothing", "Flush", "Flush", "WriteAndFlush"})
	return flushPhase{
		InWrite: rapid.Bool().Draw(t, "in a write"),
		OnLoop:  rapid.SliceOfN(calls, 0, 3).Draw(t, "calls on the loop"),
		Others:  rapid.SliceOfN(calls, 0, 8).Draw(t, "calls of others"),
	}
}

// gatedConn is a connection that takes all that is written, and holds a Write while gate is not nil.
type gatedConn struct {
	net.Conn
	sent []byte
	gate chan struct{}
}

func (c *gatedConn) Write(p []byte) (int, error) {
	c.sent = append(c.sent, p...)
	if gate := c.gate; gate != nil {
		c.gate = nil
		<-gate
	}
	return len(p), nil
}

// flushes is a channel and its specification.
type flushes struct {
	ch               *blocking.Channel
	conn             *gatedConn
	bodies           atomic.Int64 // posted bodies and listeners that have begun
	accepted, marked []byte
}

// call makes a call, and reports whether it has marked bytes that were not marked before.
func (f *flushes) call(name string) (marks bool) {
	var p []byte
	switch name {
	case "Write":
		p = f.next(3)
	case "WriteAndFlush":
		p = f.next(2)
	}
	if name == "Flush" || name == "WriteAndFlush" {
		marks = len(f.marked) < len(f.accepted)
		f.marked = f.accepted // before the call, in which the executor may be busy
	}
	switch name {
	case "Write", "Write nothing":
		f.ch.Write(p)
	case "Flush":
		f.ch.Flush()
	case "WriteAndFlush":
		f.ch.WriteAndFlush(p)
	}
	return marks
}

// next accepts n bytes that differ from their neighbours.
func (f *flushes) next(n int) []byte {
	for range n {
		f.accepted = append(f.accepted, byte(len(f.accepted)))
	}
	return f.accepted[len(f.accepted)-n:]
}

// run returns the first difference of a phase, or "".
func (f *flushes) run(p flushPhase) string {
	busy, gate := make(chan struct{}), make(chan struct{})
	wrong := ""
	if err := f.ch.EventLoop().Execute(func() {
		for i, name := range p.OnLoop {
			f.call(name)
			if !bytes.Equal(f.conn.sent, f.marked) {
				wrong = fmt.Sprintf("G23: after call %d on the loop, %s, %v was sent, want %v", i, name, f.conn.sent, f.marked)
			}
		}
		close(busy)
		if p.InWrite {
			f.conn.gate = gate
			f.call("WriteAndFlush")
		} else {
			<-gate
		}
	}); err != nil {
		return err.Error()
	}
	<-busy
	synctest.Wait() // the executor waits for gate
	before, want := f.bodies.Load(), int64(0)
	sent := len(f.conn.sent)
	for _, name := range p.Others {
		if f.call(name) {
			want = 1
		}
	}
	if len(f.conn.sent) != sent {
		return "another goroutine than the executor has written to the connection"
	}
	close(gate)
	synctest.Wait()
	if !bytes.Equal(f.conn.sent, f.marked) {
		return fmt.Sprintf("G23: %v was sent, want %v", f.conn.sent, f.marked)
	}
	if got, want := f.ch.PendingBytes(), int64(len(f.accepted)-len(f.marked)); got != want {
		return fmt.Sprintf("%d pending bytes, want %d", got, want)
	}
	if got := f.bodies.Load() - before; got != want {
		return fmt.Sprintf("the calls of others have posted %d bodies to a busy executor, want %d", got, want)
	}
	return wrong
}

// TestPropFlushes: the executor sends the flushed bytes, and no others: in Flush if it calls Flush itself, and otherwise after its
// body. However many calls of Flush other goroutines make while the executor is busy, they post one body in all, and none if
// there are no bytes to flush.
func TestPropFlushes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		phases := rapid.SliceOfN(rapid.Custom(drawFlushPhase), 1, 4).Draw(rt, "phases")
		wrong := ""
		synctest.Test(t, func(t *testing.T) {
			f := &flushes{}
			g, err := blocking.NewGroup(0, core.WithTracer(tracerFunc(func(ev core.Event) {
				if ev.Kind == core.EventBegin && ev.Body == core.BodyListener {
					f.bodies.Add(1)
				}
			})))
			coretest.Must(t, err)
			ours, theirs := net.Pipe()
			f.conn = &gatedConn{Conn: ours}
			f.ch = mustRegister(t, g, f.conn, &handler{})
			synctest.Wait()
			for i := 0; i < len(phases) && wrong == ""; i++ {
				if wrong = f.run(phases[i]); wrong != "" {
					wrong = fmt.Sprintf("phase %d: %s", i, wrong)
				}
			}
			g.Shutdown()
			coretest.AwaitDone(t, g)
			_ = theirs.Close()
		})
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}
