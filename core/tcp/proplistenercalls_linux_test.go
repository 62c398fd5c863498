package tcp_test

import (
	"flag"
	"sync"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"pgregory.net/rapid"
)

// TestPropG22CallsOfAListener: goroutines call the methods of a listener at the same time, on its loop too. Each call of Close
// returns one future, and each of CloseFuture another, both complete, and then CloseCause says why the listener has closed and
// the counters are those of no connection. The race detector sees a field that a method reads without the lock.
func TestPropG22CallsOfAListener(t *testing.T) {
	coretest.CheckLeaks(t)
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	g := coretest.NewGroup(t, 1)
	rapid.Check(t, func(r *rapid.T) {
		calls := rapid.SliceOfN(rapid.SampledFrom([]string{"Close", "Close", "Close on the loop", "CloseFuture", "CloseFuture", "getters"}), 2, 6).Draw(r, "calls")
		l, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho)
		coretest.Must(t, err)
		begin, futures := make(chan struct{}), make([]*core.Future[struct{}], len(calls))
		var all sync.WaitGroup
		for i, call := range calls {
			all.Go(func() {
				<-begin
				switch call {
				case "Close":
					futures[i] = l.Close()
				case "Close on the loop":
					coretest.OnLoop(t, l.EventLoop(), func() { futures[i] = l.Close() })
				case "CloseFuture":
					futures[i] = l.CloseFuture()
				default:
					if cause := l.CloseCause(); cause != nil {
						coretest.WantErr(t, "CloseCause", cause, tcp.ErrListenerClosed)
					}
					coretest.Want(t, "Stats", l.Stats(), tcp.ListenerStats{})
				}
			})
		}
		close(begin)
		all.Wait()
		closing, closed := l.Close(), l.CloseFuture()
		for i, f := range futures {
			want := closing
			if calls[i] == "CloseFuture" {
				want = closed
			}
			if f != nil && f != want {
				r.Fatalf("G22: call %d of %q returned another future than a later call", i, calls)
			}
		}
		coretest.Must(t, coretest.AwaitErr(t, "the future of Close", closing))
		coretest.Must(t, coretest.AwaitErr(t, "the CloseFuture", closed))
		coretest.WantErr(t, "CloseCause", l.CloseCause(), tcp.ErrListenerClosed)
	})
}
