package core_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// touchy is a poller that panics in one of the calls that any goroutine may make.
type touchy struct {
	core.IOPoller
	in      string
	armed   atomic.Bool
	stays   bool         // it panics again and again
	reached atomic.Int64 // calls of in that did not
}

func (p *touchy) check(call string) {
	if p.in != call {
		return
	}
	if p.armed.Load() {
		p.armed.Store(p.stays)
		panic(errPoller)
	}
	p.reached.Add(1)
}

func (p *touchy) Add(fd int, i core.Interest, token uint64) error {
	p.check("Add")
	return p.IOPoller.Add(fd, i, token)
}

func (p *touchy) Modify(fd int, i core.Interest, token uint64) error {
	p.check("Modify")
	return p.IOPoller.Modify(fd, i, token)
}

func (p *touchy) Remove(fd int) error {
	p.check("Remove")
	return p.IOPoller.Remove(fd)
}

func newTouchy(t *testing.T, in string, opts ...core.Option) (*touchy, *core.EventLoop) {
	t.Helper()
	inner, err := core.NetpollPoller(nil, 0, core.RealCalls())
	coretest.Must(t, err)
	p := &touchy{IOPoller: inner, in: in}
	l, err := core.NewEventLoop(append(opts, core.WithPoller(p))...)
	coretest.Must(t, err)
	return p, l
}

// The panic of a poller reaches the caller, releases the lock, and has changed nothing:
// the same call works the next time. Close and End cannot fail: the registration has ended.
func TestG15APollerThatPanicsInACallFromOutside(t *testing.T) {
	if !crashes(t) { // a lock that is never released holds up whoever asks
		return
	}
	for _, row := range []struct {
		name, in string
		interest core.Interest // of the registration there is
		call     func(l *core.EventLoop, r *core.Registration, other int) error
		heard    bool  // input still reaches r after the panic
		open     int64 // registrations after it
		again    int64 // calls of the poller the next time
	}{
		{"Register", "Add", core.Readable, func(l *core.EventLoop, _ *core.Registration, other int) error {
			_, err := l.Register(other, core.Readable, ignore)
			return err
		}, true, 1, 1},
		{"Modify", "Modify", core.Readable, func(_ *core.EventLoop, r *core.Registration, _ int) error {
			return r.Modify(core.Readable | core.EdgeTriggered)
		}, true, 1, 1},
		{"Modify to nothing", "Remove", core.Readable, func(_ *core.EventLoop, r *core.Registration, _ int) error {
			return r.Modify(0)
		}, true, 1, 1},
		{"Modify from nothing", "Add", 0, func(_ *core.EventLoop, r *core.Registration, _ int) error {
			return r.Modify(core.Readable)
		}, false, 1, 1},
		{"Close", "Remove", core.Readable, func(_ *core.EventLoop, r *core.Registration, _ int) error {
			return r.Close()
		}, false, 0, 0},
	} {
		p, l := newTouchy(t, row.in)
		s, other := mustSource(t), mustSource(t)
		heard := make(chan struct{}, 16)
		r := mustRegister(t, l, s.fd, row.interest, func(core.Readiness) { _ = s.Drain(); heard <- struct{}{} })
		ended := make(chan error, 1)
		r.OnClose(func(err error) { ended <- err })

		p.armed.Store(true)
		if v := panicOf(func() { _ = row.call(l, r, other.fd) }); v != errPoller {
			t.Errorf("%s: the caller got %v, want the poller's panic", row.name, v)
		}
		if n := l.Stats().Registrations; n != row.open { // it takes the lock
			t.Errorf("G15: %s: %d registrations after the panic, want %d", row.name, n, row.open)
		}
		coretest.Must(t, s.Input())
		if row.heard {
			coretest.Await(t, row.name+": the handler, after the panic", heard)
		} else {
			coretest.OnLoop(t, l, func() {})
			coretest.OnLoop(t, l, func() {}) // behind a look at the poller
			if len(heard) > 0 {
				t.Errorf("G22: %s: the handler was called", row.name)
			}
		}
		before := p.reached.Load()
		if err := row.call(l, r, other.fd); err != nil {
			t.Errorf("%s, once more: %v", row.name, err)
		}
		if n := p.reached.Load() - before; n != row.again {
			t.Errorf("G15: %s, once more: %d calls of the poller, want %d", row.name, n, row.again)
		}
		if row.name == "Close" {
			if err := <-ended; err != nil {
				t.Errorf("G22: the registration ended with %v, want nil", err)
			}
		}
		if err := l.Close(); err != nil {
			t.Errorf("G15: %s: Close of the loop: %v", row.name, err)
		}
	}
}

// Inside a handler it is a panic of the handler: contained, and reported once.
func TestG14APollerThatPanicsInsideAHandler(t *testing.T) {
	if !crashes(t) {
		return
	}
	var log panicLog
	p, l := newTouchy(t, "Modify", core.WithPanicHandler(log.handle))
	s := mustSource(t)
	calls, twice := 0, make(chan struct{})
	var r *core.Registration
	coretest.OnLoop(t, l, func() {
		r = mustRegister(t, l, s.fd, core.Readable, func(core.Readiness) {
			if calls++; calls == 2 {
				_ = s.Drain()
				close(twice)
			}
			coretest.Must(t, r.Modify(core.Readable))
		})
		p.armed.Store(true)
	})
	coretest.Must(t, s.Input())
	coretest.Await(t, "the handler, once more", twice)
	if err := l.Close(); err != nil {
		t.Errorf("G14: Close: %v", err)
	}
	if n := len(log.all()); n != 1 {
		t.Errorf("G14: %d panics reported, want 1", n)
	}
}

// If the loop itself makes the call, the panic is a failure of the poller, which is not
// called again: each registration is notified of its end once, and the executor ends.
func TestG15APollerThatPanicsWhenAShutdownCloses(t *testing.T) {
	if !crashes(t) {
		return
	}
	for name, shutDown := range map[string]func(*core.EventLoop){
		"Shutdown":           func(l *core.EventLoop) { l.Shutdown() },
		"ShutdownGracefully": func(l *core.EventLoop) { _, _ = l.ShutdownGracefully(0, core.DefaultShutdownTimeout) },
	} {
		p, l := newTouchy(t, "Remove")
		p.stays = true
		const n = 3
		ended := make(chan error, 2*n)
		for range n {
			r := mustRegister(t, l, mustSource(t).fd, core.Readable, ignore)
			r.OnClose(func(err error) { ended <- err })
		}
		p.armed.Store(true)
		shutDown(l)
		coretest.AwaitDone(t, l)
		var panicked *core.PanicError
		if err := l.Termination().Err(); !errors.As(err, &panicked) || !errors.Is(err, errPoller) {
			t.Errorf("G15: %s: Err %v, want the poller's panic", name, err)
		} else if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) > 1 {
			t.Errorf("G15: %s: the broken poller was called again: %v", name, err)
		}
		if len(ended) != n {
			t.Errorf("G22: %s: the OnClose listeners of %d registrations were called, want %d", name, len(ended), n)
		}
		for len(ended) > 0 {
			if err := <-ended; !errors.Is(err, core.ErrShutdown) {
				t.Errorf("G22: %s: a registration ended with %v, want ErrShutdown", name, err)
			}
		}
	}
}
