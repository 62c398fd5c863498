package tcp_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
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

// A channel that has failed and waits for room sends no more, so a write from another goroutine posts no flush.
func TestAWriteToAFailedChannelPostsNoFlush(t *testing.T) {
	coretest.CheckLeaks(t)
	posts := func(write bool) int64 {
		var posted listenerCount
		fails := func(at string, _ *tcp.Channel, _ []byte) {
			if at == "WritabilityChanged" {
				panic("a handler of the test")
			}
		}
		full := tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
			if op == "send" {
				return n, syscall.EAGAIN
			}
			return n, 0
		})
		p := newPairOn(t, coretest.NewGroup(t, 1, core.WithTracer(&posted)), fails, full, tcp.WithWriteBufferWaterMarks(1, 2))
		defer p.peer.Close()
		coretest.OnLoop(t, p.ch.EventLoop(), func() {
			_, err := p.ch.Hold() // so that writes are accepted in the close
			coretest.Want(t, "error of Hold", err, nil)
			p.ch.WriteAndFlush([]byte("x"))
			func() {
				defer func() { _ = recover() }()
				p.ch.Write([]byte("many")) // more than the high mark: the handler fails
			}()
			p.ch.CloseGracefully(time.Time{})
			over := make(chan struct{})
			go func() {
				defer close(over)
				if write {
					coretest.Want(t, "error of a write to a held channel", p.ch.WriteAndFlush([]byte("y")).Err(), nil)
				}
			}()
			<-over
		})
		p.Await(t, 1, "Unregistered")
		coretest.OnLoop(t, p.ch.EventLoop(), func() {})
		return posted.Load()
	}
	coretest.Want(t, "functions that the loop ran between bodies, with the write", posts(true), posts(false))
}
