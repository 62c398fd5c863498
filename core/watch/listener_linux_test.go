package watch_test

import (
	"net"
	"runtime"
	"testing"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
	"eventide/core/watch"
)

func TestWatchListener(t *testing.T) {
	coretest.CheckLeaks(t)
	loops := coretest.NewGroup(t, 1)
	active := make(chan struct{})
	l, err := tcp.Listen(loops, loops, "127.0.0.1:0", func() tcp.Handler { return activeHandler{active: active} })
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	w := &watch.Watcher{}
	w.WatchListener("http", l)
	if err := w.Watch(loops); err != nil {
		t.Fatal(err)
	}
	coretest.Await(t, "the channel", active)
	watch.Read(w)
	if s := w.Statuses(); len(s) != 2 || s[0].Name != "http" || s[0].Kind != watch.KindListener || s[0].Connections != 1 || s[1].Stats.Registrations != 2 {
		t.Fatalf("got %+v, want a listener with one connection", s)
	}
	_ = conn.Close()
	coretest.Await(t, "the listener's close", l.Close().Done())
	watch.Read(w)
	if s := w.Statuses(); len(s) != 1 || s[0].Kind != watch.KindExecutor {
		t.Fatalf("got %+v, want the loop alone", s)
	}
	readUntil(w, func(s []watch.Status) bool {
		return len(s) == 1 && s[0].Kind == watch.KindExecutor && s[0].Stats.Registrations == 0
	})
	loops.Shutdown()
	coretest.AwaitDone(t, loops)
	readUntil(w, func(s []watch.Status) bool { return len(s) == 0 })
}

type activeHandler struct {
	tcp.HandlerBase
	active chan struct{}
}

func (h activeHandler) Active(*tcp.Channel) { close(h.active) }

// readUntil makes w read until wanted accepts the statuses.
func readUntil(w *watch.Watcher, wanted func([]watch.Status) bool) {
	for watch.Read(w); !wanted(w.Statuses()); watch.Read(w) {
		runtime.Gosched()
	}
}
