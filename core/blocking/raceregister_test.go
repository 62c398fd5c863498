package blocking_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// TestG22AbortMeetsRegister: a shutdown of the executor aborts a channel while Register has not returned. The loop waits until Register
// has set what the end of the channel needs. With the race detector it checks that Register has set all of it before the loop goes on.
func TestG22AbortMeetsRegister(t *testing.T) {
	var admitted atomic.Int64
	g := newGroup(t, 0, core.WithTracer(tracerFunc(func(e core.Event) {
		if e.Kind == core.EventAdmit && e.Op == core.OpRegister {
			admitted.Add(1)
		}
	})))
	register := func() *blocking.Channel {
		ours, theirs := net.Pipe()
		closeAtEnd(t, theirs)
		return mustRegister(t, g, ours, &handler{})
	}
	for range 1000 {
		ch := register()
		loop := ch.EventLoop()
		ch.Close()
		coretest.Until(t, "an idle executor", func() bool { return g.Stats().Idle == 1 })
		for range 100 { // so that the end of the context takes longer than the rest of Register
			_, cancel := context.WithCancel(loop.Context())
			defer cancel()
		}
		before, held := admitted.Load(), make(chan struct{})
		coretest.MustExecute(t, loop, func() {
			for close(held); admitted.Load() == before; {
			}
			loop.Shutdown()
		})
		coretest.Await(t, "the task", held)
		ch = register()
		coretest.Await(t, "the end of the executor", loop.Termination().Done())
		if cause := ch.CloseCause(); ch.EventLoop() != loop || !errors.Is(cause, core.ErrShutdown) {
			t.Fatalf("G22: the cause is %v, want ErrShutdown", cause)
		}
	}
}
