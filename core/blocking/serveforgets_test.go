package blocking_test

import (
	"errors"
	"net"
	"sync/atomic"
	"testing"

	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// closeCounter is a listener whose Accept fails. It counts the calls of Close.
type closeCounter struct {
	net.Listener
	closed atomic.Int64
}

var errNoAccept = errors.New("accept has failed")

func (*closeCounter) Accept() (net.Conn, error) { return nil, errNoAccept }
func (l *closeCounter) Addr() net.Addr          { return &net.TCPAddr{} }
func (l *closeCounter) Close() error            { l.closed.Add(1); return nil }

// TestServeForgetsItsListener: once Serve has returned, no shutdown call of the group calls the listener: one whose
// Accept has failed, and one that a group after its shutdown has refused.
func TestServeForgetsItsListener(t *testing.T) {
	g := newGroup(t, 0)
	serve := func(want error) (closed func() int64) {
		l := &closeCounter{}
		err := g.Serve(l, func() blocking.Handler { return &handler{} })
		if err != want || l.closed.Load() != 1 {
			t.Errorf("Serve: %v and %d calls of Close, want %v and 1", err, l.closed.Load(), want)
		}
		return l.closed.Load
	}
	failed := serve(errNoAccept)
	g.Shutdown()
	coretest.AwaitDone(t, g)
	refused := serve(nil)
	g.Shutdown()
	if failed() != 1 || refused() != 1 {
		t.Errorf("the listener that failed has %d calls of Close, and the refused one %d, want 1 each", failed(), refused())
	}
}
