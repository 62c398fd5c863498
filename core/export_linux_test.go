package core

import (
	"time"

	"eventide/core/internal/epoll"
)

// SystemCalls is the seam to the kernel, for tests that make it refuse. The
// functions may be replaced before the poller is made.
type SystemCalls = epoll.Calls

// RealCalls returns the system calls that the pollers use without injection.
func RealCalls() SystemCalls { return epoll.System() }

// NetpollPoller returns the default poller of event loops over these calls.
func NetpollPoller(clock Clock, spin time.Duration, s SystemCalls) (IOPoller, error) {
	p, err := epoll.NewNetpoll(clock, spin, s)
	if err != nil {
		return nil, err // not p: an interface with a nil pointer in it is not nil
	}
	return p, nil
}

// BlockingPoller returns the one of WithBlockingEpoll.
func BlockingPoller(clock Clock, s SystemCalls) (IOPoller, error) {
	p, err := epoll.NewBlocking(clock, s)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// EpollOf returns the number of the epoll descriptor of an epoll poller.
func EpollOf(p IOPoller) int { return p.(interface{ FD() int }).FD() }

// PollerOf returns the poller of a loop.
func PollerOf(l *EventLoop) IOPoller { return l.io.poller }

// Watched returns how many descriptors the loop's epoll poller believes to watch.
func Watched(l *EventLoop) int { return l.io.poller.(interface{ Watched() int }).Watched() }

// SetFirstEvents makes the first look of an epoll poller bring at most n events.
// It is to be called before the poller is used.
func SetFirstEvents(p IOPoller, n int) { p.(interface{ SetFirstBatch(int) }).SetFirstBatch(n) }

// The bounds that tests count up to.
const (
	BusyTurns    = busyTurns
	MaxPremature = maxPremature
	TurnTasks    = turnTasks
	MostEvents   = epoll.MostEvents
)
