package blocking_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// recording returns a handler that records each call.
func recording(j *coretest.Journal) *handler {
	note := func(what string) func(*blocking.Channel) {
		return func(*blocking.Channel) { j.Add(what) }
	}
	return &handler{
		active: note("Active"), readComplete: note("ReadComplete"), inputShutdown: note("InputShutdown"),
		inactive: note("Inactive"), unregistered: note("Unregistered"),
		read:   func(*blocking.Channel, []byte) { j.Add("Read") },
		failed: func(_ *blocking.Channel, err error) { j.Add("Error(" + err.Error() + ")") },
	}
}

var errBroken = errors.New("broken")

// Connections that fail in one way, when and if they come to it.
type (
	wontShake struct{ net.Conn }
	wontWrite struct{ net.Conn }
	wontEnd   struct{ net.Conn }
	wontRead  struct{ net.Conn }
)

func (wontWrite) Write([]byte) (int, error) { return 0, errBroken }
func (wontEnd) CloseWrite() error           { return errBroken }
func (wontRead) CloseWrite() error          { return nil }
func (wontRead) Read([]byte) (int, error)   { return 0, errBroken }

func (wontShake) HandshakeContext(context.Context) error { return errBroken }

// G22: if a shutdown comes before the start of a channel, no method of its handler is called
// except Error, with the error of the connection.
func TestG22NeverActiveGetsOnlyError(t *testing.T) {
	const words = "last words"
	failed := "Error(" + errBroken.Error() + ")"
	tests := []struct {
		name  string
		conn  func(net.Conn) net.Conn
		reads bool // the peer does
		want  string
		cause error
	}{
		{"all is sent", func(c net.Conn) net.Conn { return c }, true, "", nil},
		{"nobody reads it", func(c net.Conn) net.Conn { return c }, false, "", core.ErrShutdownTimeout},
		{"the handshake fails", func(c net.Conn) net.Conn { return wontShake{c} }, true, failed, errBroken},
		{"the write fails", func(c net.Conn) net.Conn { return wontWrite{c} }, true, failed, errBroken},
		{"the half-close fails", func(c net.Conn) net.Conn { return wontEnd{c} }, true, failed, errBroken},
		{"the wait for the peer's end fails", func(c net.Conn) net.Conn { return wontRead{c} }, true, failed, errBroken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGroup(t, 1)
				first, _ := net.Pipe()
				before := mustRegister(t, g, first, &handler{})
				<-before.Close().Done()
				synctest.Wait()
				coretest.Want(t, "idle executors, to serve the next channel", g.Stats().Idle, 1)

				ours, theirs := net.Pipe()
				closeAtEnd(t, theirs)
				var calls coretest.Journal
				var ch *blocking.Channel
				onLoop(t, before, func() { // which cannot start the channel meanwhile
					ch = mustRegister(t, g, tt.conn(ours), recording(&calls))
					coretest.Must(t, ch.Write([]byte(words)).Err())
					coretest.MustShutdownGracefully(t, g, 0, short)
				})
				if tt.reads {
					got, err := io.ReadAll(theirs)
					coretest.Must(t, err)
					if tt.cause == nil {
						coretest.Want(t, "G23: accepted bytes at the peer", string(got), words)
					}
				}
				coretest.AwaitDone(t, g)
				calls.Want(t, "G22: calls of the handler", tt.want)
				coretest.WantErr(t, "the close cause", ch.CloseCause(), tt.cause)
			})
		})
	}
}
