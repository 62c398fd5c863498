package core

import (
	"time"

	"golang.org/x/sys/unix"
)

// SystemCalls is the seam to the kernel, for tests that make it refuse. The
// functions may be replaced before the poller is made.
type SystemCalls struct {
	Create      func() (int, error)
	Control     func(epfd, op, fd int, ev *unix.EpollEvent) error
	Poll        func(epfd int, events []unix.EpollEvent) (int, error)
	Wait        func(epfd int, events []unix.EpollEvent) (int, error)
	CreateTimer func() (int, error)
	SetTimer    func(fd int, d time.Duration) error
	CreateEvent func() (int, error)
}

// RealCalls returns what the pollers use when nothing is injected.
func RealCalls() SystemCalls {
	k := systemKernel
	return SystemCalls{k.create, k.control, k.poll, k.wait, k.createTimer, k.setTimer, k.createEvent}
}

func (s SystemCalls) kernel() kernel {
	return kernel{s.Create, s.Control, s.Poll, s.Wait, s.CreateTimer, s.SetTimer, s.CreateEvent}
}

// ParkedPoller returns the default poller of event loops over these calls.
func ParkedPoller(clock Clock, spin time.Duration, s SystemCalls) (IOPoller, error) {
	p, err := newParkedPoller(clock, spin, s.kernel())
	if err != nil {
		return nil, err // not p: an interface with a nil pointer in it is not nil
	}
	return p, nil
}

// BlockingPoller returns the one of WithBlockingEpoll.
func BlockingPoller(clock Clock, s SystemCalls) (IOPoller, error) {
	p, err := newBlockingPoller(clock, s.kernel())
	if err != nil {
		return nil, err
	}
	return p, nil
}

// EpollOf returns the number of the epoll descriptor of an epoll poller.
func EpollOf(p IOPoller) int {
	switch p := p.(type) {
	case *parkedPoller:
		return p.fd
	case *blockingPoller:
		return p.fd
	}
	return -1
}

// PollerOf returns the poller of a loop.
func PollerOf(l *EventLoop) IOPoller { return l.io.poller }

// Watched returns how many descriptors the loop's epoll poller believes to watch.
func Watched(l *EventLoop) int {
	switch p := l.io.poller.(type) {
	case *parkedPoller:
		return int(p.watched.Load())
	case *blockingPoller:
		return int(p.watched.Load())
	}
	return -1
}

// SetFirstEvents makes the first look of an epoll poller bring at most n events.
// It is to be called before the poller is used.
func SetFirstEvents(p IOPoller, n int) {
	buf := make([]unix.EpollEvent, n)
	switch p := p.(type) {
	case *parkedPoller:
		p.buf = buf
	case *blockingPoller:
		p.buf = buf
	}
}

// The bounds that tests count up to.
const (
	BusyTurns    = busyTurns
	MaxPremature = maxPremature
	TurnTasks    = turnTasks
	MostEvents   = mostEvents
)
