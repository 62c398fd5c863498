package core_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"golang.org/x/sys/unix"
)

// epollLoops runs f on an event loop of each kind, which has terminated, and left
// no descriptor open, when the test ends.
func epollLoops(t *testing.T, f func(t *testing.T, l *core.EventLoop), opts ...core.Option) {
	for _, kind := range []struct {
		name string
		opts []core.Option
	}{
		{"parked", []core.Option{core.WithSpin(0)}},
		{"spinning", nil},
		{"blocking", []core.Option{core.WithBlockingEpoll()}},
	} {
		t.Run(kind.name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			l, err := core.NewEventLoop(append(kind.opts, opts...)...)
			f(t, coretest.EndWithTest(t, l, err))
		})
	}
}

// counter counts calls, and lets a test wait for one.
type counter struct {
	n    atomic.Int64
	last chan int64
}

func newCounter() *counter { return &counter{last: make(chan int64, 1<<16)} }

func (c *counter) add() { c.last <- c.n.Add(1) }

func (c *counter) await(t testing.TB, what string) {
	t.Helper()
	coretest.Await(t, what, c.last)
}

// The kernel's refusals of a registration reach the caller, and keep nothing.
func TestRegisterRefusedByTheKernel(t *testing.T) {
	epollLoops(t, func(t *testing.T, l *core.EventLoop) {
		file, err := os.Create(filepath.Join(t.TempDir(), "regular"))
		coretest.Must(t, err)
		defer file.Close()
		s := mustSource(t)
		r := mustRegister(t, l, s.fd, core.Readable, ignore)
		for _, tt := range []struct {
			what string
			fd   int
			want error
			text string
		}{
			{"a regular file", int(file.Fd()), unix.EPERM, "it cannot be polled, want a socket, a pipe or the like, and no regular file or directory: operation not permitted"},
			{"registered already", s.fd, unix.EEXIST, "this loop watches it already, want one registration at a time (Modify changes its interest, Close ends it): file exists"},
			{"not open", 1 << 29, unix.EBADF, "it is not open, want an open descriptor: bad file descriptor"},
			{"the loop's own", core.EpollOf(core.PollerOf(l)), unix.EINVAL, "it is the epoll set of the loop itself, or takes no such interest, want another descriptor: invalid argument"},
		} {
			got, err := l.Register(tt.fd, core.Readable, ignore)
			want := fmt.Sprintf("core: Register: descriptor %d: epoll_ctl: add descriptor %d: %s", tt.fd, tt.fd, tt.text)
			if got != nil || !errors.Is(err, tt.want) || err.Error() != want {
				t.Errorf("%s: got %v, %v, want nil, %q", tt.what, got, err, want)
			}
		}
		if n := l.Stats().Registrations; n != 1 {
			t.Errorf("Stats.Registrations is %d, want 1", n)
		}
		coretest.Must(t, r.Modify(core.Writable)) // the one that was first is as it was
	})
}

// The kernel reuses a number at once after close: each registration gets the events of its
// own descriptor only.
func TestDescriptorNumbersReused(t *testing.T) {
	epollLoops(t, func(t *testing.T, l *core.EventLoop) {
		numbers := make(map[int]int)
		for i := range 200 {
			s, err := newSource()
			coretest.Must(t, err)
			numbers[s.fd]++
			heard := newCounter()
			r := mustRegister(t, l, s.fd, core.Readable, func(got core.Readiness) {
				if !got.Readable() {
					t.Errorf("use %d of %d: %v, want readable", i, s.fd, got)
				}
				if err := s.Drain(); err != nil {
					t.Errorf("use %d of %d: an event for another descriptor: %v", i, s.fd, err)
				}
				heard.add()
			})
			coretest.Must(t, s.Input())
			heard.await(t, "input")
			coretest.Must(t, s.Input()) // an event may be under way when it is closed
			coretest.Must(t, r.Close())
			coretest.OnLoop(t, l, func() {})
			coretest.Must(t, s.Close())
		}
		if len(numbers) > 100 {
			t.Errorf("not exercised: %d numbers in 200 uses", len(numbers))
		}
	})
}

