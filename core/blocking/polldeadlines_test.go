package blocking

import (
	"net"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// deadlineCounter is a connection that has input at all times and counts its read deadlines.
type deadlineCounter struct {
	net.Conn
	set int
}

func (c *deadlineCounter) Read(p []byte) (int, error)      { return len(p), nil }
func (c *deadlineCounter) SetReadDeadline(time.Time) error { c.set++; return nil }

// TestReadsSetNoDeadlineInVain: Wait without a deadline sets one only if the connection may have one. After attach it may, because
// a waker of the previous connection may be slow, and after a Wait with a deadline it has one. Reads after that cost no call.
func TestReadsSetNoDeadlineInVain(t *testing.T) {
	conn := &deadlineCounter{}
	p := attached(t, conn)
	wait := func(until core.Deadline) {
		coretest.Must(t, p.Wait(until))
		if b, err := p.take(); len(b) == 0 || err != nil {
			t.Fatalf("took %q, %v, want input", b, err)
		}
	}
	for round := range 3 {
		for range 10 {
			wait(core.Deadline{})
		}
		coretest.Want(t, "deadlines set", conn.set, 1+2*round)
		wait(time.Now().Add(time.Hour))
		coretest.Want(t, "deadlines set, with the next", conn.set, 2+2*round)
	}
}
