package core_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"

	"golang.org/x/sys/unix"
)

// A constructor that the kernel refuses, at whichever call, says which, and leaves
// no descriptor open.
func TestConstructorFaults(t *testing.T) {
	type calls = core.SystemCalls
	inject := map[string]func(*calls, error){
		"epoll_create1": func(s *calls, err error) { s.Create = func() (int, error) { return -1, err } },
		"timerfd_create": func(s *calls, err error) {
			s.CreateTimer = func() (int, error) { return -1, err }
		},
		"eventfd": func(s *calls, err error) { s.CreateEvent = func() (int, error) { return -1, err } },
	}
	for n := range 2 { // the n-th descriptor that is put into the set
		inject[fmt.Sprintf("epoll_ctl %d", n)] = func(s *calls, err error) {
			made, real := 0, s.Control
			s.Control = func(epfd, op, fd int, ev *unix.EpollEvent) error {
				if made++; made > n {
					return err
				}
				return real(epfd, op, fd, ev)
			}
		}
	}
	for _, e := range epolls {
		for call, fault := range inject {
			if e.name != "blocking" && (call == "eventfd" || call == "epoll_ctl 1") {
				continue // it has none
			}
			for _, errno := range []error{unix.EMFILE, unix.ENFILE, unix.ENOMEM, unix.ENOSPC} {
				t.Run(fmt.Sprintf("%s/%s/%v", e.name, call, errno), func(t *testing.T) {
					checkDescriptors(t)
					s := core.RealCalls()
					fault(&s, errno)
					p, err := e.make(nil, s)
					name, _, _ := strings.Cut(call, " ")
					if p != nil || !errors.Is(err, errno) || !strings.HasPrefix(err.Error(), name+": ") {
						t.Errorf("got %v, %v, want %s: %v", p, err, name, errno)
					}
				})
			}
		}
	}
}

// The same with the kernel's own refusal: no descriptor left. In a process of its
// own, as the limit is the process's.
func TestNewEventLoopWithoutDescriptors(t *testing.T) {
	if !crashes(t) {
		return
	}
	checkDescriptors(t)
	var limit unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	highest := uint64(0)
	for fd := range descriptors(t) {
		var n uint64
		_, _ = fmt.Sscan(fd, &n)
		highest = max(highest, n)
	}
	made := 0
	for free := uint64(0); free < 8; free++ {
		low := limit
		low.Cur = highest + 1 + free
		must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &low))
		for _, opts := range [][]core.Option{nil, {core.WithBlockingEpoll()}} {
			l, err := core.NewEventLoop(opts...)
			if err == nil {
				made++
				l.Shutdown()
				awaitDone(t, l)
			} else if !errors.Is(err, unix.EMFILE) || !strings.HasPrefix(err.Error(), "core: NewEventLoop: ") {
				t.Errorf("NewEventLoop with %d free numbers: %v, want EMFILE", free, err)
			}
			g, err := core.NewGroup(3, opts...)
			if err == nil {
				made++
				g.Shutdown()
				<-g.Termination().Done()
			} else if !errors.Is(err, unix.EMFILE) || !strings.Contains(err.Error(), "child") {
				t.Errorf("NewGroup with %d free numbers: %v, want EMFILE and the child", free, err)
			}
		}
	}
	must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	if made == 0 {
		t.Error("not exercised: no loop could be made with eight numbers")
	}
}

// tamper is system calls that fail when they are told to.
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
			checkDescriptors(t)
			k := newTamper()
			p, err := e.make(nil, k.SystemCalls)
			must(t, err)
			l := loopOn(t, p)
			w := &watched{heard: newCounter()}
			for i := range w.sources {
				s := mustSource(t)
				w.sources[i] = s
				w.regs[i] = mustRegister(t, l, s.fd, core.Readable, func(core.Readiness) { _ = s.Drain(); w.heard.add() })
				w.regs[i].OnClose(w.ends[i].hear)
			}
			onLoop(t, l, func() {})
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

// look makes the loop look at its descriptors, by an event: wakes would do it too,
// after a while.
func (w *watched) look(t *testing.T) {
	t.Helper()
	if err := w.sources[0].Input(); err != unix.EAGAIN { // full: nobody reads any more
		must(t, err)
	}
}

// work checks that the sources but the ones named are heard of.
func (w *watched) work(t *testing.T, but ...int) {
	t.Helper()
	for i, s := range w.sources {
		if len(but) > 0 && but[0] == i {
			continue
		}
		must(t, s.Drain())
		for len(w.heard.last) > 0 {
			<-w.heard.last
		}
		must(t, s.Input())
		w.heard.await(t, fmt.Sprintf("input of source %d", i))
	}
}

