package blocking_test

import (
	"bytes"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// beforeStart has the calls that come while the executor of a new channel runs a task, so that the channel has not started.
type beforeStart struct {
	Writes []string // Write or Flush
	Call   string   // that ends the channel
}

// wants returns the calls of the handler, the number of bytes that are sent, and the cause of the close.
func (p beforeStart) wants() (calls []string, sent int, cause error) {
	written, flushed := 0, 0
	for _, call := range p.Writes {
		if call == "Write" {
			written++
		} else {
			flushed = written
		}
	}
	whole := []string{"Active", "Inactive", "Unregistered"}
	switch p.Call {
	case "Close":
		return whole, flushed, nil
	case "CloseGracefully":
		return whole, written, nil
	case "ShutdownGracefully", "ShutdownGracefully of the executor":
		return nil, written, nil
	}
	return nil, 0, core.ErrShutdown
}

// run returns the calls of the handler, the number of bytes that the connection has taken, how often it was read, and the cause of
// the close.
func (p beforeStart) run(t *testing.T) (calls []string, sent, reads int, cause error) {
	g := newGroup(t, 1)
	first, _ := net.Pipe()
	before := mustRegister(t, g, first, &handler{})
	<-before.Close().Done()
	synctest.Wait()
	ours, theirs := net.Pipe()
	defer func() { _ = theirs.Close() }()
	conn := &sink{Conn: ours}
	var j coretest.Journal
	held, gate := make(chan struct{}), make(chan struct{})
	coretest.MustExecute(t, before.EventLoop(), func() { close(held); <-gate })
	<-held
	ch := mustRegister(t, g, conn, recording(&j))
	for _, call := range p.Writes {
		if call == "Write" {
			ch.Write([]byte("x"))
		} else {
			ch.Flush()
		}
	}
	switch p.Call {
	case "Close":
		ch.Close()
	case "CloseGracefully":
		ch.CloseGracefully(core.Deadline{})
	case "ShutdownGracefully":
		coretest.MustShutdownGracefully(t, g, 0, time.Hour)
	case "ShutdownGracefully of the executor":
		coretest.MustShutdownGracefully(t, ch.EventLoop(), 0, time.Hour)
	case "Shutdown":
		g.Shutdown()
	default:
		ch.EventLoop().Shutdown()
	}
	close(gate)
	<-ch.CloseFuture().Done()
	g.Shutdown()
	coretest.AwaitDone(t, g)
	return j.All(), conn.sent.Len(), conn.reads, ch.CloseCause()
}

// sink is a connection that takes everything.
type sink struct {
	net.Conn
	sent  bytes.Buffer
	reads int
}

func (s *sink) Write(p []byte) (int, error) { return s.sent.Write(p) }
func (s *sink) Read(p []byte) (int, error)  { s.reads++; return s.Conn.Read(p) }

// TestPropBeforeTheStart: Close and CloseGracefully take effect after the start of a channel, which becomes active. A shutdown that
// comes first keeps it from becoming active: its handler gets no call. A graceful one sends what was written, the others nothing,
// and the connection is not read (G22, G23).
func TestPropBeforeTheStart(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := beforeStart{
			Writes: rapid.SliceOfN(rapid.SampledFrom([]string{"Write", "Write", "Flush"}), 0, 4).Draw(rt, "writes"),
			Call: rapid.SampledFrom([]string{
				"Close", "CloseGracefully", "ShutdownGracefully", "ShutdownGracefully of the executor", "Shutdown", "Shutdown of the executor",
			}).Draw(rt, "call"),
		}
		wantCalls, wantSent, wantCause := p.wants()
		var calls []string
		var sent, reads int
		var cause error
		synctest.Test(t, func(t *testing.T) { calls, sent, reads, cause = p.run(t) })
		if !slices.Equal(calls, wantCalls) || sent != wantSent || cause != wantCause || wantCalls == nil && reads > 0 {
			rt.Fatalf("G22: after %+v the handler got %q, %d bytes are sent, %d reads, the cause is %v; want %q, %d, no reads before the start, %v",
				p, calls, sent, reads, cause, wantCalls, wantSent, wantCause)
		}
	})
}
