package blocking_test

import (
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"eventide/core/internal/coretest"
)

// shutDownAfterRead is a TCP connection. After its first Read that fails it makes the shutdown call.
type shutDownAfterRead struct {
	*net.TCPConn
	call func()
}

func (c *shutDownAfterRead) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	if errors.Is(err, syscall.ECONNRESET) {
		c.call()
	}
	return n, err
}

// G23: the loop drains channels before it handles what a Read has returned. If that was a reset, the half-close of the
// drain fails with ENOTCONN. The cause of the end is the reset.
func TestG23ResetIsReadAsTheShutdownComes(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs := tcpPair(t)
	conn := &shutDownAfterRead{TCPConn: ours.(*net.TCPConn), call: func() { _, _ = g.ShutdownGracefully(0, time.Hour) }}
	ch := mustRegister(t, g, conn, &handler{})
	coretest.Must(t, theirs.(*net.TCPConn).SetLinger(0))
	coretest.Must(t, theirs.Close())
	report := coretest.AwaitDone(t, g)
	if cause := ch.CloseCause(); !errors.Is(cause, syscall.ECONNRESET) {
		t.Errorf("G23: the cause is %v, want ECONNRESET", cause)
	}
	if report.ChannelsAborted != 1 || report.ChannelsDrained != 0 {
		t.Errorf("G23: report %+v, want 1 aborted, 0 drained", report)
	}
}
