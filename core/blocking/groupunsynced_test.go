package blocking_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// steppingListener is a listener in memory.
type steppingListener struct{ pending, failures, closed atomic.Int32 }

func (l *steppingListener) Accept() (net.Conn, error) {
	for {
		coretest.TakeStep()
		switch {
		case l.closed.Load() > 0:
			return nil, net.ErrClosed
		case l.failures.Swap(0) > 0:
			return nil, syscall.EMFILE
		case l.pending.Swap(0) > 0:
			return &steppingConn{}, nil
		}
	}
}

func (l *steppingListener) Close() error {
	coretest.TakeStep()
	l.closed.Store(1)
	return nil
}

func (*steppingListener) Addr() net.Addr { return &net.TCPAddr{} }

// calledGroup is a group with what its calls share.
type calledGroup struct {
	*blocking.Group
	ln      *steppingListener
	open    *blocking.Channel // nil: none
	refuses atomic.Bool       // the spawner starts no goroutine
	ends    atomic.Bool       // and then it shuts the group down
	serves  sync.WaitGroup
}

func (g *calledGroup) register() (*blocking.Channel, error) {
	return g.Register(&steppingConn{}, newSteppingHandler(new(int), new(int)), blocking.WithCloseTimeout(2*coretest.Step),
		blocking.WithLogger(slog.New(steppingLog{})))
}

func (g *calledGroup) serve(ln *steppingListener) {
	_ = g.Serve(ln, func() blocking.Handler {
		coretest.TakeStep()
		return newSteppingHandler(new(int), new(int))
	}, blocking.WithLogger(slog.New(steppingLog{})))
}

// newCalledGroup returns a group of at most two channels: without executors, with one whose goroutine cannot be started, with an
// open channel and an idle executor, with two channels while another connection waits, in a shutdown, or at its end.
func newCalledGroup(t *testing.T, state string) *calledGroup {
	g := &calledGroup{ln: &steppingListener{}}
	group, err := blocking.NewGroup(2, core.WithGoroutineStart(func(string) { coretest.TakeStep() }), core.WithSpawner(func(loop func()) error {
		coretest.TakeStep()
		if g.refuses.Load() {
			if g.ends.Load() {
				g.Shutdown()
			}
			return errOfTheSpawner
		}
		go loop()
		return nil
	}))
	g.Group = coretest.EndWithTest(t, group, err)
	switch state {
	case "new":
		return g
	case "not started":
		g.refuses.Store(true)
		_, err = g.register()
		coretest.WantErr(t, "Register", err, errOfTheSpawner)
		return g
	}
	g.open, err = g.register()
	coretest.Must(t, err)
	other, err := g.register()
	coretest.Must(t, err)
	g.serves.Go(func() { g.serve(g.ln) })
	coretest.Pass(6*coretest.Step + coretest.Step/4)
	if state == "full" {
		g.ln.pending.Store(1)
		coretest.Pass(4 * coretest.Step)
		return g
	}
	other.Close()
	coretest.Pass(10 * coretest.Step)
	switch state {
	case "ending":
		coretest.MustShutdownGracefully(t, g, 2*coretest.Step, 10*coretest.Step)
		coretest.Pass(2 * coretest.Step)
	case "ended":
		g.Shutdown()
		coretest.AwaitDone(t, g)
	}
	return g
}

var errOfTheSpawner = errors.New("no goroutine")

// ofOpen returns a call of the open channel, if there is one.
func ofOpen(call func(ch *blocking.Channel)) func(g *calledGroup) {
	return func(g *calledGroup) {
		if g.open != nil {
			call(g.open)
		}
	}
}

// onOpen returns the call in a task of the executor of the open channel, if there is one.
func onOpen(call func(g *calledGroup)) func(g *calledGroup) {
	return func(g *calledGroup) {
		if g.open != nil {
			_ = g.open.EventLoop().Execute(func() { call(g) })
		}
	}
}

