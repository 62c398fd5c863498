package tcp_test

import (
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"golang.org/x/sys/unix"
)

// clingy is a poller that reports every descriptor as ready when it is woken, and,
// once it is armed, panics in Modify with interest 0 and in Remove.
type clingy struct {
	token chan struct{} // capacity 1: a pending wake-up
	armed atomic.Bool
	ready []core.PollEvent // touched by the loop alone

	mu      sync.Mutex
	watched map[int]uint64 // descriptor -> token
}

func newClingy() *clingy {
	return &clingy{token: make(chan struct{}, 1), watched: make(map[int]uint64)}
}

func (p *clingy) Wait(core.Deadline) error {
	<-p.token
	return p.Poll()
}

func (p *clingy) Wake() {
	select {
	case p.token <- struct{}{}:
	default:
	}
}

func (p *clingy) Poll() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready = nil
	for _, token := range p.watched {
		p.ready = append(p.ready, core.PollEvent{Token: token, Readiness: core.NewReadiness(true, true, false, false)})
	}
	return nil
}

func (p *clingy) Add(fd int, _ core.Interest, token uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watched[fd] = token
	return nil
}

func (p *clingy) Modify(fd int, i core.Interest, token uint64) error { return p.Add(fd, i, token) }

func (p *clingy) Remove(fd int) error {
	if p.armed.Load() {
		panic("it does not let go")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.watched, fd)
	return nil
}

func (p *clingy) Ready() []core.PollEvent { return p.ready }
func (p *clingy) Reopen() error           { return nil }
func (p *clingy) Close() error            { return nil }

// TestG22APollerThatPanicsAtTheClose: the poller panics whenever it must drop a descriptor. Channel
// and listener are closed nevertheless, by every way to close, and the loop ends.
func TestG22APollerThatPanicsAtTheClose(t *testing.T) {
	for name, c := range map[string]struct {
		opts []tcp.Option
		end  func(ch *tcp.Channel, l *tcp.Listener)
	}{
		"Close":             {nil, func(ch *tcp.Channel, l *tcp.Listener) { ch.Close(); l.Close() }},
		"Close with linger": {[]tcp.Option{tcp.WithLinger(coretest.HangGuard)}, func(ch *tcp.Channel, l *tcp.Listener) { ch.Close(); l.Close() }},
		"Shutdown":          {nil, func(ch *tcp.Channel, _ *tcp.Listener) { ch.EventLoop().Shutdown() }},
	} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			p := newClingy()
			loop, err := core.NewEventLoop(core.WithPoller(p), core.WithPanicHandler(func(*core.PanicError) {}))
			if err != nil {
				t.Fatal(err)
			}
			r := &recorder{}
			l, err := tcp.ListenOn(loop, "127.0.0.1:0", func() tcp.Handler { return r }, c.opts...)
			if err != nil {
				t.Fatal(err)
			}
			peer, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer peer.Close()
			coretest.Until(t, "a channel", func() bool { p.Wake(); return len(r.All()) > 0 })
			p.armed.Store(true)
			c.end(r.ch, l)
			wantEnd(t, peer)
			coretest.AwaitErr(t, "the end of the channel", r.ch.CloseFuture())
			coretest.AwaitErr(t, "the end of the listener", l.CloseFuture())
			loop.Shutdown()
			coretest.Await(t, "the end of the loop", loop.Termination().Done())
			if all := r.All(); !slices.Contains(all, "Inactive") || all[len(all)-1] != "Unregistered" {
				t.Errorf("G22: the handler heard %v, want Inactive, and Unregistered at last", all)
			}
		})
	}
}

// TestG22APollerThatPanicsInThePauseOfAListener: the poller panics when a listener that cannot
// accept pauses. The listener accepts again after the pause.
func TestG22APollerThatPanicsInThePauseOfAListener(t *testing.T) {
	coretest.CheckLeaks(t)
	p, panicked := newClingy(), make(chan struct{}, 1)
	loop, err := core.NewEventLoop(core.WithPoller(p), core.WithPanicHandler(func(*core.PanicError) {
		select {
		case panicked <- struct{}{}:
		default:
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	var none atomic.Bool // no descriptor is left
	l, err := tcp.ListenOn(loop, "127.0.0.1:0", newEcho, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
		if op == "accept" && none.Load() {
			return n, syscall.EMFILE
		}
		return n, 0
	}))
	if err != nil {
		t.Fatal(err)
	}
	none.Store(true)
	p.armed.Store(true)
	p.Wake()
	<-panicked
	willRetry := false
	coretest.OnLoop(t, loop, func() { willRetry = l.WillRetry() })
	if !willRetry {
		t.Error("G22: the listener has set itself no time to go on")
	}
	p.armed.Store(false)
	none.Store(false)
	loop.Shutdown()
	coretest.AwaitErr(t, "the end of the listener", l.CloseFuture())
	coretest.Await(t, "the end of the loop", loop.Termination().Done())
}

// lateRemovals is a poller that writes down which descriptors were closed already when it had to drop them.
type lateRemovals struct {
	*clingy
	removed int
	late    []int // both touched by the loop alone
}

func (p *lateRemovals) Remove(fd int) error {
	p.removed++
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil {
		p.late = append(p.late, fd)
	}
	return p.clingy.Remove(fd)
}

// TestG22ThePollerForgetsAListenerFirst: the poller drops the socket of a listener before it closes, because the kernel can give
// its number to another file at once.
func TestG22ThePollerForgetsAListenerFirst(t *testing.T) {
	coretest.CheckLeaks(t)
	p := &lateRemovals{clingy: newClingy()}
	loop, err := core.NewEventLoop(core.WithPoller(p))
	coretest.Must(t, err)
	l, err := tcp.ListenOn(loop, "127.0.0.1:0", newEcho)
	coretest.Must(t, err)
	coretest.AwaitErr(t, "the close", l.Close())
	<-loop.Shutdown().Done()
	if p.removed != 1 || len(p.late) != 0 {
		t.Errorf("G22: the poller dropped %d descriptors, want 1; of these %v were closed already, want none", p.removed, p.late)
	}
}
