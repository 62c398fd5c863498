package tcp_test

import (
	"syscall"
	"testing"
	"time"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"golang.org/x/sys/unix"
)

// TestHalfCloseAfterAReset: the loop ends the output before it sees that the peer has reset the connection. shutdown(2)
// fails with ENOTCONN then, and the cause of the close is the reset (G22).
func TestHalfCloseAfterAReset(t *testing.T) {
	for name, end := range map[string]func(*tcp.Channel){
		"CloseOutput":     func(ch *tcp.Channel) { ch.CloseOutput() },
		"CloseGracefully": func(ch *tcp.Channel) { ch.CloseGracefully(time.Time{}) },
	} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			p := newPair(t, nil)
			coretest.OnLoop(t, p.ch.EventLoop(), func() {
				coretest.Must(t, p.peer.SetLinger(0))
				coretest.Must(t, p.peer.Close())
				reset := []unix.PollFd{{Fd: int32(p.ch.FD())}}
				if n, err := unix.Poll(reset, int(coretest.HangGuard.Milliseconds())); n != 1 || err != nil {
					t.Errorf("poll: %d, %v: no reset has come", n, err)
				}
				end(p.ch)
			})
			p.Await(t, 1, "Unregistered")
			coretest.WantErr(t, "G22: the cause", p.ch.CloseCause(), syscall.ECONNRESET)
		})
	}
}
