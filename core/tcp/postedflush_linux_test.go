package tcp_test

import (
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"eventide/core/internal/coretest"
)

// TestFlushesFromOutside: goroutines that know nothing of each other write and flush while the loop is busy.
// Each makes a single call, so that for the race detector nothing but the lock of the channel orders them.
func TestFlushesFromOutside(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil)
	const writers = 4
	for range 20 {
		stop, stopped := make(chan struct{}), make(chan struct{})
		coretest.Must(t, p.ch.EventLoop().Execute(func() { close(stopped); <-stop }))
		coretest.Await(t, "the loop to stop", stopped)
		gate := make(chan struct{})
		var written, ended sync.WaitGroup
		written.Add(writers)
		for w := range writers {
			ended.Go(func() {
				<-gate
				p.ch.WriteAndFlush([]byte{byte(w)})
				written.Done()
				<-stop // a goroutine that has ended may be taken for the next one
			})
		}
		close(gate)
		written.Wait()
		close(stop)
		ended.Wait()
		got := make([]byte, writers)
		coretest.Must(t, p.peer.SetReadDeadline(time.Now().Add(coretest.HangGuard)))
		_, err := io.ReadFull(p.peer, got)
		coretest.Must(t, err)
		slices.Sort(got)
		coretest.Want(t, "what the peer got", string(got), "\x00\x01\x02\x03")
	}
}
