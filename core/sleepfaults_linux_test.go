package core_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"golang.org/x/sys/unix"
)

// EINTR: a thread that a signal interrupts in epoll_wait goes back to sleep.
func TestEpollWaitIsInterrupted(t *testing.T) {
	coretest.CheckLeaks(t)
	s := core.RealCalls()
	tid := make(chan int, 1)
	wait := s.Wait
	s.Wait = func(epfd int, events []unix.EpollEvent) (int, error) {
		tid <- unix.Gettid()
		return wait(epfd, events)
	}
	p, err := core.BlockingPoller(nil, s)
	coretest.Must(t, err)
	result := make(chan error, 1)
	go func() { result <- p.Wait(core.Deadline{}) }()
	thread := <-tid
	for range 20 {
		slept := sleeps(t, thread)
		// The Go runtime uses SIGURG itself: its handler does nothing.
		coretest.Must(t, unix.Tgkill(unix.Getpid(), thread, unix.SIGURG))
		for guard := time.Now().Add(coretest.HangGuard); sleeps(t, thread) == slept; {
			if len(result) > 0 || time.Now().After(guard) {
				t.Fatalf("the thread did not go back to sleep after a signal")
			}
		}
	}
	p.Wake()
	select {
	case err := <-result:
		coretest.Must(t, err)
	case <-time.After(coretest.HangGuard):
		t.Fatal("Wake did not end the Wait that was interrupted")
	}
	coretest.Must(t, p.Close())
}

// sleeps returns how often a thread has gone to sleep.
func sleeps(t *testing.T, thread int) string {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/status", thread))
	coretest.Must(t, err)
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
					runtime.Gosched() // with one processor it would take a minute
				}
			}
		}()
		for range 300 {
			coretest.Must(t, s.Input())
			heard.await(t, "input")
			coretest.OnLoop(t, l, func() {})
			timer := mustSchedule(t, l, 50*time.Microsecond, func() {})
			coretest.Await(t, "a timer", timer.Done())
		}
		close(stop)
		<-over
	})
}

// Close while a goroutine is parked, which the contract does not ask for: Wait
// returns an error instead of sleeping on.
func TestNetpollPollerClosedWhileWaiting(t *testing.T) {
	for range 100 {
		p, err := core.NetpollPoller(nil, 0, core.RealCalls())
		coretest.Must(t, err)
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
		coretest.Must(t, p.Close())
		p.Wake()
		select {
		case err := <-result:
			if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("Wait after Close: %v, want that it is closed", err)
			}
		case <-time.After(coretest.HangGuard):
			t.Fatal("Wait sleeps on after Close")
		}
	}
}

// More wake-ups than the eventfd can count: other code has filled it (netty #9192).
func TestG12AFullEventCounterIsRead(t *testing.T) {
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
	coretest.Must(t, err)
	for range 3 {
		_, err = unix.Write(event, []byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
		coretest.Must(t, err)
		coretest.Must(t, p.Wait(core.Deadline{})) // that write is an event
		<-asleep
		result := make(chan error, 1)
		go func() { result <- p.Wait(core.Deadline{}) }()
		coretest.Await(t, "sleep to be announced", asleep)
		woken := make(chan struct{})
		go func() { p.Wake(); close(woken) }()
		coretest.Await(t, "Wake, with no room in the counter", woken)
		select {
		case err := <-result:
			coretest.Must(t, err)
		case <-time.After(coretest.HangGuard):
			t.Fatal("the wake-up was lost, for the counter was full")
		}
		var b [8]byte
		_, _ = unix.Read(event, b[:])
	}
	coretest.Must(t, p.Close())
}

// A clock may be late, and the loop does not wait for it: tasks run meanwhile. Only
// the end waits, so that nothing is left running (G24).
func TestALateClockDoesNotStopTheLoop(t *testing.T) {
	for _, e := range epolls {
		t.Run(e.name, func(t *testing.T) {
			clock := lateClock{due: make(chan struct{}, 100), release: make(chan struct{})}
			p, err := e.make(clock, core.RealCalls())
			coretest.Must(t, err)
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
				coretest.OnLoop(t, l, func() {})
				coretest.Await(t, "the timer, with the wake-up of a task", soon.Done())
				coretest.OnLoop(t, l, func() {})
			}
		})
	}
}
