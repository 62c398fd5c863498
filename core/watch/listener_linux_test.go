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
	l, err := tcp.Listen(loops, loops, "127.0.0.1:0", func() tcp.Handler { return tcp.HandlerBase{} })
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
	readUntil(w, func(s []watch.Status) bool {
		return len(s) == 2 && s[0].Kind == watch.KindListener && s[0].Connections == 1 && s[1].Stats.Registrations == 2
	})
	_ = conn.Close()
	coretest.Await(t, "the listener's close", l.Close().Done())
	readUntil(w, func(s []watch.Status) bool {
		return len(s) == 1 && s[0].Kind == watch.KindExecutor && s[0].Stats.Registrations == 0
	})
	loops.Shutdown()
	coretest.AwaitDone(t, loops)
	readUntil(w, func(s []watch.Status) bool { return len(s) == 0 })
}

// readUntil makes w read until wanted accepts the statuses.
func readUntil(w *watch.Watcher, wanted func([]watch.Status) bool) {
	for watch.Read(w); !wanted(w.Statuses()); watch.Read(w) {
		runtime.Gosched()
	}
}
