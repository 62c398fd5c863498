package tcp_test

import (
	"io"
	"syscall"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/internal/epoll"
	"eventide/core/tcp"

	"golang.org/x/sys/unix"
)

// TestG12PollerThatRefusesToRearm: a channel that leaves input or output to the next turn of its loop goes on
// also if the poller cannot be made to report it again.
func TestG12PollerThatRefusesToRearm(t *testing.T) {
	coretest.CheckLeaks(t)
	calls, refusals := epoll.System(), 0
	control := calls.Control
	calls.Control = func(epfd, op, fd int, ev *unix.EpollEvent) error {
		if op == unix.EPOLL_CTL_MOD {
			refusals++
			return syscall.ENOMEM
		}
		return control(epfd, op, fd, ev)
	}
	poller, err := epoll.NewNetpoll(nil, 0, calls)
	coretest.Must(t, err)
	loop, err := core.NewEventLoop(core.WithPoller(poller))
	coretest.Must(t, err)
	const size = 100
	read := 0
	l, err := tcp.ListenOn(loop, "127.0.0.1:0", func() tcp.Handler {
		return &recorder{then: func(at string, ch *tcp.Channel, b []byte) {
			if at != "Read" {
				return
			}
			if read += len(b); read == size {
				ch.WriteAndFlush(make([]byte, size))
			}
		}}
	}, tcp.WithReadBuffer(1), tcp.WithWriteSpin(1), tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
		if op == "send" {
			return 1, 0
		}
		return n, 0
	}))
	coretest.Must(t, err)
	peer := mustDial(t, l.Addr())
	coretest.Must(t, peer.SetDeadline(time.Now().Add(coretest.HangGuard)))
	_, err = peer.Write(make([]byte, size))
	coretest.Must(t, err)
	_, err = io.ReadFull(peer, make([]byte, size))
	coretest.Must(t, err)
	loop.Shutdown()
	coretest.AwaitDone(t, loop)
	if refusals < 2 {
		t.Errorf("the poller refused %d times, want it to be asked for the input and for the output", refusals)
	}
}
