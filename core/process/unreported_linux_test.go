package process

import (
	"net"
	"os"
	"syscall"
	"testing"

	"eventide/core/internal/coretest"
)

// socketOf is a net.Conn with the descriptor of something else.
type socketOf struct {
	net.Conn
	of syscall.Conn
}

func (s socketOf) SyscallConn() (syscall.RawConn, error) { return s.of.SyscallConn() }

// TestBytesOfWhatIsNoConnection: of what is no TCP connection the kernel reports no bytes, and no byte counts as unsent: a pipe, a
// socket that listens, one of another family, one that is closed, and a connection in memory.
func TestBytesOfWhatIsNoConnection(t *testing.T) {
	r, w, err := os.Pipe()
	coretest.Must(t, err)
	defer r.Close()
	defer w.Close()
	listener := listen(t, false).(*net.TCPListener)
	defer listener.Close()
	unixListener, err := net.Listen("unix", shortDir(t)+"/socket")
	coretest.Must(t, err)
	defer unixListener.Close()
	unixConn, err := net.Dial("unix", unixListener.Addr().String())
	coretest.Must(t, err)
	defer unixConn.Close()
	closed, err := net.Dial("tcp", listener.Addr().String())
	coretest.Must(t, err)
	coretest.Must(t, closed.Close())
	memory, other := net.Pipe()
	defer memory.Close()
	defer other.Close()
	for name, c := range map[string]net.Conn{
		"a pipe": socketOf{of: w}, "a listener": socketOf{of: listener}, "a Unix socket": unixConn, "a closed connection": closed, "memory": memory,
	} {
		if acked, unacked := writtenTo(c); acked != -1 || unacked != -1 {
			t.Errorf("%s: %d bytes are acknowledged and %d not, want -1 and -1", name, acked, unacked)
		}
		if n := received(c); name != "a listener" && n != -1 {
			t.Errorf("%s: %d bytes have arrived, want that the kernel does not say", name, n)
		}
	}
}
