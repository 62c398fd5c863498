package tcp_test

import (
	"context"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// rejectedHandlers are rejected-handlers that must not run on another loop: each counts its
// calls.
func rejectedHandlers(asked *atomic.Int32) map[string]core.Option {
	handler := func(f func()) core.Option {
		return core.WithRejectedHandler(func(int, *core.RejectedError) (time.Duration, bool) {
			asked.Add(1)
			f()
			return time.Hour, true
		})
	}
	return map[string]core.Option{
		"retries": handler(func() {}),
		"panics":  handler(func() { panic("full") }),
		"exits":   handler(runtime.Goexit),
	}
}

// TestG19RejectedHandlerOfAWorker: a listener does not call it. The listener pauses, its loop
// runs on, and no connection is lost or forgotten.
func TestG19RejectedHandlerOfAWorker(t *testing.T) {
	var asked atomic.Int32
	for name, option := range rejectedHandlers(&asked) {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			boss, worker := coretest.NewGroup(t, 1), coretest.NewGroup(t, 1, core.WithMaxPendingTasks(fewTasks), option)
			l, conns, release := heldWorkers(t, boss, worker, manyPeers)
			coretest.Until(t, "the listener to pause", func() bool { return l.Stats().Paused > 0 })
			coretest.OnLoop(t, boss, func() {})
			release()
			for _, c := range conns {
				mustEcho(t, c)
			}
			coretest.AwaitErr(t, "the close", l.Close())
			if s := l.Stats(); s.Accepted != manyPeers || s.Refused != 0 || asked.Load() != 0 {
				t.Errorf("G19: %+v, the handler was asked %d times; want %d accepted, none refused, never", s, asked.Load(), manyPeers)
			}
		})
	}
}

// TestG19ShutdownWithAFullWorker: a listener that waits for room does not delay the
// deadline of its loop, whatever the worker's rejected-handler returns (G11).
func TestG19ShutdownWithAFullWorker(t *testing.T) {
	var asked atomic.Int32
	for name, option := range rejectedHandlers(&asked) {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			boss, worker := coretest.NewGroup(t, 1), coretest.NewGroup(t, 1, core.WithMaxPendingTasks(fewTasks), option)
			l, _, release := heldWorkers(t, boss, worker, oneMore)
			coretest.Until(t, "the connections to be accepted", func() bool { return l.Stats().Accepted == oneMore })
			_, _ = boss.ShutdownGracefully(0, 20*time.Millisecond)
			coretest.AwaitDone(t, boss)
			release()
		})
	}
}

// TestG19RejectedHandlerOfADial: a dial does not call it either. A loop whose queue is full
// refuses the channel at once, and no descriptor is left (G24).
func TestG19RejectedHandlerOfADial(t *testing.T) {
	target, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = target.Close() })
	var asked atomic.Int32
	for name, option := range rejectedHandlers(&asked) {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			g := coretest.NewGroup(t, 1, core.WithMaxPendingTasks(fewTasks), option)
			held, gate := make(chan struct{}), make(chan struct{})
			release := sync.OnceFunc(func() { close(gate) })
			t.Cleanup(release)
			if err := g.Execute(func() { close(held); <-gate }); err != nil {
				t.Fatal(err)
			}
			coretest.Await(t, "the task", held)
			for range fewTasks {
				if err := g.Execute(func() {}); err != nil {
					t.Fatal(err)
				}
			}
			errs := make(chan error, 2)
			dial := func(f func() error) {
				done := make(chan struct{})
				go func() {
					defer close(done)
					defer func() { _ = recover() }()
					errs <- f()
				}()
				coretest.Await(t, "a dial", done)
			}
			dial(func() error {
				_, err := tcp.Dial(context.Background(), g, target.Addr().String(), tcp.HandlerBase{})
				return err
			})
			dial(func() error {
				f := tcp.DialAsync(context.Background(), g, target.Addr().String(), tcp.HandlerBase{})
				<-f.Done()
				_, err := f.Wait(context.Background())
				return err
			})
			close(errs)
			dials := 0
			for err := range errs {
				dials++
				coretest.WantErr(t, "G19: a dial", err, core.ErrQueueFull, core.ErrRejected)
			}
			if dials != 2 || asked.Load() != 0 {
				t.Errorf("G19: %d dials returned, and the handler was asked %d times; want 2, never", dials, asked.Load())
			}
			release()
		})
	}
}