// EBADF from epoll_wait: the poller is built anew, no registration is lost, and
// timers go on.
func TestEpollWaitFailsOnce(t *testing.T) {
	faultyLoops(t, func(t *testing.T, l *core.EventLoop, k *tamper, w *watched) {
		timer := mustSchedule(t, l, 20*time.Millisecond, func() {})
		for i := range 3 {
			k.fail("poll", unix.EBADF)
			for l.Stats().Rebuilds <= int64(i) {
				w.look(t)
				onLoop(t, l, func() {})
			}
			w.work(t)
		}
		await(t, "a timer that was set before the rebuilds", timer.Done())
		if s := l.Stats(); s.Registrations != 4 || s.State != core.StateStarted || s.Rebuilds != 3 {
			t.Errorf("R196: %d registrations, state %v, %d rebuilds; want 4, Started, 3", s.Registrations, s.State, s.Rebuilds)
		}
	})
}

// Twice in a row: the executor closes admission, runs what it accepted and its
// hooks, cancels its timers, tells its registrations, and ends with the error.
func TestG15EpollWaitFailsTwice(t *testing.T) {
	faultyLoops(t, func(t *testing.T, l *core.EventLoop, k *tamper, w *watched) {
		release := occupy(t, &l.Executor)
		var j journal
		mustHook(t, &l.Executor, j.note("hook"))
		timer := mustSchedule(t, l, time.Hour, func() {})
		mustExecute(t, l, j.note("task"))
		k.fail("poll", times(100, unix.EBADF)...)
		w.look(t)
		release()
		awaitDone(t, l)
		j.want(t, "G15", "task hook")
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
					w.look(t)
					_ = l.Execute(func() {})
				}
				awaitDone(t, l)
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
			w.look(t)
			select {
			case <-ended:
			default:
				onLoop(t, l, func() {})
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

// ENOSPC at Register and Modify: the caller hears, nothing is changed.
func TestNoRoomForAWatch(t *testing.T) {
	faultyLoops(t, func(t *testing.T, l *core.EventLoop, k *tamper, w *watched) {
		s := mustSource(t)
		k.fail("add", unix.ENOSPC)
		r, err := l.Register(s.fd, core.Readable, ignore)
		if r != nil || !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), fmt.Sprintf("descriptor %d: epoll_ctl", s.fd)) {
			t.Errorf("Register: got %v, %v, want ENOSPC with the descriptor and the call", r, err)
		}
		must(t, w.regs[0].Modify(0))
		k.fail("add", unix.ENOSPC)
		if err := w.regs[0].Modify(core.Readable); !errors.Is(err, unix.ENOSPC) {
			t.Errorf("Modify: %v, want ENOSPC", err)
		}
		must(t, w.regs[0].Modify(core.Readable))
		w.work(t)
		if n := l.Stats().Registrations; n != 4 {
			t.Errorf("Stats.Registrations is %d, want 4", n)
		}
	})
}

// timerfd_settime fails: timers are not lost. The loop looks again and again, and
// builds its poller anew.
func TestTimerCannotBeSet(t *testing.T) {
	for _, n := range []int{1, core.MaxPremature / 2, 3 * core.MaxPremature} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			faultyLoops(t, func(t *testing.T, l *core.EventLoop, k *tamper, w *watched) {
				k.fail("set timer", times(n, unix.EINVAL)...)
				start := time.Now()
				timer := mustSchedule(t, l, 5*time.Millisecond, func() {
					if d := time.Since(start); d < 5*time.Millisecond {
						t.Errorf("G7: the timer ran after %v, want 5ms", d)
					}
				})
				await(t, "a timer", timer.Done())
				if k.failed.Load() == 0 {
					t.Error("not exercised: no call has failed")
				}
				w.work(t)
				if s := l.Stats(); s.State != core.StateStarted {
					t.Errorf("state %v, want Started: %+v", s.State, s)
				}
			})
		})
	}
}

// EINTR: a thread that a signal interrupts in epoll_wait goes back to sleep.
func TestEpollWaitIsInterrupted(t *testing.T) {
	checkDescriptors(t)
	s := core.RealCalls()
	tid := make(chan int, 1)
	wait := s.Wait
	s.Wait = func(epfd int, events []unix.EpollEvent) (int, error) {
		tid <- unix.Gettid()
		return wait(epfd, events)
	}
	p, err := core.BlockingPoller(nil, s)
	must(t, err)
	result := make(chan error, 1)
	go func() { result <- p.Wait(core.Deadline{}) }()
	thread := <-tid
	for range 20 {
		slept := sleeps(t, thread)
		// SIGURG is what the Go runtime uses itself: its handler does nothing.
		must(t, unix.Tgkill(unix.Getpid(), thread, unix.SIGURG))
		for guard := time.Now().Add(hangGuard); sleeps(t, thread) == slept; {
			if len(result) > 0 || time.Now().After(guard) {
				t.Fatalf("the thread did not go back to sleep after a signal")
			}
		}
	}
	p.Wake()
	select {
	case err := <-result:
		must(t, err)
	case <-time.After(hangGuard):
		t.Fatal("Wake did not end the Wait that was interrupted")
	}
	must(t, p.Close())
}

