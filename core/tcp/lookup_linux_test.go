package tcp_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// silentResolver installs, for the test, a resolver whose look-ups last until their context
// ends. asked receives a value when a look-up begins.
func silentResolver(t *testing.T) (asked <-chan struct{}) {
	t.Helper()
	real := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = real })
	queries := make(chan struct{}, 1)
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		select {
		case queries <- struct{}{}:
		default:
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	return queries
}

// TestG22DialEndsInTheLookup ends a dial during the look-up of its name: the error has the
// cause, and the future is complete when the loop has terminated.
func TestG22DialEndsInTheLookup(t *testing.T) {
	cause := errors.New("enough")
	for name, c := range map[string]struct {
		end   func(g *core.Group, cancel context.CancelCauseFunc)
		wants []error
	}{
		"cancelled": {func(_ *core.Group, cancel context.CancelCauseFunc) { cancel(cause) }, []error{cause}},
		"shut down": {func(g *core.Group, _ context.CancelCauseFunc) { g.Shutdown() }, []error{core.ErrRejected, core.ErrShutdown}},
		"shut down gracefully": {func(g *core.Group, _ context.CancelCauseFunc) {
			_, _ = g.ShutdownGracefully(0, coretest.HangGuard)
		}, []error{core.ErrRejected, core.ErrShutdown}},
	} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			asked := silentResolver(t)
			g := coretest.NewGroup(t, 1)
			h := &recorder{}
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			f := tcp.DialAsync(ctx, g, "name.invalid.:80", h)
			coretest.Await(t, "the look-up", asked)
			c.end(g, cancel)
			coretest.WantErr(t, "G22: DialAsync", coretest.AwaitErr(t, "the dial", f), c.wants...)
			h.Want(t, "events", "")
		})
	}
}

// TestG9DialFutureIsCompleteAtDone: the goroutine that looks a name up is waited for by
// the loop: when Done is closed the future has completed, and its listener has run on the
// loop, which lived.
func TestG9DialFutureIsCompleteAtDone(t *testing.T) {
	for name, end := range map[string]func(g *core.Group){
		"Shutdown":           func(g *core.Group) { g.Shutdown() },
		"ShutdownGracefully": func(g *core.Group) { _, _ = g.ShutdownGracefully(0, coretest.HangGuard) },
		"with no time":       func(g *core.Group) { _, _ = g.ShutdownGracefully(0, 0) },
		"CloseChannels":      func(g *core.Group) { _, _ = g.ShutdownGracefully(0, coretest.HangGuard) },
	} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			asked := silentResolver(t)
			var opts []core.Option
			if name == "CloseChannels" {
				opts = append(opts, core.WithDrain(core.CloseChannels))
			}
			for range 50 {
				g := coretest.NewGroup(t, 1, opts...)
				f := tcp.DialAsync(context.Background(), g, "name.invalid.:80", tcp.HandlerBase{})
				var inLoop atomic.Bool
				f.OnDone(func(*tcp.Channel, error) { inLoop.Store(g.InEventLoop()) })
				coretest.Await(t, "the look-up", asked)
				if n := g.Stats().Registrations; n != 1 {
					t.Errorf("G24: %d registrations while a name is looked up, want 1: the loop would not wait for it", n)
				}
				end(g)
				done := f.Done()
				coretest.Await(t, "Done", g.Termination().Done())
				complete := false
				select {
				case <-done:
					complete = true
				default:
				}
				if !complete || !inLoop.Load() {
					t.Fatalf("G9: when Done was closed the future had completed: %v, and its listener had run on the loop: %v", complete, inLoop.Load())
				}
				coretest.WantErr(t, "DialAsync", coretest.AwaitErr(t, "the dial", f), core.ErrRejected)
				if r := coretest.AwaitDone(t, g); r.ChannelsDrained+r.ChannelsAborted != 0 {
					t.Errorf("G23: %+v, want no channel: there was none yet", r)
				}
			}
		})
	}
}

// TestG24LookupEndsWithTheDial: a successful dial of a name delays the end of its loop no
// longer than its channel does, and the end of the look-up does not end the channel.
func TestG24LookupEndsWithTheDial(t *testing.T) {
	coretest.CheckLeaks(t)
	servers, g := coretest.NewGroup(t, 1), coretest.NewGroup(t, 1)
	l, err := tcp.Listen(servers, servers, "localhost:0", newEcho)
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	addr := net.JoinHostPort("localhost", port)
	for _, how := range []string{"Dial", "DialAsync"} {
		h := &recorder{}
		ctx, cancel := context.WithCancel(context.Background())
		ch, err := (*tcp.Channel)(nil), error(nil)
		if how == "Dial" {
			ch, err = tcp.Dial(ctx, g, addr, h)
		} else {
			ch, err = tcp.DialAsync(ctx, g, addr, h).Wait(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
		coretest.Until(t, "the look-up to end", func() bool { return g.Stats().Registrations == 1 })
		cancel()
		coretest.OnLoop(t, g, func() {})
		coretest.WantErr(t, how+": a write", awaitWrite(t, ch.WriteAndFlush([]byte("x"))), nil)
		h.Await(t, 1, "Read")
		coretest.AwaitErr(t, "the close", ch.Close())
	}
}
