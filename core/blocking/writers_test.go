package blocking_test

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// G4, G22: many goroutines write concurrently, with a graceful shutdown in between: the bytes of
// each arrive in its order, exactly the accepted writes arrive, and each future completes once.
func TestG22ConcurrentWriters(t *testing.T) {
	const writers = 8
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			g := newGroup(t, 0)
			ours, theirs := tr.pair(t)
			ch := mustRegister(t, g, ours, &handler{})
			r := receive(theirs, 0)
			var accepted [writers]uint32
			var completed, failed, total atomic.Int64
			var wg sync.WaitGroup
			enough := make(chan struct{})
			for w := range writers {
				wg.Go(func() {
					for n := uint32(0); ; n++ {
						message := binary.BigEndian.AppendUint32([]byte{byte(w)}, n)
						f := ch.Write(message)
						if f.Err() != nil {
							return
						}
						accepted[w]++
						f.OnDone(func(_ int, err error) {
							if err != nil {
								failed.Add(1)
							}
							completed.Add(1)
						})
						if n%3 == 0 {
							ch.Flush()
						}
						if total.Add(1) == 2000 {
							close(enough)
						}
						if n%64 == 63 {
							_, _ = f.Wait(t.Context()) // so that the backlog stays small
						}
					}
				})
			}
			coretest.Await(t, "writes", enough)
			coretest.MustShutdownGracefully(t, g, 0, long)
			report := coretest.AwaitDone(t, g)
			wg.Wait()
			coretest.Await(t, "the peer", r.over)
			var next [writers]uint32
			for m := r.got; len(m) > 0; m = m[5:] {
				if w, n := m[0], binary.BigEndian.Uint32(m[1:]); n != next[w] {
					t.Fatalf("G4: writer %d: got message %d, want %d", w, n, next[w])
				}
				next[m[0]]++
			}
			if next != accepted {
				t.Errorf("G23: arrived %v, want what was accepted, %v", next, accepted)
			}
			coretest.Until(t, "the futures", func() bool { return completed.Load() >= total.Load() })
			if completed.Load() != total.Load() || failed.Load() != 0 || report.BytesDiscarded != 0 {
				t.Errorf("G22: %d of %d futures completed, %d failed, report %+v", completed.Load(), total.Load(), failed.Load(), report)
			}
		})
	}
}

// Two hundred connections over TCP, or as many as there are descriptors for, at a shutdown: each has its answers, and nothing is
// left of any.
func TestG23ManyChannels(t *testing.T) {
	n := descriptorsFor(t, 200)
	g := newGroup(t, 0)
	ln := listen(t)
	served := make(chan error, 1)
	go func() { served <- g.Serve(ln, func() blocking.Handler { return echo() }) }()
	var wg sync.WaitGroup
	var ready sync.WaitGroup
	ready.Add(n)
	for range n {
		wg.Go(func() {
			conn, err := net.Dial("tcp", ln.Addr().String())
			if err != nil {
				ready.Done()
				t.Error(err)
				return
			}
			defer func() { _ = conn.Close() }()
			sent, err := conn.Write([]byte("request"))
			if err == nil {
				_, err = io.ReadFull(conn, make([]byte, sent))
			}
			ready.Done()
			if err != nil {
				t.Errorf("before the shutdown: %v", err)
			}
			_ = conn.SetReadDeadline(time.Now().Add(coretest.HangGuard))
			if rest, err := io.ReadAll(conn); err != nil || len(rest) != 0 {
				t.Errorf("G23: at the shutdown: got %q, %v, want the end of the stream", rest, err)
			}
		})
	}
	ready.Wait()
	coretest.MustShutdownGracefully(t, g, 0, long)
	report := coretest.AwaitDone(t, g)
	wg.Wait()
	if report.ChannelsDrained != int64(n) || report.ChannelsAborted != 0 {
		t.Errorf("G23: report %+v, want %d drained", report, n)
	}
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}
