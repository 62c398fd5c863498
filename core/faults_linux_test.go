package core_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"golang.org/x/sys/unix"
)

// tamper is a table of system calls that fail on command.
type tamper struct {
	core.SystemCalls
	mu     sync.Mutex
	errs   map[string][]error
	failed atomic.Int64
}

func newTamper() *tamper {
	f := &tamper{errs: make(map[string][]error)}
	real := core.RealCalls()
	f.SystemCalls = core.SystemCalls{
		Create: func() (int, error) {
			if err := f.next("create"); err != nil {
				return -1, err
			}
			return real.Create()
		},
		Control: func(epfd, op, fd int, ev *unix.EpollEvent) error {
			if op == unix.EPOLL_CTL_ADD {
				if err := f.next("add"); err != nil {
					return err
				}
			}
			return real.Control(epfd, op, fd, ev)
		},
		Poll: func(epfd int, events []unix.EpollEvent) (int, error) {
			if err := f.next("poll"); err != nil {
				return 0, err
			}
			return real.Poll(epfd, events)
		},
		Wait: func(epfd int, events []unix.EpollEvent) (int, error) {
			if err := f.next("poll"); err != nil {
				return 0, err
			}
			return real.Wait(epfd, events)
		},
		CreateTimer: func() (int, error) {
			if err := f.next("timer"); err != nil {
				return -1, err
			}
			return real.CreateTimer()
		},
		SetTimer: func(fd int, d time.Duration) error {
			if err := f.next("set timer"); err != nil {
				return err
			}
			return real.SetTimer(fd, d)
		},
		CreateEvent: real.CreateEvent,
	}
	return f
}

func (f *tamper) next(call string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	errs := f.errs[call]
	if len(errs) == 0 {
		return nil
	}
	f.errs[call] = errs[1:]
	if errs[0] != nil {
		f.failed.Add(1)
	}
	return errs[0]
}

// fail makes the next calls fail with these errors; nil is one that works.
func (f *tamper) fail(call string, errs ...error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.errs[call] = append(f.errs[call], errs...)
}

func times(n int, err error) []error {
	all := make([]error, n)
	for i := range all {
		all[i] = err
	}
	return all
}

// faultyLoops runs f on a loop of each kind whose calls can be made to fail, with
// four sources registered that count.
func faultyLoops(t *testing.T, f func(t *testing.T, l *core.EventLoop, k *tamper, w *watched)) {
	for _, e := range epolls {
		t.Run(e.name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			k := newTamper()
			p, err := e.make(nil, k.SystemCalls)
			coretest.Must(t, err)
			l := loopOn(t, p)
			w := &watched{heard: newCounter()}
			for i := range w.sources {
				s := mustSource(t)
				w.sources[i] = s
				w.regs[i] = mustRegister(t, l, s.fd, core.Readable, func(core.Readiness) { _ = s.Drain(); w.heard.add() })
				w.regs[i].OnClose(w.ends[i].hear)
			}
			coretest.OnLoop(t, l, func() {})
			f(t, l, k, w)
		})
	}
}

// watched are sources on a loop.
type watched struct {
	sources [4]*source
	regs    [4]*core.Registration
	ends    [4]ending
	heard   *counter
}

// pollOnce makes the loop poll its descriptors, by an event: wake-ups would do so too, after
// a while.
func (w *watched) pollOnce(t *testing.T) {
	t.Helper()
	if err := w.sources[0].Input(); err != unix.EAGAIN { // full: nobody reads any more
		coretest.Must(t, err)
	}
}

// work checks that the loop reports all sources except those in but.
func (w *watched) work(t *testing.T, but ...int) {
	t.Helper()
	for i, s := range w.sources {
		if len(but) > 0 && but[0] == i {
			continue
		}
		coretest.Must(t, s.Drain())
		for len(w.heard.last) > 0 {
			<-w.heard.last
		}
		coretest.Must(t, s.Input())
		w.heard.await(t, fmt.Sprintf("input of source %d", i))
	}
}

// EBADF from epoll_wait: the poller is rebuilt, no registration is lost, and
// timers still run.
func TestEpollWaitFailsOnce(t *testing.T) {
	faultyLoops(t, func(t *testing.T, l *core.EventLoop, k *tamper, w *watched) {
		timer := mustSchedule(t, l, 20*time.Millisecond, func() {})
		for i := range 3 {
			k.fail("poll", unix.EBADF)
			for l.Stats().Rebuilds <= int64(i) {
				w.pollOnce(t)
				coretest.OnLoop(t, l, func() {})
			}
			w.work(t)
		}
		coretest.Await(t, "a timer that was set before the rebuilds", timer.Done())
		if s := l.Stats(); s.Registrations != 4 || s.State != core.StateStarted || s.Rebuilds != 3 {
			t.Errorf("R196: %d registrations, state %v, %d rebuilds; want 4, Started, 3", s.Registrations, s.State, s.Rebuilds)
		}
	})
}

