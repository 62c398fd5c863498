package tcp_test

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/tcp"
)

// The least room that a bounded queue can have, and more connections than that.
const (
	fewTasks  = 16
	manyPeers = 40
	oneMore   = fewTasks + 1 // the last one is in the listener's hand, and the backlog is empty
)

// fullWorkers returns peers of a listener, connected while all loops were held: more
// than the queue of a worker has room for. held is of the workers alone, or of the boss
// too where they are the same.
func fullWorkers(t *testing.T, oneLoop bool, peers int) (l *tcp.Listener, boss *core.Group, conns []net.Conn, release func()) {
	t.Helper()
	worker := newGroup(t, 1, core.WithMaxPendingTasks(fewTasks))
	boss = worker
	if !oneLoop {
		boss = newGroup(t, 1)
	}
	l, err := tcp.Listen(boss, worker, "127.0.0.1:0", newEcho)
	if err != nil {
		t.Fatal(err)
	}
	held, gate := make(chan struct{}), make(chan struct{})
	if err := worker.Execute(func() { close(held); <-gate }); err != nil {
		t.Fatal(err)
	}
	release = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(release)
	await(t, "the task", held)
	for range peers {
		conns = append(conns, mustDial(t, l.Addr()))
	}
	if !oneLoop {
		awaitThat(t, "the listener to pause", func() bool { return l.Stats().Paused > 0 })
		if s := l.Stats(); s.Accepted > fewTasks+1 || s.Refused > 0 {
			t.Errorf("G19: %+v with a worker that has room for %d: the rest belongs into the backlog", s, fewTasks)
		}
	}
	return l, boss, conns, release
}

// TestG19BurstOnABoundedLoop: more connections at once than the queue of a worker has
// room for are served all the same, be the listener on the same loop or on another.
func TestG19BurstOnABoundedLoop(t *testing.T) {
	for name, oneLoop := range map[string]bool{"one loop": true, "boss and worker": false} {
		for _, peers := range []int{oneMore, manyPeers} {
			t.Run(fmt.Sprintf("%s, %d peers", name, peers), func(t *testing.T) {
				checkLeaks(t)
				l, _, conns, release := fullWorkers(t, oneLoop, peers)
				release()
				for _, c := range conns {
					mustEcho(t, c)
				}
				if s := l.Stats(); s.Accepted != int64(peers) || s.Refused != 0 || oneLoop && s.Paused != 0 {
					t.Errorf("G19: %+v, want %d accepted and none refused; no pause on one loop", s, peers)
				}
			})
		}
	}
}

// TestG23EndWithAFullWorker: a listener that ends in order while a worker's queue is full
// waits for room; an abort does not, and leaves no descriptor behind.
func TestG23EndWithAFullWorker(t *testing.T) {
	for name, c := range map[string]struct {
		end    func(boss *core.Group, l *tcp.Listener)
		served bool
	}{
		"Close":              {func(_ *core.Group, l *tcp.Listener) { l.Close() }, true},
		"Close twice":        {func(_ *core.Group, l *tcp.Listener) { l.Close(); l.Close() }, true},
		"ShutdownGracefully": {func(boss *core.Group, _ *tcp.Listener) { _, _ = boss.ShutdownGracefully(0, hangGuard) }, true},
		"Close and then ShutdownGracefully": {func(boss *core.Group, l *tcp.Listener) {
			l.Close()
			_, _ = boss.ShutdownGracefully(0, hangGuard)
		}, true},
		"Shutdown": {func(boss *core.Group, _ *tcp.Listener) { boss.Shutdown() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			checkLeaks(t)
			l, boss, conns, release := fullWorkers(t, false, manyPeers)
			c.end(boss, l)
			if c.served {
				on := make(chan struct{}) // the boss has come to it, and waits
				if boss.Execute(func() { close(on) }) == nil {
					await(t, "a task", on)
				}
				if l.CloseCause() != nil {
					t.Errorf("G23: the listener closed with connections in hand: %v", l.CloseCause())
				}
				release()
				for _, conn := range conns {
					mustEcho(t, conn)
				}
				awaitErr(t, "the close", l.CloseFuture())
				if s := l.Stats(); s.Accepted != manyPeers || s.Refused != 0 {
					t.Errorf("G23: %+v, want %d accepted and none refused", s, manyPeers)
				}
				return
			}
			awaitErr(t, "the close", l.CloseFuture())
			if s := l.Stats(); s.Accepted != fewTasks+1 || s.Refused != 1 {
				t.Errorf("G22: %+v, want the one that was in hand refused, and no other", s)
			}
			release()
		})
	}
}

// TestG23CloseInsideAccept: a worker's rejected-handler runs on the loop of the listener,
// inside accept, and may close the listener: that ends in order all the same.
func TestG23CloseInsideAccept(t *testing.T) {
	checkLeaks(t)
	var listener atomic.Pointer[tcp.Listener]
	var refusals atomic.Int64
	boss := newGroup(t, 1)
	worker := newGroup(t, 1, core.WithMaxPendingTasks(fewTasks), core.WithRejectedHandler(func(int, *core.RejectedError) (time.Duration, bool) {
		refusals.Add(1)
		listener.Load().Close()
		return 0, false
	}))
	l, err := tcp.Listen(boss, worker, "127.0.0.1:0", newEcho)
	if err != nil {
		t.Fatal(err)
	}
	listener.Store(l)
	held, gate := make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(gate) })
	t.Cleanup(release)
	if err := worker.Execute(func() { close(held); <-gate }); err != nil {
		t.Fatal(err)
	}
	await(t, "the task", held)
	var conns []net.Conn
	for range oneMore {
		conns = append(conns, mustDial(t, l.Addr()))
	}
	awaitThat(t, "the end to wait for room", func() bool { return l.Stats().Paused > 0 })
	release()
	for _, c := range conns {
		mustEcho(t, c)
	}
	awaitErr(t, "the close", l.CloseFuture())
	if s := l.Stats(); s.Accepted != oneMore || s.Refused != 0 || refusals.Load() == 0 {
		t.Errorf("G23: %+v after %d refusals, want %d accepted and none refused", s, refusals.Load(), oneMore)
	}
}
