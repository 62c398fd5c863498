package core_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"syscall"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
)

// modelLoop returns an event loop on a model poller, which has terminated when the
// test ends.
func modelLoop(t testing.TB, opts ...core.Option) (*core.EventLoop, *pollertest.Model) {
	t.Helper()
	m := pollertest.NewModel(nil)
	return loopOn(t, m, opts...), m
}

// loopOn returns an event loop on p, which has terminated when the test ends.
func loopOn(t testing.TB, p core.IOPoller, opts ...core.Option) *core.EventLoop {
	t.Helper()
	l, err := core.NewEventLoop(append(opts, core.WithPoller(p))...)
	return coretest.EndWithTest(t, l, err)
}

func mustRegister(t testing.TB, l *core.EventLoop, fd int, i core.Interest, h func(core.Readiness)) *core.Registration {
	t.Helper()
	r, err := l.Register(fd, i, h)
	if err != nil {
		t.Fatalf("Register(%d, %v): %v", fd, i, err)
	}
	return r
}

// ignore is a handler.
func ignore(core.Readiness) {}

// Bad arguments are errors that name the value, are no refusals, and change
// nothing: in any state.
func TestEventLoopBadArguments(t *testing.T) {
	l, m := modelLoop(t)
	d := m.Open()
	calls := func(l *core.EventLoop) map[string]error {
		errs := make(map[string]error)
		_, errs["h is nil"] = l.Register(d.FD(), core.Readable, nil)
		_, errs["fd is -1"] = l.Register(-1, core.Readable, ignore)
		_, errs["interest is 0x8"] = l.Register(d.FD(), 8, ignore)
		_, errs["interest is 0xff"] = l.Register(d.FD(), 255, ignore)
		_, errs["ch is nil"] = l.RegisterChannel(d.FD(), core.Readable, nil)
		_, errs["fd is 2147483648"] = l.Register(math.MaxInt32+1, core.Readable, ignore)
		_, errs["fd is -7"] = l.RegisterChannel(-7, core.Readable, &fakeChannel{})
		return errs
	}
	check := func(when string) {
		t.Helper()
		for want, err := range calls(l) {
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "want") || errors.Is(err, core.ErrRejected) {
				t.Errorf("%s: got %v, want an error with %q that says what is wanted and is no refusal", when, err, want)
			}
		}
	}
	check("not started")
	if s := l.State(); s != core.StateNotStarted {
		t.Errorf("G17: the state is %v after bad arguments, want NotStarted", s)
	}
	r := mustRegister(t, l, d.FD(), core.Readable, ignore)
	check("started")
	for _, i := range []core.Interest{8, 16, 255} {
		if err := r.Modify(i); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("interest is %#x", uint8(i))) {
			t.Errorf("Modify(%d): %v, want an error that names the value", i, err)
		}
	}
	if _, i, ok := m.Watched(d.FD()); !ok || i != core.Readable {
		t.Errorf("watched %v for %v after bad calls, want Readable", ok, i)
	}
	l.Shutdown()
	coretest.AwaitDone(t, l)
	check("terminated")
	if n := l.Stats().Rejected; n != 0 {
		t.Errorf("%d tasks are counted as refused, want 0", n)
	}
}

// A registration that the poller refuses leaves nothing behind, and its error names the
// descriptor and the reason.
func TestRegisterThatFails(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		d := m.Open()
		full := errors.New("max_user_watches")
		for i := range 3 {
			m.Fail(pollertest.Add, full)
			r, err := l.Register(d.FD(), core.Readable, ignore)
			want := fmt.Sprintf("core: Register: descriptor %d: max_user_watches", d.FD())
			if r != nil || !errors.Is(err, full) || err.Error() != want || errors.Is(err, core.ErrRejected) {
				t.Errorf("try %d: got %v, %v, want nil, %q", i, r, err, want)
			}
			m.Fail(pollertest.Add, full)
			if r, err := l.RegisterChannel(d.FD(), core.Readable, &fakeChannel{abort: func(error) { t.Error("Abort was called for a refused channel") }}); !errors.Is(err, full) {
				t.Errorf("RegisterChannel: got %v, %v, want the error", r, err)
			}
		}
		if n := l.Stats().Registrations; n != 0 {
			t.Errorf("Stats.Registrations is %d, want 0", n)
		}
		r := mustRegister(t, l, d.FD(), core.Readable, ignore)
		if _, err := l.Register(d.FD(), core.Writable, ignore); !errors.Is(err, syscall.EEXIST) {
			t.Errorf("Register of a registered descriptor: %v, want EEXIST", err)
		}
		coretest.Must(t, r.Modify(core.Writable)) // the first one is still the owner
		if _, err := l.Register(1<<30, core.Readable, ignore); !errors.Is(err, syscall.EBADF) {
			t.Errorf("Register of a number that is not open: %v, want EBADF", err)
		}
	})
}

// Register starts the loop, as any first use does; a start that fails keeps
// nothing.
func TestG17RegisterStartsTheLoop(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		refuse := true
		noGoroutine := errors.New("no goroutine left")
		l, m := modelLoop(t, core.WithSpawner(func(loop func()) error {
			if refuse {
				return noGoroutine
			}
			go loop()
			return nil
		}))
		d := m.Open()
		r, err := l.Register(d.FD(), core.Readable, ignore)
		if r != nil || !errors.Is(err, noGoroutine) || !errors.Is(err, core.ErrRejected) {
			t.Errorf("G17: Register with a spawner that refuses: %v, %v, want its error", r, err)
		}
		if _, _, ok := m.Watched(d.FD()); ok || l.Stats().Registrations != 0 || l.State() != core.StateNotStarted {
			t.Errorf("G17: something was kept: watched %v, %+v", ok, l.Stats())
		}
		refuse = false
		calls := make(chan struct{}, 1)
		coretest.Must(t, d.Input())
		mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) { coretest.Must(t, d.Drain()); calls <- struct{}{} })
		<-calls
		if s := l.State(); s != core.StateStarted {
			t.Errorf("G17: the state is %v, want Started", s)
		}
	})
}

// A loop that was never started is shut down like any other, and closes its poller.
func TestG17ALoopThatNeverStarted(t *testing.T) {
	for name, end := range map[string]func(l *core.EventLoop){
		"Shutdown": func(l *core.EventLoop) { l.Shutdown() },
		"Close":    func(l *core.EventLoop) { _ = l.Close() },
		"graceful": func(l *core.EventLoop) { _, _ = l.ShutdownGracefully(time.Second, time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				l, m := modelLoop(t)
				end(l)
				coretest.AwaitDone(t, l)
				if m.Count(pollertest.Close) != 1 {
					t.Errorf("G24: the poller was closed %d times, want 1", m.Count(pollertest.Close))
				}
			})
		})
	}
}
