package tcp_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// A listenerCount counts the functions that the loop runs between bodies: listeners, and what transports post.
type listenerCount struct{ atomic.Int64 }

func (c *listenerCount) Trace(ev core.Event) {
	if ev.Kind == core.EventBegin && ev.Body == core.BodyListener {
		c.Add(1)
	}
}

// Many writes from other goroutines post one flush, as long as the loop has not begun it.
func TestWritesFromOutsidePostOneFlush(t *testing.T) {
	coretest.CheckLeaks(t)
	var posted listenerCount
	p := newPairOn(t, coretest.NewGroup(t, 1, core.WithTracer(&posted)), nil)
	begun, release := make(chan struct{}), make(chan struct{})
	coretest.MustExecute(t, p.ch.EventLoop(), func() { close(begun); <-release })
	<-begun
	before := posted.Load()
	for range 99 {
		p.ch.WriteAndFlush([]byte("x"))
	}
	last := p.ch.WriteAndFlush([]byte("x"))
	close(release)
	_, err := last.Wait(context.Background())
	coretest.Must(t, err)
	coretest.OnLoop(t, p.ch.EventLoop(), func() {})
	coretest.Want(t, "functions that the loop ran between bodies", posted.Load()-before, 1)
}

// Goroutines that write and flush at the same time post one flush together. The lock of the channel is all that orders
// them, so the race detector reports a flush that is marked as posted without it. Many threads and rounds make it
// likely that one goroutine is stopped behind the lock.
func TestConcurrentWritesFromOutsidePostOneFlush(t *testing.T) {
	coretest.CheckLeaks(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(16))
	const rounds, writers, writes = 1000, 32, 3
	var posted listenerCount
	p := newPairOn(t, coretest.NewGroup(t, 1, core.WithTracer(&posted)), nil)
	var reader sync.WaitGroup
	defer reader.Wait()
	defer p.peer.Close()
	reader.Go(func() { _, _ = readAll(p.peer) })
	for range rounds {
		begun, release := make(chan struct{}), make(chan struct{})
		coretest.MustExecute(t, p.ch.EventLoop(), func() { close(begun); <-release })
		<-begun
		before := posted.Load()
		gate := make(chan struct{})
		var ended sync.WaitGroup
		for range writers {
			ended.Go(func() {
				<-gate
				for range writes {
					p.ch.WriteAndFlush([]byte("x"))
				}
			})
		}
		close(gate)
		ended.Wait()
		last := p.ch.Flush()
		close(release)
		_, err := last.Wait(context.Background())
		coretest.Must(t, err)
		coretest.OnLoop(t, p.ch.EventLoop(), func() {})
		coretest.Want(t, "functions that the loop ran between bodies", posted.Load()-before, 1)
		if t.Failed() {
			return
		}
	}
}