// inListener returns the call in a listener that is called off the executors.
func inListener(call func(g *calledGroup)) func(g *calledGroup) {
	return func(g *calledGroup) {
		p := core.NewPromise[int](nil)
		p.Future().OnDone(func(int, error) { call(g) })
		p.TrySuccess(1)
	}
}

// soon is a context that ends after some steps.
func soon() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 10*coretest.Step)
}

// groupCallsAtOnce are the calls of a group. Each makes one call only, as those of a channel.
var groupCallsAtOnce = []struct {
	name string
	call func(g *calledGroup)
}{
	{"Register", func(g *calledGroup) { _, _ = g.register() }},
	{"Serve", func(g *calledGroup) { g.serves.Go(func() { g.serve(&steppingListener{}) }) }},
	{"a connection", func(g *calledGroup) { g.ln.pending.Store(1) }},
	{"a failure of Accept", func(g *calledGroup) { g.ln.failures.Store(1) }},
	{"Stats", func(g *calledGroup) { _ = g.Stats() }},
	{"String", func(g *calledGroup) { _ = g.String() }},
	{"State", func(g *calledGroup) { _ = g.State() }},
	{"All", func(g *calledGroup) {
		for range g.All() {
			coretest.TakeStep()
		}
	}},
	{"InEventLoop on an executor", onOpen(func(g *calledGroup) { _ = g.InEventLoop() })},
	{"Report", func(g *calledGroup) { _ = g.Termination().Report() }},
	{"OnDone", func(g *calledGroup) { g.Termination().OnDone(func(core.Report, error) { coretest.TakeStep() }) }},
	{"AwaitTermination", func(g *calledGroup) {
		ctx, cancel := soon()
		defer cancel()
		_ = g.AwaitTermination(ctx)
	}},
	{"Shutdown", func(g *calledGroup) { g.Shutdown() }},
	{"Shutdown in a listener", inListener(func(g *calledGroup) { g.Shutdown() })},
	{"Register in a listener, and Shutdown in its spawner", inListener(func(g *calledGroup) {
		g.ends.Store(true)
		_, _ = g.register()
	})},
	{"ShutdownGracefully", func(g *calledGroup) { _, _ = g.ShutdownGracefully(0, 5*coretest.Step) }},
	{"Close", func(g *calledGroup) { _ = g.Close() }},
	{"Close of a channel", ofOpen(func(ch *blocking.Channel) { ch.Close() })},
	{"Shutdown of an executor", ofOpen(func(ch *blocking.Channel) { ch.EventLoop().Shutdown() })},
}

// TestGroupCallsNeedNoSynchronisation: all methods of a group may be called from any goroutine, at any time. It works as
// TestChannelCallsNeedNoSynchronisation does.
func TestGroupCallsNeedNoSynchronisation(t *testing.T) {
	for _, state := range []string{"new", "not started", "open", "full", "ending", "ended"} {
		for _, first := range groupCallsAtOnce {
			t.Run(state+"/"+first.name, func(t *testing.T) {
				for _, second := range groupCallsAtOnce {
					coretest.InNamedBubble(t, fmt.Sprintf("S17: %s beside %s of a group that is %s", second.name, first.name, state), func(t *testing.T) {
						g := newCalledGroup(t, state)
						coretest.CallBeside(6, func() { first.call(g) }, func(int) { second.call(g) })
						g.end(t)
					})
				}
			})
		}
	}
}

// end shuts the group down and checks that nothing is left.
func (g *calledGroup) end(t *testing.T) {
	g.Shutdown()
	coretest.AwaitDone(t, g)
	g.serves.Wait()
	coretest.Pass(10 * coretest.Step) // listeners of the end run
	s := g.Stats()
	coretest.Want(t, "channels of the group", s.Channels, 0)
	coretest.Want(t, "executors of the group", s.Executors, 0)
	coretest.Want(t, "idle executors of the group", s.Idle, 0)
	coretest.Want(t, "the state of the group", s.State, core.StateTerminated)
}
