package process

import (
	"errors"
	"net"
	"testing"

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
