package tcp_test

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// watchedContext is a context that never ends, and counts what watches it.
type watchedContext struct {
	context.Context
	done     chan struct{}
	watchers atomic.Int32
	stops    func() // called when a watch stops
}

func (c *watchedContext) Done() <-chan struct{} { return c.done }

// AfterFunc is what context.AfterFunc calls.
func (c *watchedContext) AfterFunc(func()) (stop func() bool) {
	c.watchers.Add(1)
	return func() bool {
		c.watchers.Add(-1)
		c.stops()
		return true
	}
}

// TestG24ADialThatIsOverDoesNotWatchItsContext: a context may live as long as the process, so a dial stops to watch it, and
// does so before its future completes.
func TestG24ADialThatIsOverDoesNotWatchItsContext(t *testing.T) {
	for name, errno := range map[string]syscall.Errno{"success": 0, "failure": syscall.ECONNREFUSED} {
		t.Run(name, func(t *testing.T) {
			g := coretest.NewGroup(t, 1)
			l, err := net.Listen("tcp", "127.0.0.1:0")
			coretest.Must(t, err)
			defer l.Close()
			var f *core.Future[*tcp.Channel]
			var completed []bool // for each watch that stops: whether the future was complete; the loop writes it
			ctx := &watchedContext{Context: context.Background(), done: make(chan struct{})}
			ctx.stops = func() {
				select {
				case <-f.Done():
					completed = append(completed, true)
				default:
					completed = append(completed, false)
				}
			}
			var watched int32
			coretest.OnLoop(t, g, func() { // the loop begins to connect behind this body
				f = tcp.DialAsync(ctx, g, l.Addr().String(), tcp.HandlerBase{}, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
					if op == "connect" {
						watched = ctx.watchers.Load()
						return n, errno
					}
					return n, 0
				}))
			})
			coretest.Await(t, "the dial", f.Done())
			coretest.OnLoop(t, g, func() {})
			coretest.Want(t, "watchers of the context while the channel connects, and behind it", [2]int32{watched, ctx.watchers.Load()}, [2]int32{1, 0})
			coretest.Want(t, "the future was complete when a watch stopped", fmt.Sprint(completed), "[false]")
		})
	}
}
