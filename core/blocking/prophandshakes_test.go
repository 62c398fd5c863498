package blocking_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"eventide/core/blocking"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// handshakePlan has the calls of the channel that a handshake makes on the executor, and how the handshake ends.
type handshakePlan struct {
	Calls  []string
	Err    error
	Panics bool
}

func drawHandshakePlan(t *rapid.T) handshakePlan {
	return handshakePlan{
		Calls:  rapid.SliceOfN(rapid.SampledFrom([]string{"Write", "Write", "Flush", "Flush", "Close", "CloseGracefully"}), 0, 6).Draw(t, "calls"),
		Err:    rapid.SampledFrom([]error{nil, nil, errOfConn}).Draw(t, "err"),
		Panics: rapid.IntRange(0, 4).Draw(t, "panics") == 0,
	}
}

// sends returns the number of bytes that the channel sends and the calls of its handler, if the channel is closed after
// the handshake. Writes after Close count: the executor accepts its own writes until the close begins, after the handshake.
func (p handshakePlan) sends() (n int, calls []string) {
	switch {
	case p.Panics:
		return 0, []string{"Error core: panic: of the handshake"}
	case p.Err != nil:
		return 0, []string{"Error " + p.Err.Error()}
	}
	written, flushed, all := 0, 0, false
	for _, call := range p.Calls {
		switch call {
		case "Write":
			written++
		case "Flush":
			flushed = written
		}
	}
	if i := slices.IndexFunc(p.Calls, func(call string) bool { return call == "Close" || call == "CloseGracefully" }); i >= 0 {
		all = p.Calls[i] == "CloseGracefully"
	}
	if n = flushed; all {
		n = written
	}
	return n, []string{"Active", "Inactive", "Unregistered"}
}

// shakingConn is a connection with a handshake. Its journal has the calls of Read and Write.
type shakingConn struct {
	net.Conn
	handshake func() error
	journal   coretest.Journal
	sent      bytes.Buffer
}

func (s *shakingConn) HandshakeContext(context.Context) error { return s.handshake() }

func (s *shakingConn) Write(p []byte) (int, error) {
	s.journal.Add("write")
	return s.sent.Write(p)
}

func (s *shakingConn) Read(p []byte) (int, error) {
	s.journal.Add("read")
	return s.Conn.Read(p)
}

// TestPropHandshakes: the executor neither reads, writes nor closes a connection during its handshake, whatever calls of
// the channel the handshake makes. The calls take effect afterwards: the first of Close and CloseGracefully closes the
// channel. Close sends the flushed bytes, and CloseGracefully all written bytes. If the handshake fails, nothing is sent,
// and the handler gets only the error (G22).
func TestPropHandshakes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawHandshakePlan(rt)
		g, err := blocking.NewGroup(0)
		coretest.Must(t, err)
		defer func() { <-g.Shutdown().Done() }()
		ours, theirs := net.Pipe()
		defer func() { _ = theirs.Close() }()
		conn, calls := &shakingConn{Conn: ours}, &coretest.Journal{}
		known, early := make(chan *blocking.Channel, 1), make(chan string, 1)
		conn.handshake = func() error {
			ch := <-known
			for _, call := range p.Calls {
				switch call {
				case "Write":
					ch.Write([]byte("x"))
				case "Flush":
					ch.Flush()
				case "Close":
					ch.Close()
				case "CloseGracefully":
					ch.CloseGracefully(time.Time{})
				}
			}
			early <- fmt.Sprint(conn.journal.All(), ch.CloseCause(), len(calls.All()), ours.SetDeadline(time.Time{}))
			if p.Panics {
				panic("of the handshake")
			}
			return p.Err
		}
		adds := func(name string) func(*blocking.Channel) { return func(*blocking.Channel) { calls.Add(name) } }
		ch := mustRegister(t, g, conn, &handler{
			active: adds("Active"), inactive: adds("Inactive"), unregistered: adds("Unregistered"),
			failed: func(_ *blocking.Channel, err error) { calls.Add("Error " + err.Error()) },
		})
		known <- ch
		if got := <-early; got != "[] <nil> 0 <nil>" {
			rt.Fatalf("in the handshake: %s, want no calls and an open connection", got)
		}
		onLoop(t, ch, func() {})
		ch.Close()
		coretest.Await(t, "the end of the channel", ch.CloseFuture().Done())
		g.Shutdown()
		coretest.AwaitDone(t, g)
		n, want := p.sends()
		if got := calls.All(); !slices.Equal(got, want) || conn.sent.Len() != n {
			rt.Fatalf("G22: the handler got %q, and %d bytes are sent, want %q, %d", got, conn.sent.Len(), want, n)
		}
		if cause := ch.CloseCause(); errors.Is(cause, io.EOF) || (cause != nil) != (p.Panics || p.Err != nil) {
			rt.Fatalf("the cause is %v", cause)
		}
	})
}
