package blocking

import (
	"bytes"
	"net"
	"runtime"
	"testing"

	"eventide/core/internal/coretest"
)

// A caller that has waited for CloseFuture can register the next channel at once (R177): the channel releases its place in
// the group before it completes the future. The test holds Group.mu until the loop waits for it in release.
func TestR177ThePlaceIsFreeBeforeTheFuture(t *testing.T) {
	g, err := NewGroup(1)
	coretest.Must(t, err)
	near, far := net.Pipe()
	ch, err := g.Register(near, HandlerBase{})
	coretest.Must(t, err)
	coretest.Must(t, far.Close())
	g.mu.Lock()
	ch.Close()
	stacks, complete := make([]byte, 1<<20), func() bool {
		select {
		case <-ch.CloseFuture().Done():
			return true
		default:
			return false
		}
	}
	for !complete() && !bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("(*Group).release(")) {
		runtime.Gosched()
	}
	if complete() { // also if the loop has come to release by now
		t.Error("the future is complete, and the place is not free")
	}
	g.mu.Unlock()
	coretest.Await(t, "the end of the channel", ch.CloseFuture().Done())
	coretest.Must(t, g.Close())
}