// A descriptor is closed without its registration, and its number is reused by
// another: ErrDescriptorReused, on every kernel.
func TestDescriptorReusedIsSeen(t *testing.T) {
	epollLoops(t, func(t *testing.T, l *core.EventLoop) {
		s := mustSource(t)
		var e ending
		ended := make(chan struct{})
		old := mustRegister(t, l, s.fd, core.Readable, func(core.Readiness) { t.Error("the old handler was called") })
		old.OnClose(func(err error) { e.hear(err); close(ended) })
		other := mustSource(t)
		coretest.Must(t, unix.Dup3(other.fd, s.fd, unix.O_CLOEXEC)) // closes, and takes the number
		heard := newCounter()
		last := mustRegister(t, l, s.fd, core.Readable, func(core.Readiness) { _ = other.Drain(); heard.add() })
		coretest.Await(t, "the end of the old registration", ended)
		e.want(t, "G3", core.ErrDescriptorReused)
		coretest.Must(t, old.Close())
		coretest.Must(t, other.Input())
		heard.await(t, "input of the new one")
		coretest.Must(t, last.Close())
		if n := core.Watched(l); n != 0 {
			t.Errorf("the poller counts %d watched descriptors, want none: each park would poll an empty set", n)
		}
	})
}

// A paused registration has no interest: a descriptor at its end, which epoll would report
// for ever, costs nothing. After the pause all readiness is reported.
func TestPausedDescriptor(t *testing.T) {
	epollLoops(t, func(t *testing.T, l *core.EventLoop) {
		s := mustSource(t)
		heard := newCounter()
		var r *core.Registration
		r = mustRegister(t, l, s.fd, 0, func(got core.Readiness) {
			if !got.HungUp() || !got.Readable() {
				t.Errorf("got %v, want hung up and readable", got)
			}
			coretest.Must(t, r.Modify(0))
			heard.add()
		})
		coretest.Must(t, s.HangUp())
		for i := range 20 {
			before := l.Stats()
			for range 100 {
				coretest.OnLoop(t, l, func() {})
			}
			if got := heard.n.Load(); got != int64(i) {
				t.Fatalf("%d calls, want %d: it is paused", got, i)
			}
			if got := l.Stats().Parks + l.Stats().Spins - before.Parks - before.Spins; got > 300 {
				t.Errorf("%d sleeps in 100 tasks: a paused descriptor keeps the loop busy", got)
			}
			coretest.Must(t, r.Modify(core.Readable))
			heard.await(t, "the end of the stream")
		}
	})
}

// A phantom: the descriptor was closed, but a copy of it is open, so that the kernel
// keeps reporting it and no call can remove it. The loop rebuilds its
// poller, and is quiet again; nothing else is lost (R195, R205).
func TestPhantomDescriptor(t *testing.T) {
	epollLoops(t, func(t *testing.T, l *core.EventLoop) {
		live, ghost := mustSource(t), mustSource(t)
		heard := newCounter()
		mustRegister(t, l, live.fd, core.Readable, func(core.Readiness) { _ = live.Drain(); heard.add() })
		r := mustRegister(t, l, ghost.fd, core.Readable, func(core.Readiness) { _ = ghost.Drain() })
		duplicate, err := unix.FcntlInt(uintptr(ghost.fd), unix.F_DUPFD_CLOEXEC, 0)
		coretest.Must(t, err)
		defer unix.Close(duplicate)
		coretest.Must(t, unix.Close(ghost.fd))
		ghost.closed.Store(true) // not to be closed again
		coretest.Must(t, r.Close())
		coretest.Must(t, ghost.Input())
		for guard := time.Now().Add(coretest.HangGuard); l.Stats().Rebuilds == 0; {
			if time.Now().After(guard) {
				t.Fatalf("R195: not rebuilt: %+v", l.Stats())
			}
			time.Sleep(100 * time.Microsecond) // to look; a task would be a reason to return
		}
		for range 10 {
			coretest.Must(t, live.Input())
			heard.await(t, "input after the rebuild")
		}
		// Quiet: no more returns than there are reasons.
		before := l.Stats()
		for range 100 {
			coretest.OnLoop(t, l, func() {})
		}
		after := l.Stats()
		if got := after.Parks + after.Spins - before.Parks - before.Spins; got > 300 {
			t.Errorf("R195: %d sleeps in 100 tasks, the phantom is still there", got)
		}
		if after.Rebuilds != 1 {
			t.Errorf("R195: %d rebuilds, want 1", after.Rebuilds)
		}
	})
}

