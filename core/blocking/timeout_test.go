package blocking_test

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// timeoutError is a timeout as connections that are not of package net have it: it is
// no os.ErrDeadlineExceeded.
type timeoutError struct{}

func (timeoutError) Error() string   { return "stream: timeout" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

var errTimedOut = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ETIMEDOUT)}

// foreign is a connection whose deadlines are a timeoutError.
type foreign struct{ net.Conn }

func (f foreign) Read(p []byte) (int, error) {
	n, err := f.Conn.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = timeoutError{}
	}
	return n, err
}

func foreignPair(testing.TB) (ours, theirs net.Conn) {
	a, b := net.Pipe()
	return foreign{a}, b
}

// interruptible are the connections whose reads tasks and timers interrupt.
var interruptible = append(slices.Clone(transports), struct {
	name string
	pair func(testing.TB) (ours, theirs net.Conn)
}{"foreign", foreignPair})

// dying is a connection whose reads return one error after the other, and the last
// for ever.
type dying struct {
	net.Conn
	reads atomic.Int64
	errs  []error
}

func (d *dying) Read([]byte) (int, error) {
	return 0, d.errs[min(d.reads.Add(1), int64(len(d.errs)))-1]
}

// G12: tasks and timers interrupt a read, also in virtual time, as of a test of the
// user's, and leave the connection as it was, also one with timeouts of its own kind.
func TestG12ReadIsInterrupted(t *testing.T) {
	for name, wrap := range map[string]func(net.Conn) net.Conn{
		"pipe":    func(conn net.Conn) net.Conn { return conn },
		"foreign": func(conn net.Conn) net.Conn { return foreign{conn} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGroup(t, 0)
				ours, theirs := net.Pipe()
				closeAtEnd(t, theirs)
				ch := mustRegister(t, g, wrap(ours), echo())
				for range 3 {
					synctest.Wait() // until it reads
					onLoop(t, ch, func() {})
					timer, err := ch.EventLoop().Schedule(time.Second, func() {})
					if err != nil {
						t.Fatal(err)
					}
					coretest.Await(t, "the timer", timer.Done())
				}
				if _, err := theirs.Write([]byte("ping")); err != nil {
					t.Fatalf("G12: after the interruptions: %v", err)
				}
				if _, err := io.ReadFull(theirs, make([]byte, 4)); err != nil {
					t.Errorf("G12: no echo after the interruptions: %v", err)
				}
			})
		})
	}
}

// A timeout of the connection, when none of our deadlines has passed, is an error like
// any other: Handler.Error is called and the channel is closed. Linux returns ETIMEDOUT once,
// and then the end of the stream; streams over one datagram socket return their timeout for
// ever.
func TestG23TimeoutOfTheConnectionIsAnError(t *testing.T) {
	for _, row := range []struct {
		name string
		errs []error
	}{
		{"ETIMEDOUT, then EOF", []error{errTimedOut, io.EOF}},
		{"ETIMEDOUT for ever", []error{errTimedOut}},
		{"another timeout, then EOF", []error{timeoutError{}, io.EOF}},
		{"another timeout for ever", []error{timeoutError{}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := newGroup(t, 0)
			ours, _ := tcpPair(t)
			conn := &dying{Conn: ours, errs: row.errs}
			var heard []error
			over := make(chan struct{})
			ch := mustRegister(t, g, conn, &handler{
				failed:       func(_ *blocking.Channel, err error) { heard = append(heard, err) },
				unregistered: func(*blocking.Channel) { close(over) },
			})
			coretest.Await(t, "Unregistered", over)
			if len(heard) != 1 || heard[0] != row.errs[0] || ch.CloseCause() != row.errs[0] {
				t.Errorf("Handler.Error got %v, the close cause is %v, want %v for both", heard, ch.CloseCause(), row.errs[0])
			}
			if got := conn.reads.Load(); got != 1 {
				t.Errorf("%d reads of a dead connection, want 1", got)
			}
		})
	}
}
