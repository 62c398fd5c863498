package blocking_test

import (
	"errors"
	"net"
	"testing"

	"eventide/core"
)

// TestScheduleShutdownMeetsRegister: a shutdown of the group meets a call of Register. Register returns
// ErrShutdown, or a channel that the shutdown closes (G22). TestPropChosenSchedulesOfRegister of props/lanes/sockets runs it
// under chosen schedules with the race detector: what Register sets is set before the loop sees it.
func TestScheduleShutdownMeetsRegister(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs := net.Pipe()
	closeAtEnd(t, theirs)
	over := make(chan struct{})
	go func() {
		defer close(over)
		g.Shutdown()
	}()
	ch, err := g.Register(ours, &handler{})
	if err != nil && !errors.Is(err, core.ErrShutdown) {
		t.Errorf("G22: Register returned %v, want nil or ErrShutdown", err)
	}
	<-over
	<-g.Termination().Done()
	if err == nil && !errors.Is(ch.CloseCause(), core.ErrShutdown) {
		t.Errorf("G22: the cause is %v, want ErrShutdown", ch.CloseCause())
	}
}
