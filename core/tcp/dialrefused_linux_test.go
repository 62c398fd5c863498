package tcp_test

import (
	"errors"
	"net"
	"syscall"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// refusingPoller is a poller whose Add fails.
type refusingPoller struct{ *clingy }

var errRefused = errors.New("no room")

func (refusingPoller) Add(int, core.Interest, uint64) error { return errRefused }

// TestG24ARefusedDialHasNoSocket: if the poller refuses the socket, it is closed before the future fails, so a program at the limit
// of descriptors can dial again at once.
func TestG24ARefusedDialHasNoSocket(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	coretest.Must(t, err)
	defer server.Close()
	loop, err := core.NewEventLoop(core.WithPoller(refusingPoller{newClingy()}))
	coretest.EndWithTest(t, loop, err)
	var dialled *core.Future[*tcp.Channel]
	known, early, closes := make(chan struct{}), true, 0
	dialled, err = tcp.DialOnAsync(t.Context(), loop, server.Addr().(*net.TCPAddr).AddrPort(), &recorder{}, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
		if op == "close" {
			<-known
			select {
			case <-dialled.Done():
				early = false
			default:
			}
			closes++
		}
		return n, 0
	}))
	coretest.Must(t, err)
	close(known)
	coretest.WantErr(t, "the dial", coretest.AwaitErr(t, "the dial", dialled), errRefused)
	loop.Shutdown()
	coretest.AwaitDone(t, loop)
	if closes != 1 || !early {
		t.Errorf("G24: the socket was closed %d times, before the future failed: %v; want once, before it", closes, early)
	}
}