// The epoll descriptor itself breaks: its number is taken by something else. The
// loop moves all that it watches to a new one.
func TestBrokenEpollDescriptor(t *testing.T) {
	for _, e := range epolls {
		t.Run(e.name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			p, err := e.make(nil, core.RealCalls())
			coretest.Must(t, err)
			l := loopOn(t, p)
			var sources [8]*source
			heard := newCounter()
			for i := range sources {
				s := mustSource(t)
				sources[i] = s
				mustRegister(t, l, s.fd, core.Readable, func(core.Readiness) { _ = s.Drain(); heard.add() })
			}
			null, err := os.Open(os.DevNull)
			coretest.Must(t, err)
			defer null.Close()
			coretest.OnLoop(t, l, func() { coretest.Must(t, unix.Dup3(int(null.Fd()), core.EpollOf(p), unix.O_CLOEXEC)) })
			for range 2 * core.BusyTurns { // a stream of wakes: it looks by count
				coretest.OnLoop(t, l, func() {})
			}
			for _, s := range sources {
				coretest.Must(t, s.Input())
				heard.await(t, "input after the rebuild")
			}
			timer := mustSchedule(t, l, time.Millisecond, func() {})
			coretest.Await(t, "a timer after the rebuild", timer.Done())
			if s := l.Stats(); s.Rebuilds != 1 || s.Registrations != int64(len(sources)) {
				t.Errorf("R196: %d rebuilds, %d registrations; want 1, %d", s.Rebuilds, s.Registrations, len(sources))
			}
		})
	}
}

// A loop holds two descriptors, or three, until done, and none after; in every
// order of use, started or not.
func TestG24ALoopReturnsItsDescriptors(t *testing.T) {
	for i := range 4 {
		epollLoops(t, func(t *testing.T, l *core.EventLoop) {
			s := mustSource(t)
			if i&1 != 0 {
				mustRegister(t, l, s.fd, core.Readable, ignore)
			}
			if i&2 != 0 {
				mustSchedule(t, l, time.Hour, func() {})
				coretest.OnLoop(t, l, func() {})
			}
			l.Shutdown()
			coretest.AwaitDone(t, l)
			l.Shutdown() // and a late wake goes nowhere
		})
	}
}

// A Wake of an ended loop writes to no reused descriptor: all numbers are reused while wakers
// continue.
func TestG24NoWakeReachesAReusedDescriptor(t *testing.T) {
	for _, e := range epolls {
		t.Run(e.name, func(t *testing.T) {
			for range 50 {
				p, err := e.make(nil, core.RealCalls())
				coretest.Must(t, err)
				slept := make(chan error, 1)
				go func() { slept <- p.Wait(core.Deadline{}) }()
				stop, over := make(chan struct{}), make(chan struct{})
				go func() {
					defer close(over)
					for {
						select {
						case <-stop:
							return
						default:
							p.Wake()
						}
					}
				}()
				coretest.Must(t, <-slept)
				coretest.Must(t, p.Close())
				// Eventfds count what is written to them, and take the lowest numbers.
				var traps [8]int
				for i := range traps {
					traps[i], err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
					coretest.Must(t, err)
				}
				for range 100 {
					p.Wake()
				}
				close(stop)
				<-over
				for _, fd := range traps {
					var b [8]byte
					if n, err := unix.Read(fd, b[:]); err != unix.EAGAIN {
						t.Errorf("G24: a late Wake wrote to descriptor %d: %d bytes, %v", fd, n, err)
					}
					coretest.Must(t, unix.Close(fd))
				}
			}
		})
	}
}

// Sockets of the kernel: half-close with data, reset, error.
func TestHangUpsOfSockets(t *testing.T) {
	epollLoops(t, func(t *testing.T, l *core.EventLoop) {
		for _, interest := range []core.Interest{core.Readable, core.Readable | core.EdgeTriggered, core.Readable | core.Writable | core.EdgeTriggered} {
			s := mustSource(t)
			hung := make(chan int, 1)
			var r *core.Registration
			r = mustRegister(t, l, s.fd, interest, func(got core.Readiness) {
				if !got.HungUp() {
					return
				}
				n, err := unix.Read(s.fd, make([]byte, 16))
				if err != nil {
					t.Errorf("%v: read: %v", interest, err)
				}
				_ = r.Close()
				hung <- n
			})
			coretest.OnLoop(t, l, func() {})
			_, err := unix.Write(s.peer, []byte("last words"))
			coretest.Must(t, err)
			coretest.Must(t, s.HangUp())
			select {
			case n := <-hung:
				if n != len("last words") {
					t.Errorf("%v: %d bytes were there with the end, want %d", interest, n, len("last words"))
				}
			case <-time.After(coretest.HangGuard):
				t.Fatalf("%v: the handler was not called for the end of the input", interest)
			}
		}
	})
}
