package tcp_test

import (
	"errors"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// numbered is a Socket whose FD is the number of a descriptor that it does not own.
type numbered struct {
	stub
	fd int
}

func (n numbered) FD() int                          { return n.fd }
func (numbered) Read([]byte) (int, syscall.Errno)   { return 0, syscall.EAGAIN }
func (numbered) Send(p []byte) (int, syscall.Errno) { return len(p), 0 }
func (numbered) ShutdownWrite() error               { return nil }
func (numbered) Unacknowledged() int                { return 0 }
func (numbered) Err() syscall.Errno                 { return 0 }

// TestEmbedLeavesTheDescriptorAlone: FD identifies a Socket to the poller only. No call of the channel changes the
// descriptor with that number.
func TestEmbedLeavesTheDescriptorAlone(t *testing.T) {
	coretest.CheckLeaks(t)
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	coretest.Must(t, err)
	defer unix.Close(fd)
	closed := 0
	g := coretest.NewGroup(t, 1)
	f := tcp.Embed(loopOf(g), numbered{stub{closed: &closed}, fd}, &recorder{}, tcp.WithLinger(0))
	ch, err := f.Wait(t.Context())
	coretest.Must(t, err)
	coretest.WantErr(t, "the write", awaitWrite(t, ch.WriteAndFlush([]byte("to the Socket"))), nil)
	coretest.WantErr(t, "the end of the output", coretest.AwaitErr(t, "the end of the output", ch.CloseOutput()), nil)
	coretest.WantErr(t, "the close", coretest.AwaitErr(t, "the close", ch.Close()), nil)
	coretest.Want(t, "calls of Close of the Socket", closed, 1)
	linger, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_LINGER) // its first field, Onoff
	if errors.Is(err, unix.EBADF) {
		t.Fatal("the channel has closed the descriptor")
	}
	coretest.Must(t, err)
	coretest.Want(t, "SO_LINGER", linger, 0)
}
