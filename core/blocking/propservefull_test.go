package blocking_test

import (
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/blocking"

	"pgregory.net/rapid"
)

// endless is a listener that always has one more connection. Its connections wait for the peer's end when they drain.
type endless struct {
	net.Listener
	peers  []net.Conn
	closed atomic.Bool
}

func (e *endless) Accept() (net.Conn, error) {
	if e.closed.Load() {
		return nil, net.ErrClosed
	}
	ours, theirs := net.Pipe()
	e.peers = append(e.peers, theirs)
	return &halfClosing{Conn: ours, closeWrite: func() {}}, nil
}

func (e *endless) Close() error { e.closed.Store(true); return nil }

// serveFull serves with at most most channels, of which ends are ended one after the other. It returns the first
// difference, or "".
func serveFull(most, ends int, graceful bool) string {
	g, err := blocking.NewGroup(most)
	if err != nil {
		return err.Error()
	}
	defer time.Sleep(time.Hour) // the executors end
	ln, served := &endless{}, make(chan error, 1)
	go func() { served <- g.Serve(ln, newEcho) }()
	for n := range ends + 1 {
		synctest.Wait()
		if s := g.Stats(); s.Channels != most || len(ln.peers) != most+n+1 {
			return fmt.Sprintf("R177: after %d ends %d channels of %d connections, want %d of %d", n, s.Channels, len(ln.peers), most, most+n+1)
		}
		if n < ends {
			_ = ln.peers[n].Close()
		}
	}
	if graceful {
		_, _ = g.ShutdownGracefully(0, time.Minute)
	} else {
		g.Shutdown()
	}
	synctest.Wait()
	select {
	case err := <-served:
		if err != nil || !ln.closed.Load() {
			return fmt.Sprintf("Serve: %v, and the listener is closed: %v", err, ln.closed.Load())
		}
	default:
		g.Shutdown()
		return "G21: Serve waits for room after the shutdown call"
	}
	if _, err := ln.peers[most+ends].Write([]byte("x")); err == nil {
		return "R177: the connection that waited for room is open"
	}
	return ""
}

// TestPropServeFull: while a group has its maximum of channels, Serve waits with the next connection, which becomes a
// channel when one has ended. The shutdown call ends the wait (R177, G21).
func TestPropServeFull(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		most, ends := rapid.IntRange(1, 3).Draw(rt, "maxChannels"), rapid.IntRange(0, 4).Draw(rt, "ends")
		graceful, wrong := rapid.Bool().Draw(rt, "graceful"), ""
		synctest.Test(t, func(*testing.T) { wrong = serveFull(most, ends, graceful) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}
