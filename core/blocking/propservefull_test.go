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

// endless is a listener whose Accept always returns a connection at once. A drain of such a connection lasts until its
// peer closes.
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

// serveFull runs Serve for a group of at most most channels. The peers end the first ends of them, one after the other, and
// then the shutdown call comes. serveFull returns the first difference, or "".
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

// TestPropServeFull: while a group has its maximum of channels, Serve holds the next connection, and registers it when a
// channel has ended. The shutdown call ends the wait and closes that connection (R177, G21).
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