// Twice in a row: the executor closes admission, runs its accepted tasks and its
// hooks, cancels its timers, notifies its registrations, and ends with the error.
func TestG15EpollWaitFailsTwice(t *testing.T) {
	faultyLoops(t, func(t *testing.T, l *core.EventLoop, k *tamper, w *watched) {
		release := occupy(t, &l.Executor)
		var j coretest.Journal
		mustHook(t, &l.Executor, j.Adds("hook"))
		timer := mustSchedule(t, l, time.Hour, func() {})
		coretest.MustExecute(t, l, j.Adds("task"))
		k.fail("poll", times(100, unix.EBADF)...)
		w.pollOnce(t)
		release()
		coretest.AwaitDone(t, l)
		j.Want(t, "G15", "task hook")
		if err := l.Termination().Err(); !errors.Is(err, unix.EBADF) {
			t.Errorf("G15: Err is %v, want EBADF", err)
		}
		if timer.Err() != core.ErrCancelled {
			t.Errorf("G15: the timer's Err is %v, want ErrCancelled", timer.Err())
		}
		for i := range w.ends {
			w.ends[i].want(t, "G15, G22", unix.EBADF)
		}
		if _, err := l.Register(w.sources[0].fd, core.Readable, ignore); !errors.Is(err, unix.EBADF) || !errors.Is(err, core.ErrRejected) {
			t.Errorf("G5: Register: %v, want a refusal with the cause", err)
		}
	})
}

// The rebuild fails at whichever call: the executor ends with both errors.
func TestG15TheRebuildFails(t *testing.T) {
	for call, errno := range map[string]error{"create": unix.EMFILE, "timer": unix.ENFILE, "add": unix.ENOMEM} {
		t.Run(call, func(t *testing.T) {
			faultyLoops(t, func(t *testing.T, l *core.EventLoop, k *tamper, w *watched) {
				k.fail(call, errno)
				k.fail("poll", unix.EBADF)
				for l.State() < core.StateShutdown {
					w.pollOnce(t)
					_ = l.Execute(func() {})
				}
				coretest.AwaitDone(t, l)
				if err := l.Termination().Err(); !errors.Is(err, unix.EBADF) || !errors.Is(err, errno) {
					t.Errorf("G15: Err is %v, want EBADF and %v", err, errno)
				}
				for i := range w.ends {
					w.ends[i].want(t, "G15, G22", errno)
				}
			})
		})
	}
}

// One registration finds no room in the new set (max_user_watches): it is closed
// with the error, the others move.
func TestG22NoRoomInTheNewSet(t *testing.T) {
	faultyLoops(t, func(t *testing.T, l *core.EventLoop, k *tamper, w *watched) {
		own := 1 // the timer
		if strings.HasSuffix(t.Name(), "/blocking") {
			own = 2 // and the eventfd
		}
		k.fail("add", append(times(own+2, nil), unix.ENOSPC)...)
		k.fail("poll", unix.EBADF)
		ended := make(chan struct{})
		w.regs[2].OnClose(func(error) { close(ended) })
		for i := 0; ; i++ {
			w.pollOnce(t)
			select {
			case <-ended:
			default:
				coretest.OnLoop(t, l, func() {})
				if i < 1e6 {
					continue
				}
			}
			break
		}
		w.ends[2].want(t, "G22: one that cannot move", unix.ENOSPC)
		w.work(t, 2)
		if s := l.Stats(); s.Registrations != 3 || s.Rebuilds != 1 || s.State != core.StateStarted {
			t.Errorf("R196: %d registrations, %d rebuilds, state %v; want 3, 1, Started", s.Registrations, s.Rebuilds, s.State)
		}
	})
}

// ENOSPC at Register and Modify: the call returns an error, and nothing is changed.
func TestNoRoomForAWatch(t *testing.T) {
	faultyLoops(t, func(t *testing.T, l *core.EventLoop, k *tamper, w *watched) {
		s := mustSource(t)
		k.fail("add", unix.ENOSPC)
		r, err := l.Register(s.fd, core.Readable, ignore)
		if r != nil || !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), fmt.Sprintf("descriptor %d: epoll_ctl", s.fd)) {
			t.Errorf("Register: got %v, %v, want ENOSPC with the descriptor and the call", r, err)
		}
		coretest.Must(t, w.regs[0].Modify(0))
		k.fail("add", unix.ENOSPC)
		if err := w.regs[0].Modify(core.Readable); !errors.Is(err, unix.ENOSPC) {
			t.Errorf("Modify: %v, want ENOSPC", err)
		}
		coretest.Must(t, w.regs[0].Modify(core.Readable))
		w.work(t)
		if n := l.Stats().Registrations; n != 4 {
			t.Errorf("Stats.Registrations is %d, want 4", n)
		}
	})
}

// timerfd_settime fails: timers are not lost. The loop polls again and again, and
// rebuilds its poller.
func TestTimerCannotBeSet(t *testing.T) {
	for _, n := range []int{1, core.MaxPremature / 2, 3 * core.MaxPremature} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			faultyLoops(t, func(t *testing.T, l *core.EventLoop, k *tamper, w *watched) {
				k.fail("set timer", times(n, unix.EINVAL)...)
				for guard := time.Now().Add(coretest.HangGuard); k.failed.Load() == 0; {
					if time.Now().After(guard) {
						t.Fatal("not exercised: no call has failed")
					}
					start := time.Now() // on a busy machine it may be due before the loop comes to set it
					timer := mustSchedule(t, l, 5*time.Millisecond, func() {
						if d := time.Since(start); d < 5*time.Millisecond {
							t.Errorf("G7: the timer ran after %v, want 5ms", d)
						}
					})
					coretest.Await(t, "a timer", timer.Done())
				}
				w.work(t)
				if s := l.Stats(); s.State != core.StateStarted {
					t.Errorf("state %v, want Started: %+v", s.State, s)
				}
			})
		})
	}
}
