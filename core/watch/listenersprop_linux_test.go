package watch_test

import (
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"sync/atomic"
	"testing"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
	"eventide/core/watch"

	"pgregory.net/rapid"
)

// listened is a watched listener with what it has done.
type listened struct {
	name              string
	l                 *tcp.Listener
	refuses           atomic.Bool  // its next connections get no handler
	handlers          atomic.Int64 // calls of handler
	accepted, refused int64
	conns             []net.Conn
}

// TestPropListeners: whatever connections listeners accept and refuse, and however they close, their
// statuses, their metrics and the JSON of the Watcher are what was done to them, and a listener that
// has closed is dropped behind its last reading.
func TestPropListeners(t *testing.T) {
	coretest.CheckLeaks(t)
	loops := coretest.NewGroup(t, 1)
	rapid.Check(t, func(t *rapid.T) {
		o := &observer{w: &watch.Watcher{}, last: map[string]float64{}}
		var all []*listened
		defer func() {
			for _, l := range all {
				l.close()
			}
		}()
		for n := range rapid.IntRange(1, 3).Draw(t, "listeners") {
			l := &listened{name: "http"}
			if n > 0 {
				l.name = fmt.Sprintf("http#%d", n+1)
			}
			var err error
			l.l, err = tcp.Listen(loops, loops, "127.0.0.1:0", l.handler, tcp.WithLogger(slog.New(slog.DiscardHandler)))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, l)
			o.w.WatchListener("http", l.l)
		}
		watched := all
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			l := all[rapid.IntRange(0, len(all)-1).Draw(t, "listener")]
			switch rapid.SampledFrom([]string{"dial", "dial", "dial", "refuse", "refuse", "read", "close"}).Draw(t, "step") {
			case "dial":
				l.dial(t, false)
			case "refuse":
				l.dial(t, true)
			case "read":
				watched = o.reads(t, watched)
			case "close":
				l.close()
			}
		}
		o.reads(t, o.reads(t, watched))
	})
}

// handler returns nil for a connection that is to be refused.
func (l *listened) handler() tcp.Handler {
	defer l.handlers.Add(1)
	if l.refuses.Load() {
		return nil
	}
	return tcp.HandlerBase{}
}

// dial makes a connection, and waits until the listener has counted it.
func (l *listened) dial(t *rapid.T, refused bool) {
	if l.l.CloseCause() != nil {
		return
	}
	l.refuses.Store(refused)
	conn, err := net.Dial("tcp", l.l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	l.conns = append(l.conns, conn)
	l.accepted++
	if refused {
		l.refused++
	}
	for s := l.l.Stats(); s.Accepted < l.accepted || s.Refused < l.refused || l.handlers.Load() < l.accepted; s = l.l.Stats() {
		runtime.Gosched()
	}
}

func (l *listened) close() {
	for _, conn := range l.conns {
		_ = conn.Close()
	}
	<-l.l.Close().Done()
}

// reads makes the Watcher read, compares the statuses, and returns the listeners that it still watches.
func (o *observer) reads(t *rapid.T, watched []*listened) (left []*listened) {
	var want []watch.Status
	for _, l := range watched {
		if l.l.CloseCause() == nil {
			left = append(left, l)
			want = append(want, watch.Status{Name: l.name, Kind: watch.KindListener, Connections: l.accepted, RefusedConnections: l.refused})
		}
	}
	watch.Read(o.w)
	got := o.w.Statuses()
	if len(got) != len(want) {
		t.Fatalf("%d statuses, want %d: %+v", len(got), len(want), got)
	}
	for i := range got {
		if wrong := differs(got[i], want[i]); wrong != "" {
			t.Fatal(wrong)
		}
	}
	if wrong := checkJSON(o.w.String(), want); wrong != "" {
		t.Fatal(wrong)
	}
	if wrong := o.checkMetrics(got); wrong != "" {
		t.Fatal(wrong)
	}
	return left
}
