package blocking_test

import (
	"net"
	"runtime"
	"testing"

	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// TestG24AClosedChannelKeepsNoUnsentBytes: the user may keep a channel for long after its end.
func TestG24AClosedChannelKeepsNoUnsentBytes(t *testing.T) {
	const unsent = 8 << 20
	g := newGroup(t, 0)
	ours, theirs := net.Pipe() // holds nothing, and nobody reads
	closeAtEnd(t, theirs)
	ch := mustRegister(t, g, ours, &handler{}, blocking.WithCloseTimeout(0))
	before := heapInUse()
	ch.Write(make([]byte, unsent))
	if queued := heapInUse() - before; queued < unsent*9/10 {
		t.Fatalf("%d bytes are in use for %d written ones: the test shows nothing", queued, unsent)
	}
	ch.Close()
	g.Shutdown()
	coretest.AwaitDone(t, g)
	if kept := heapInUse() - before; kept > unsent/2 {
		t.Errorf("G24: %d bytes are in use after the close, with %d unsent", kept, unsent)
	}
	runtime.KeepAlive(ch)
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestG24AClosedChannelKeepsNoWriteFutures: a channel that has ended does not refer to the futures that its end has failed.
func TestG24AClosedChannelKeepsNoWriteFutures(t *testing.T) {
	const waiters = 20_000
	g := newGroup(t, 0)
	ours, theirs := net.Pipe()
	closeAtEnd(t, theirs)
	ch := mustRegister(t, g, ours, &handler{}, blocking.WithCloseTimeout(0))
	w := ch.Write([]byte("nobody flushes it"))
	before := heapInUse()
	for range waiters {
		w.Done()
	}
	pending := heapInUse() - before
	if pending < 100*waiters {
		t.Fatalf("%d bytes are in use for %d pending futures: the test shows nothing", pending, waiters)
	}
	ch.Close()
	g.Shutdown()
	coretest.AwaitDone(t, g)
	if kept := heapInUse() - before; kept > pending/10 {
		t.Errorf("G24: %d bytes are in use after the close, and %d before it for %d futures", kept, pending, waiters)
	}
	runtime.KeepAlive(ch)
}
