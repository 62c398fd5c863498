package blocking

import (
	"net"
	"os"
	"testing"
	"time"

	"eventide/core"
)

// wokenConn is a connection with input. Before each Read a wake-up comes, whose deadline ends
// the Read before it has begun. No wake-up comes before a Read of a poll, which has a deadline.
type wokenConn struct {
	net.Conn
	wake     func()
	deadline time.Time
	reads    int
}

func (w *wokenConn) SetReadDeadline(at time.Time) error {
	w.deadline = at
	return nil
}

func (w *wokenConn) Read(p []byte) (int, error) {
	w.reads++
	if w.deadline.IsZero() {
		w.wake()
	}
	if w.deadline.Equal(longPast) {
		return 0, os.ErrDeadlineExceeded
	}
	return copy(p, "x"), nil
}

// G13: after pollEvery sleeps in which a wake-up kept Read from reading, the poller looks for
// input. Wake-ups that come before the sleep do not have the same effect: see
// TestG13InputUnderWakes.
func TestG13InputUnderWakesInTheSleep(t *testing.T) {
	p := newConnPoller()
	conn := &wokenConn{wake: p.Wake}
	p.attach(newConnection(conn), 16)
	if err := p.Add(connFD, core.Readable, 1<<32); err != nil {
		t.Fatal(err)
	}
	for len(p.Ready()) == 0 && conn.reads <= pollEvery {
		_ = p.Wait(core.Deadline{})
	}
	if len(p.Ready()) == 0 || conn.reads != pollEvery+1 {
		t.Errorf("G13: after %d reads the poller has %d events, want 1 event after %d reads", conn.reads, len(p.Ready()), pollEvery+1)
	}
}
