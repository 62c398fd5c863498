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

// TestCloseBehindTheFlushOfAnotherGoroutine: two goroutines flush, so that only the first posts a flush. The second
// closes the channel before the first has come to that. What the second has flushed is sent before the close.
func TestCloseBehindTheFlushOfAnotherGoroutine(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil)
	p.ch.FlushIsBeingPosted()
	last := p.ch.WriteAndFlush([]byte("the last word"))
	closed := p.ch.Close()
	got, err := io.ReadAll(p.peer)
	coretest.Must(t, err)
	coretest.Want(t, "what the peer got", string(got), "the last word")
	coretest.WantErr(t, "the write", awaitWrite(t, last), nil)
	coretest.WantErr(t, "the close", coretest.AwaitErr(t, "the close", closed), nil)
	coretest.Want(t, "the cause", p.ch.CloseCause(), nil)
}
