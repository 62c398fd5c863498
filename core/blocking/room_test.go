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
	stacks := make([]byte, 1<<20)
	for !bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("(*Group).release(")) {
		select {
		case <-ch.CloseFuture().Done():
			g.mu.Unlock()
			t.Fatal("the future is complete, and the place is not free")
		default:
			runtime.Gosched()
		}
	}
	g.mu.Unlock()
	coretest.Await(t, "the end of the channel", ch.CloseFuture().Done())
	coretest.Must(t, g.Close())
}
