package process

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"eventide/core/internal/coretest"
)

// TestListenerOfTheProgramIsProtected: a Listener that wraps a listener of the program turns new connections away.
func TestListenerOfTheProgramIsProtected(t *testing.T) {
	tcp := listen(t, false)
	defer tcp.Close()
	resume := stopArrivals(t.Context(), []net.Listener{Listener{Name: "http", Listener: tcp}}, none)
	if !turnsAway(t, tcp.(*net.TCPListener)) {
		t.Error("the listener does not turn a client away")
	}
	resume()
}

// TestListenerWithoutASocket: the error names the listener and its type.
func TestListenerWithoutASocket(t *testing.T) {
	raw, err := Listener{Name: "http", Listener: newPipes()}.SyscallConn()
	if raw != nil {
		t.Errorf("got %v, want no raw connection", raw)
	}
	coretest.WantErr(t, "the error", err, errors.ErrUnsupported)
	coretest.WantText(t, "its text", err, `process: Listener "http": a *process.pipes has no SyscallConn: unsupported operation`)
}

// TestListenerReturnsTheErrorOfAccept: an error of the net.Listener is returned at once, unless HTTP has stopped the listener: in a
// process without a service manager, and for the program's listener and a service manager's in a process that has one.
func TestListenerReturnsTheErrorOfAccept(t *testing.T) {
	accept := func(what string, record bool) {
		tcp := listen(t, false).(*net.TCPListener)
		defer tcp.Close()
		if record {
			inherit(tcp)
		}
		coretest.Must(t, tcp.SetDeadline(time.Unix(1, 0)))
		failed := make(chan error, 1)
		go func() {
			_, err := Listener{Name: "http", Listener: tcp}.Accept()
			failed <- err
		}()
		coretest.Until(t, "the end of Accept, "+what, func() bool { return len(failed) > 0 })
		coretest.WantErr(t, "Accept, "+what, <-failed, os.ErrDeadlineExceeded)
	}
	noneInherited(t)
	accept("none from a service manager", false)
	accept("from a service manager", true)
	accept("of the program", false)
}

// noneInherited makes the process one without a service manager's sockets, until the end of the test.
func noneInherited(t *testing.T) {
	record := func(stopped map[socketID]bool) (before map[socketID]bool) {
		inherited.Lock()
		defer inherited.Unlock()
		before, inherited.stopped = inherited.stopped, stopped
		return before
	}
	before := record(nil)
	t.Cleanup(func() { record(before) })
}

// failing is a net.Listener without a socket whose Accept fails.
type failing struct {
	net.Listener
	calls int
}

func (f *failing) Accept() (net.Conn, error) {
	f.calls++
	return nil, os.ErrDeadlineExceeded
}

// TestListenerCallsAcceptOnce: the error of a listener without a socket is returned after one call of Accept, in
// a process with a service manager too.
func TestListenerCallsAcceptOnce(t *testing.T) {
	noneInherited(t)
	tcp := listen(t, false).(*net.TCPListener)
	defer tcp.Close()
	inherit(tcp)
	f := &failing{Listener: newPipes()}
	_, err := Listener{Name: "http", Listener: f}.Accept()
	coretest.WantErr(t, "Accept", err, os.ErrDeadlineExceeded)
	if f.calls != 1 {
		t.Errorf("Accept of the net.Listener was called %d times, want 1", f.calls)
	}
}