// sleeps returns how often a thread has gone to sleep.
func sleeps(t *testing.T, thread int) string {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/status", thread))
	must(t, err)
	_, after, ok := strings.Cut(string(status), "\nvoluntary_ctxt_switches:")
	if !ok {
		t.Fatalf("no voluntary_ctxt_switches in %s", status)
	}
	line, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(line)
}

// Signals to the whole process, while loops sleep and work: nothing is lost.
func TestSignalsDoNoHarm(t *testing.T) {
	epollLoops(t, func(t *testing.T, l *core.EventLoop) {
		s := mustSource(t)
		heard := newCounter()
		mustRegister(t, l, s.fd, core.Readable, func(core.Readiness) { _ = s.Drain(); heard.add() })
		stop, over := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(over)
			for {
				select {
				case <-stop:
					return
				default:
					_ = unix.Kill(unix.Getpid(), unix.SIGURG)
				}
			}
		}()
		for range 300 {
			must(t, s.Input())
			heard.await(t, "input")
			onLoop(t, l, func() {})
			timer := mustSchedule(t, l, 50*time.Microsecond, func() {})
			await(t, "a timer", timer.Done())
		}
		close(stop)
		<-over
	})
}

// Close while a goroutine is parked, which the contract does not ask for: Wait
// returns an error instead of sleeping on.
func TestParkedPollerClosedWhileWaiting(t *testing.T) {
	for range 100 {
		p, err := core.ParkedPoller(nil, 0, core.RealCalls())
		must(t, err)
		result := make(chan error, 1)
		go func() {
			for {
				if err := p.Wait(core.Deadline{}); err != nil {
					result <- err
					return
				}
			}
		}()
		p.Wake()
		must(t, p.Close())
		p.Wake()
		select {
		case err := <-result:
			if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("Wait after Close: %v, want that it is closed", err)
			}
		case <-time.After(hangGuard):
			t.Fatal("Wait sleeps on after Close")
		}
	}
}

// More wake-ups than the eventfd counts to: somebody has filled it (netty #9192).
func TestSignalledTooOften(t *testing.T) {
	s := core.RealCalls()
	event := -1
	create := s.CreateEvent
	s.CreateEvent = func() (fd int, err error) {
		event, err = create()
		return event, err
	}
	asleep := make(chan struct{}, 1)
	wait := s.Wait
	s.Wait = func(epfd int, events []unix.EpollEvent) (int, error) {
		asleep <- struct{}{}
		return wait(epfd, events)
	}
	p, err := core.BlockingPoller(nil, s)
	must(t, err)
	for range 3 {
		_, err = unix.Write(event, []byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
		must(t, err)
		must(t, p.Wait(core.Deadline{})) // that write is an event
		<-asleep
		result := make(chan error, 1)
		go func() { result <- p.Wait(core.Deadline{}) }()
		await(t, "sleep to be announced", asleep)
		woken := make(chan struct{})
		go func() { p.Wake(); close(woken) }()
		await(t, "Wake, with no room in the counter", woken)
		select {
		case err := <-result:
			must(t, err)
		case <-time.After(hangGuard):
			t.Fatal("the wake-up was lost, for the counter was full")
		}
		var b [8]byte
		_, _ = unix.Read(event, b[:])
	}
	must(t, p.Close())
}

// lateClock is the system's, whose alarms go off late: when they are let.
type lateClock struct {
	systemClock
	due     chan struct{} // an alarm is due
	release chan struct{}
}

func (c lateClock) AfterFunc(d time.Duration, f func()) core.Alarm {
	return time.AfterFunc(d, func() {
		c.due <- struct{}{}
		<-c.release
		f()
	})
}

// A clock may be late, and the loop does not wait for it: tasks run meanwhile. Only
// the end waits, so that nothing is left running (G24).
func TestALateClockDoesNotStopTheLoop(t *testing.T) {
	for _, e := range epolls {
		t.Run(e.name, func(t *testing.T) {
			clock := lateClock{due: make(chan struct{}, 100), release: make(chan struct{})}
			p, err := e.make(clock, core.RealCalls())
			must(t, err)
			l := loopOn(t, p, core.WithClock(clock))
			mustSchedule(t, l, time.Hour, func() {})
			defer close(clock.release) // before the loop is shut down
			for late := 0; late < 5; {
				soon := mustSchedule(t, l, time.Millisecond, func() {})
				select {
				case <-soon.Done(): // it was due before the loop came to sleep
					continue
				case <-clock.due:
					late++
				}
				onLoop(t, l, func() {})
				await(t, "the timer, with the wake-up of a task", soon.Done())
				onLoop(t, l, func() {})
			}
		})
	}
}
