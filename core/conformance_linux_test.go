package core_test

import (
	"math"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"

	"golang.org/x/sys/unix"
)

// epolls are the pollers of event loops, as a user gets them and with injected system calls.
var epolls = []struct {
	name string
	make func(core.Clock, core.SystemCalls) (core.IOPoller, error)
}{
	{"parked", func(c core.Clock, s core.SystemCalls) (core.IOPoller, error) { return core.NetpollPoller(c, 0, s) }},
	{"spinning", func(c core.Clock, s core.SystemCalls) (core.IOPoller, error) {
		return core.NetpollPoller(c, core.DefaultSpin, s)
	}},
	{"blocking", core.BlockingPoller},
}

// The epoll pollers pass the same cases as the model, also with a user's clock, and
// with polls that return one event each.
func TestEpollPollersConform(t *testing.T) {
	coretest.CheckLeaks(t)
	for _, e := range epolls {
		for _, v := range []struct {
			name  string
			clock core.Clock
			first int
		}{{"", nil, 16}, {", a clock given", systemClock{}, 16}, {", one event per look", nil, 1}} {
			for _, c := range pollertest.Cases() {
				t.Run(e.name+v.name+"/"+c.Name, func(t *testing.T) {
					p, err := e.make(v.clock, core.RealCalls())
					if err != nil {
						t.Fatal(err)
					}
					core.SetFirstEvents(p, v.first)
					s := &pollertest.Subject{Poller: p, Clock: v.clock, Open: openSource, Sources: sourcesAllowed(t)}
					if err := c.Run(s); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// systemClock is the system's clock as a user's Clock.
type systemClock struct{}

func (systemClock) Now() time.Time                                 { return time.Now() }
func (systemClock) AfterFunc(d time.Duration, f func()) core.Alarm { return time.AfterFunc(d, f) }

// source is a connection of two sockets. The registered end is fd, which handlers
// read on their loop.
type source struct {
	fd, peer int
	closed   atomic.Bool
}

// sourcesAllowed returns how many sources, of two descriptors each, the process can open
// besides its open descriptors and those of a case.
func sourcesAllowed(t *testing.T) int {
	var limit unix.Rlimit
	coretest.Must(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	const own = 32
	room := int(min(limit.Cur, math.MaxInt32)) - len(coretest.Descriptors(t)) - own
	return max(1, room/2)
}

func openSource() (pollertest.Source, error) {
	s, err := newSource()
	return s, err
}

func newSource() (*source, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	return &source{fd: pair[0], peer: pair[1]}, nil
}

// mustSource returns a source that is closed at the end of the test.
func mustSource(t testing.TB) *source {
	t.Helper()
	s, err := newSource()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func (s *source) FD() int { return s.fd }

func (s *source) Input() error {
	_, err := unix.Write(s.peer, []byte("x"))
	return err
}

func (s *source) Drain() error {
	return untilAgain(func(b []byte) (int, error) { return unix.Read(s.fd, b) })
}
func (s *source) Fill() error {
	return untilAgain(func(b []byte) (int, error) { return unix.Write(s.fd, b) })
}
func (s *source) Room() error {
	return untilAgain(func(b []byte) (int, error) { return unix.Read(s.peer, b) })
}

// untilAgain calls f until that would block, or there is no more.
func untilAgain(f func([]byte) (int, error)) error {
	buf := make([]byte, 64<<10)
	for {
		n, err := f(buf)
		if err == unix.EAGAIN || err == nil && n == 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *source) HangUp() error {
	if s.peer < 0 {
		return nil
	}
	err := unix.Close(s.peer)
	s.peer = -1
	return err
}

func (s *source) Close() error {
	_ = s.HangUp()
	if s.closed.Swap(true) {
		return nil
	}
	return unix.Close(s.fd)
}
