package blocking_test

import (
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// TestG22EarliestOfConcurrentDeadlines: of the deadlines that goroutines set at the same time, the earliest closes the channel. With the
// race detector it checks that CloseGracefully sets the deadline with the lock held.
func TestG22EarliestOfConcurrentDeadlines(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			g := newGroup(t, 0)
			ours, theirs := net.Pipe() // the peer does not end its side
			closeAtEnd(t, theirs)
			ch := mustRegister(t, g, &halfClosing{Conn: ours, closeWrite: func() {}}, &handler{})
			synctest.Wait()
			began, gate := time.Now(), make(chan struct{})
			var calls sync.WaitGroup
			for i := range 4 {
				calls.Go(func() {
					<-gate
					ch.CloseGracefully(began.Add(time.Duration(1+i) * time.Second))
				})
			}
			close(gate)
			calls.Wait()
			coretest.Await(t, "the close", ch.CloseFuture().Done())
			coretest.Want(t, "G22: the time until the close", time.Since(began), time.Second)
			coretest.WantErr(t, "G22: the cause", ch.CloseCause(), blocking.ErrCloseDeadline)
		})
	}
}
