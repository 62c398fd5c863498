package tcp_test

import (
	"context"
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
