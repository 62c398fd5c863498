package tcp_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"golang.org/x/sys/unix"
)

// awaitInput returns when the kernel has input for p, or the end of the stream, and the loop has
// handled that readiness. p must not read.
func (p *pair) awaitInput(t *testing.T) {
	t.Helper()
	fds := []unix.PollFd{{Fd: int32(p.ch.FD()), Events: unix.POLLIN | unix.POLLRDHUP}}
	if n, err := unix.Poll(fds, int(coretest.HangGuard.Milliseconds())); n != 1 || err != nil {
		t.Fatalf("poll: %d, %v: there is no input", n, err)
	}
	// The kernel reports descriptors in the order in which they became ready.
	var pipe [2]int
	coretest.Must(t, unix.Pipe2(pipe[:], unix.O_CLOEXEC|unix.O_NONBLOCK))
	defer func() { _, _ = unix.Close(pipe[0]), unix.Close(pipe[1]) }()
	behind := make(chan struct{})
	once := sync.OnceFunc(func() { close(behind) })
	reg, err := p.ch.EventLoop().Register(pipe[0], core.Readable, func(core.Readiness) { once() })
	coretest.Must(t, err)
	_, err = unix.Write(pipe[1], []byte("x"))
	coretest.Must(t, err)
	coretest.Await(t, "a descriptor that is ready later", behind)
	coretest.OnLoop(t, p.ch.EventLoop(), func() { reg.Close() })
}

// TestQuiesceOnALoopHasNoEffect: the call is refused, and input is still delivered.
func TestQuiesceOnALoopHasNoEffect(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil)
	coretest.OnLoop(t, p.group, func() {
		coretest.WantErr(t, "G18: on the loop", tcp.Quiesce(t.Context(), p.group), core.ErrInEventLoop)
	})
	_, _ = p.peer.Write([]byte("x"))
	p.Await(t, 1, "ReadComplete")
}

// TestQuiesceWhoseContextEnds returns the cause, and the input still ends.
func TestQuiesceWhoseContextEnds(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil)
	busy, stop := make(chan struct{}), make(chan struct{})
	coretest.MustExecute(t, p.group, func() { close(busy); <-stop })
	coretest.Await(t, "the loop to be busy", busy)
	cause := errors.New("no time")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	coretest.WantErr(t, "Quiesce", tcp.Quiesce(ctx, p.group), cause)
	close(stop)
	coretest.OnLoop(t, p.group, func() {})
	_, _ = p.peer.Write([]byte("x"))
	p.awaitInput(t)
	p.Want(t, "events", "Active")
}

// TestQuiesceStartsALoop: a loop that is not started is started, and its channels get no input.
func TestQuiesceStartsALoop(t *testing.T) {
	coretest.CheckLeaks(t)
	g := coretest.NewGroup(t, 1)
	coretest.Must(t, tcp.Quiesce(t.Context(), g))
	coretest.Want(t, "the state", g.State(), core.StateStarted)
	p := newPairOn(t, g, nil)
	_, _ = p.peer.Write([]byte("x"))
	p.awaitInput(t)
	p.Want(t, "events", "Active")
}

// TestQuiescedChannelDoesNotSeeTheEnd: the end of the peer's stream is not noticed before the
// loop drains the channel, and the drain is complete.
func TestQuiescedChannelDoesNotSeeTheEnd(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil)
	coretest.Must(t, tcp.QuiesceOn(t.Context(), loopOf(p.group)))
	coretest.Must(t, p.peer.CloseWrite())
	p.awaitInput(t)
	coretest.Want(t, "open", p.ch.IsOpen(), true)
	coretest.MustShutdownGracefully(t, p.group, 0, coretest.HangGuard)
	r := coretest.AwaitDone(t, p.group)
	coretest.Want(t, "G23: drained channels", r.ChannelsDrained, 1)
	p.Want(t, "events", "Active Inactive Unregistered")
}

// TestQuiesceOfALoopThatCannotStart returns the error of the start at once, and awaits no loop.
func TestQuiesceOfALoopThatCannotStart(t *testing.T) {
	coretest.CheckLeaks(t)
	cause := errors.New("no goroutine")
	g := coretest.NewGroup(t, 2, core.WithSpawner(func(func()) error { return cause }))
	coretest.WantErr(t, "Quiesce", tcp.Quiesce(t.Context(), g), cause)
	coretest.WantErr(t, "QuiesceOn", tcp.QuiesceOn(t.Context(), loopOf(g)), cause, core.ErrRejected)
}

// TestQuiesceInAShutdown: the input ends with a loop whose admission is closed, so Quiesce awaits the loop. It is no channel of the
// loop's report.
func TestQuiesceInAShutdown(t *testing.T) {
	for name, end := range map[string]func(g *core.Group){
		"Shutdown":           func(g *core.Group) { g.Shutdown() },
		"ShutdownGracefully": func(g *core.Group) { coretest.MustShutdownGracefully(t, g, 0, coretest.HangGuard) },
	} {
		coretest.CheckLeaks(t)
		g := coretest.NewGroup(t, 1)
		held, gate := make(chan struct{}), make(chan struct{})
		coretest.MustExecute(t, g, func() { close(held); <-gate })
		coretest.Await(t, "the task", held)
		end(g)
		cause := errors.New("no time")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		coretest.WantErr(t, name+": Quiesce while the loop is held", tcp.Quiesce(ctx, g), cause)
		close(gate)
		coretest.WantErr(t, name+": Quiesce", tcp.Quiesce(t.Context(), g), nil)
		if r := coretest.AwaitDone(t, g); r.ChannelsDrained != 0 || r.ChannelsAborted != 0 {
			t.Errorf("G23: %s: %+v, want no channels", name, r)
		}
	}
}
