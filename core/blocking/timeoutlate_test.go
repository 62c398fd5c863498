package blocking

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
)

// slowDeadline is a connection on which deadlines in the past take their time, as
// those of a waker whom the scheduler has forgotten, and whose timeouts are not those
// of package net.
type slowDeadline struct {
	net.Conn
	asked, leave chan struct{}
}

func (s slowDeadline) SetReadDeadline(at time.Time) error {
	if at.Equal(longPast) {
		s.asked <- struct{}{}
		<-s.leave
	}
	return s.Conn.SetReadDeadline(at)
}

type strangeTimeout struct{ error }

func (strangeTimeout) Timeout() bool   { return true }
func (strangeTimeout) Temporary() bool { return true }

func (s slowDeadline) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = strangeTimeout{errors.New("stream: timeout")}
	}
	return n, err
}

// attached returns a poller that watches conn.
func attached(t *testing.T, conn net.Conn) *connPoller {
	t.Helper()
	p := newConnPoller()
	p.attach(newConnection(conn), 16)
	if err := p.Add(connFD, core.Readable, 1<<32); err != nil {
		t.Fatal(err)
	}
	return p
}

// wantTaken calls Wait, and fails the test unless take then returns want.
func wantTaken(t *testing.T, p *connPoller, until core.Deadline, want string) {
	t.Helper()
	_ = p.Wait(until)
	if b, err := p.take(); string(b) != want || err != nil {
		t.Errorf("took %q, %v, want %q, nil", b, err, want)
	}
}

// G12, G23: the deadline of a waker may come into force in a later sleep, or between
// two. What it does to the read there is no error of the connection.
func TestG12LateDeadlineIsNoError(t *testing.T) {
	for _, between := range []bool{false, true} {
		t.Run(fmt.Sprintf("between two sleeps=%v", between), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				defer func() { _, _ = ours.Close(), theirs.Close() }()
				conn := slowDeadline{ours, make(chan struct{}), make(chan struct{})}
				p := attached(t, conn)
				go func() {
					synctest.Wait() // until the sleep
					p.Wake()
				}()
				go func() {
					<-conn.asked // the waker has seen the sleep, and is slow
					_, _ = theirs.Write([]byte("one"))
					if between {
						_, _ = theirs.Write([]byte("two"))
						return
					}
					synctest.Wait() // until the next sleep
					conn.leave <- struct{}{}
				}()
				wantTaken(t, p, core.Deadline{}, "one")
				if between {
					wantTaken(t, p, core.Deadline{}, "two")
					conn.leave <- struct{}{}
				} else {
					wantTaken(t, p, core.Deadline{}, "")
				}
				synctest.Wait() // until the deadline is in force
				go func() {
					time.Sleep(time.Second)
					_, _ = theirs.Write([]byte("last"))
				}()
				wantTaken(t, p, core.Deadline{}, "last")
			})
		})
	}
}

// G12, G23: the same if it comes into force on the next connection of the executor.
func TestG12LateDeadlineOnTheNextConnectionIsNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer func() { _, _ = ours.Close(), theirs.Close() }()
		conn := slowDeadline{Conn: ours}
		p := attached(t, conn)
		_ = ours.SetReadDeadline(longPast) // as a waker does who was slow
		go func() { _, _ = theirs.Write([]byte("input")) }()
		wantTaken(t, p, core.Deadline{}, "input")
	})
}

// ETIMEDOUT is one of the connection even if a deadline has passed meanwhile.
func TestG23ETIMEDOUTAtTheDeadlineIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := attached(t, unruly{Conn: anyConn(), read: func([]byte) (int, error) {
			time.Sleep(2 * time.Hour)
			return 0, syscall.ETIMEDOUT
		}})
		_ = p.Wait(time.Now().Add(time.Hour))
		if _, err := p.take(); err != syscall.ETIMEDOUT {
			t.Errorf("took %v, want ETIMEDOUT", err)
		}
	})
}

// anyConn is a connection that is never read.
func anyConn() net.Conn {
	ours, _ := net.Pipe()
	return ours
}
