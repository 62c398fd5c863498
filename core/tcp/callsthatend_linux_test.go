package tcp_test

import (
	"context"
	"net"
	"runtime"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// endingPoller is a poller whose Add does not return.
type endingPoller struct {
	*clingy
	end func()
}

func (p endingPoller) Add(int, core.Interest, uint64) error {
	p.end()
	return nil
}

// endings are the ways in which user code does not return.
var endings = map[string]func(){"panic": func() { panic("of user code") }, "Goexit": runtime.Goexit}

// aside calls f on a goroutine of its own, which f may end, and waits for it.
func aside(f func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { _ = recover() }()
		f()
	}()
	<-ended
}

// TestG24NoSocketIsLeftIfThePollerEndsTheCall: if Add of the poller panics or calls Goexit, a listener's socket is closed, and
// a dial and the future of Embed end with an error (G9).
func TestG24NoSocketIsLeftIfThePollerEndsTheCall(t *testing.T) {
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			server, err := net.Listen("tcp", "127.0.0.1:0")
			coretest.Must(t, err)
			defer server.Close()
			loop, err := core.NewEventLoop(core.WithPoller(endingPoller{newClingy(), end}), core.WithPanicHandler(func(*core.PanicError) {}))
			coretest.EndWithTest(t, loop, err)
			aside(func() { _, _ = tcp.ListenOn(loop, "127.0.0.1:0", newEcho) })

			h, closed := &recorder{}, 0
			ctx := context.Background()
			embedded, dialled := tcp.Embed(loop, stub{closed: &closed}, h), make(chan error, 1)
			go func() {
				_, err := tcp.DialOn(ctx, loop, server.Addr().String(), h)
				dialled <- err
			}()
			coretest.Until(t, "an end of the dial", func() bool { return len(dialled) > 0 })
			for what, err := range map[string]error{"DialOn": <-dialled, "Embed": coretest.AwaitErr(t, "Embed", embedded)} {
				if err == nil {
					t.Errorf("%s: got no error, want that the poller did not return", what)
				}
			}
			loop.Shutdown()
			coretest.AwaitDone(t, loop)
			coretest.Want(t, "calls of Close of the embedded socket", closed, 0)
			h.Want(t, "the handler", "")
		})
	}
}

// TestG24NoSocketIsLeftIfTheSpawnerExits: a spawner that calls Goexit ends the goroutine that listens or dials.
func TestG24NoSocketIsLeftIfTheSpawnerExits(t *testing.T) {
	coretest.CheckLeaks(t)
	server, err := net.Listen("tcp", "127.0.0.1:0")
	coretest.Must(t, err)
	defer server.Close()
	loop, err := core.NewEventLoop(core.WithSpawner(func(func()) error { runtime.Goexit(); return nil }))
	coretest.Must(t, err)
	aside(func() { _, _ = tcp.ListenOn(loop, "127.0.0.1:0", newEcho) })
	aside(func() { _, _ = tcp.DialOn(context.Background(), loop, server.Addr().String(), &recorder{}) })
	aside(func() { loop.Shutdown() })
	coretest.AwaitDone(t, loop)
}
