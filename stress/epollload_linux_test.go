package stress

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"eventide/core"

	"golang.org/x/sys/unix"
)

// epollKinds are the event loops that the tests take in turn.
var epollKinds = [...]struct {
	name string
	opts []core.Option
}{
	{"parked", []core.Option{core.WithSpin(0)}},
	{"spinning", nil},
	{"blocking", []core.Option{core.WithBlockingEpoll()}},
}

func newEpollLoop(kind int, opts ...core.Option) (*core.EventLoop, error) {
	return core.NewEventLoop(append(opts, epollKinds[kind%len(epollKinds)].opts...)...)
}

// epollSubject is an event loop with descriptors that are always ready, so that it
// has readiness to handle through all of a round.
type epollSubject struct {
	*core.EventLoop
	fds   [3]int
	calls int64 // loop only, read after done

	told    atomic.Int32 // registrations that heard of their end
	foreign atomic.Int32 // those that heard something else than a shutdown
}

func newEpollSubject(kind int, opts ...core.Option) (*epollSubject, error) {
	l, err := newEpollLoop(kind, opts...)
	if err != nil {
		return nil, err
	}
	s := &epollSubject{EventLoop: l}
	for i := range s.fds {
		if s.fds[i], err = unix.Eventfd(1, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
			return nil, os.NewSyscallError("eventfd", err)
		}
		r, err := l.Register(s.fds[i], core.Readable, func(core.Readiness) { s.calls++ })
		if err != nil {
			return nil, err
		}
		r.OnClose(func(cause error) {
			s.told.Add(1)
			if !errors.Is(cause, core.ErrShutdown) && !errors.Is(cause, core.ErrShutdownTimeout) {
				s.foreign.Add(1)
			}
		})
	}
	return s, nil
}

// judge closes the descriptors and returns what was wrong.
func (s *epollSubject) judge() (problems []string) {
	for _, fd := range s.fds {
		_ = unix.Close(fd)
	}
	if told, foreign := s.told.Load(), s.foreign.Load(); int(told) != len(s.fds) || foreign > 0 {
		problems = append(problems, fmt.Sprintf("G22: %d of %d registrations heard of their end, %d of something else than the shutdown", told, len(s.fds), foreign))
	}
	if n := s.Stats().Registrations; n != 0 {
		problems = append(problems, fmt.Sprintf("G24: %d registrations are left", n))
	}
	if stats := s.Stats(); stats.Wakes > stats.Parks+stats.Spins {
		problems = append(problems, fmt.Sprintf("G12: %d wakes for %d sleeps", stats.Wakes, stats.Parks+stats.Spins))
	}
	return problems
}

// TestEpollShutdownsUnderLoad is TestShutdownsUnderLoad on event loops of each kind,
// with descriptors that are ready all the time: 64 producers at full speed through
// a thousand shutdowns, every one balanced to the single task.
func TestEpollShutdownsUnderLoad(t *testing.T) {
	rounds := loadRounds
	if testing.Short() {
		rounds = loadRoundsShort
	}
	if err := useEpollLoop(1); err != nil { // the runtime opens its own poller, for good
		t.Fatal(err)
	}
	before := openDescriptors(t)
	sum := newTotals()
	calls := int64(0)
	for i := range rounds {
		p := planOf(i)
		var s *epollSubject
		r, err := newRound(p, func(opts ...core.Option) (made subject, err error) {
			s, err = newEpollSubject(i, opts...)
			return s, err
		})
		if err != nil {
			t.Fatalf("%s: %v", describe(i, p), err)
		}
		b, err := r.run()
		if err != nil {
			t.Fatalf("%s: %v", describe(i, p), err)
		}
		calls += s.calls
		sum.add(p, b)
		if problems := append(b.problems, s.judge()...); len(problems) > 0 {
			t.Fatalf("%s, %s:\n  %s\nagain: go test ./stress -run '^%s$'", describe(i, p), epollKinds[i%len(epollKinds)].name, strings.Join(problems, "\n  "), t.Name())
		}
	}
	fmt.Fprintf(t.Output(), "%v%d calls of handlers\n", sum, calls)
	if calls == 0 {
		t.Error("not exercised: no handler was called")
	}
	if after := openDescriptors(t); after > before {
		t.Errorf("G24: %d descriptors are open, want %d as before", after, before)
	}
}

// openDescriptors counts, without the one it needs itself.
func openDescriptors(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries) - 1
}

// TestEpollNothingLeaks makes event loops of each kind, uses them and shuts them
// down, and finds the process as it was: goroutines, memory and descriptors (G24).
func TestEpollNothingLeaks(t *testing.T) {
	n := leakExecutors
	if testing.Short() {
		n = leakExecutorsShort
	}
	if err := useEpollLoop(1); err != nil { // the runtime opens its own poller, for good
		t.Fatal(err)
	}
	before := openDescriptors(t)
	used, err := leaked(n, hangGuard, useEpollLoop)
	t.Log(used)
	if err != nil {
		t.Errorf("G24: %v", err)
	}
	if after := openDescriptors(t); after > before {
		t.Errorf("G24: %d descriptors are open after %d loops, want %d as before", after, n, before)
	}
}

// useEpollLoop is one life: a descriptor, tasks, a timer, and each way to end in
// turn, one of them never started.
func useEpollLoop(i int) (err error) {
	l, err := newEpollLoop(i)
	if err != nil {
		return err
	}
	fd, err := unix.Eventfd(1, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("eventfd", err)
	}
	defer unix.Close(fd)
	if i%4 > 0 {
		heard := make(chan struct{})
		var r *core.Registration
		registered := make(chan struct{})
		if r, err = l.Register(fd, core.Readable|core.EdgeTriggered, func(core.Readiness) {
			<-registered
			if i%3 == 0 {
				_ = r.Close()
			}
			close(heard)
		}); err != nil {
			return err
		}
		close(registered)
		r.OnClose(func(error) {})
		<-heard
		if _, err := l.Schedule(longTime, nothing); err != nil {
			return err
		}
		core.Submit(l, func() (int, error) { return i, nil }).OnDone(func(int, error) {})
	}
	if i%2 == 0 {
		_, err = l.ShutdownGracefully(0, longTime)
	} else {
		l.Shutdown()
	}
	if err == nil && !ended(l) {
		err = fmt.Errorf("loop %d never terminated", i)
	}
	return err
}
