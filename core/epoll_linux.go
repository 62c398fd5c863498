package core

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// newEpollPoller returns the poller that the options ask for.
func newEpollPoller(cfg config) (IOPoller, error) {
	if cfg.blocking {
		return newBlockingPoller(cfg.clock, systemKernel)
	}
	return newParkedPoller(cfg.clock, cfg.spin, systemKernel)
}

// epollSet is an epoll instance with a timerfd in it, and what the two epoll
// pollers have in common: they differ in how they sleep and are woken.
type epollSet struct {
	// Set once.
	kernel kernel
	clock  Clock  // nil: the system's, and the timer is a timerfd
	wake   func() // the poller's Wake, for the timer of another clock

	// Written by Reopen, with the executor's lock held.
	fd int

	// Atomic. Incremented before a descriptor is added: see parkedPoller.
	watched atomic.Int32 // descriptors in the set, those of our own excepted

	// Loop only.
	timer  int          // the timerfd; -1 if there is none
	setTo  time.Time    // the deadline that it, or alarm, was last set for; may have passed. Zero: the timerfd has gone off
	alarm  *wakeAlarm   // the timer of another clock
	lag    clockLag     // of that clock
	late   []*wakeAlarm // those that could not be stopped any more, and may still run
	buf    []unix.EpollEvent
	events []PollEvent
}

// Tokens of descriptors of the poller's own. Those of registrations begin at 1<<32.
const (
	ownToken   = 0
	timerToken = 1
)

const (
	firstEvents = 16
	mostEvents  = 1024 // in one look: what they bring is one turn's work
)

// openSet makes an epoll instance. The descriptor is the caller's to close.
func openSet(k kernel, clock Clock) (*epollSet, error) {
	fd, err := k.create()
	if err != nil {
		return nil, callError("epoll_create1", "make an epoll set", err)
	}
	return &epollSet{kernel: k, clock: clock, fd: fd, timer: -1}, nil
}

// replaceBy takes over a new set that watches nothing. The old descriptor is the
// caller's to close.
func (s *epollSet) replaceBy(next *epollSet) {
	s.closeTimer()
	s.fd, s.timer, s.setTo, s.events = next.fd, next.timer, time.Time{}, s.events[:0]
	s.watched.Store(0)
}

// openTimer makes the timerfd and puts it into the set. A timer of the runtime's
// would do, but its poller waits in whole milliseconds: it is late by a half of one
// where this is late by tens of microseconds.
func (s *epollSet) openTimer() error {
	s.timer = -1
	if s.clock != nil {
		return nil
	}
	fd, err := s.kernel.createTimer()
	if err != nil {
		return callError("timerfd_create", "make the loop's timer", err)
	}
	// Edge-triggered: every expiry is an event, and nobody has to read it.
	if err := s.control(unix.EPOLL_CTL_ADD, fd, unix.EPOLLIN|unix.EPOLLET, timerToken); err != nil {
		_ = unix.Close(fd)
		return err
	}
	s.timer, s.setTo = fd, time.Time{}
	return nil
}

// closeTimer also ends the timer of another clock. Close waits for it, too.
func (s *epollSet) closeTimer() {
	if s.timer >= 0 {
		_ = unix.Close(s.timer)
		s.timer = -1
	}
	s.stopAlarm()
}

// stopAlarm ends the timer of another clock. It does not wait for a function that
// has begun: a clock may be late, and the loop would stand still for as long. It
// reports whether one has.
func (s *epollSet) stopAlarm() (begun bool) {
	s.late = slices.DeleteFunc(s.late, (*wakeAlarm).isOver)
	if s.alarm != nil && !s.alarm.alarm.Stop() {
		s.late = append(s.late, s.alarm)
		begun = true
	}
	s.alarm = nil
	return begun
}

// awaitAlarms returns when no function of an alarm runs, or will (G24).
func (s *epollSet) awaitAlarms() {
	for _, a := range s.late {
		<-a.over
	}
}

func (s *epollSet) control(op, fd int, events uint32, token uint64) error {
	ev := unix.EpollEvent{Events: events, Fd: int32(token), Pad: int32(token >> 32)}
	return controlError(op, fd, s.kernel.control(s.fd, op, fd, &ev))
}

// Add is IOPoller's.
func (s *epollSet) Add(fd int, interest Interest, token uint64) error {
	s.watched.Add(1)
	err := s.control(unix.EPOLL_CTL_ADD, fd, epollEvents(interest), token)
	if err != nil {
		s.watched.Add(-1)
	}
	return err
}

// Modify is IOPoller's.
func (s *epollSet) Modify(fd int, interest Interest, token uint64) error {
	return s.control(unix.EPOLL_CTL_MOD, fd, epollEvents(interest), token)
}

// Remove is IOPoller's.
func (s *epollSet) Remove(fd int) error {
	err := s.control(unix.EPOLL_CTL_DEL, fd, 0, 0)
	s.watched.Add(-1)
	return err
}

// forgot is forgetter's.
func (s *epollSet) forgot() { s.watched.Add(-1) }

func epollEvents(i Interest) uint32 {
	var events uint32
	if i&Readable != 0 {
		events |= unix.EPOLLIN | unix.EPOLLRDHUP
	}
	if i&Writable != 0 {
		events |= unix.EPOLLOUT
	}
	if i&EdgeTriggered != 0 {
		events |= unix.EPOLLET
	}
	// Not with levels: urgent data that nobody takes would be reported for ever.
	if i&EdgeTriggered != 0 && i&Readable != 0 {
		events |= unix.EPOLLPRI
	}
	return events
}

func epollReadiness(events uint32) Readiness {
	r := NewReadiness(
		events&(unix.EPOLLIN|unix.EPOLLRDHUP) != 0,
		events&unix.EPOLLOUT != 0,
		events&(unix.EPOLLRDHUP|unix.EPOLLHUP) != 0,
		events&unix.EPOLLERR != 0)
	if events&unix.EPOLLPRI != 0 {
		r = r.WithUrgent()
	}
	return r
}

// Ready is IOPoller's.
func (s *epollSet) Ready() []PollEvent { return s.events }

// look asks the kernel without blocking and reports whether there is anything, a
// timer included. Loop only.
func (s *epollSet) look() (bool, error) {
	if s.buf == nil {
		s.buf = make([]unix.EpollEvent, firstEvents)
	}
	n, err := s.kernel.poll(s.fd, s.buf)
	return s.take(n, err)
}

// take converts what the kernel has put into buf.
func (s *epollSet) take(n int, err error) (bool, error) {
	s.events = s.events[:0]
	if err != nil {
		return false, callError("epoll_wait", fmt.Sprintf("look at epoll set %d", s.fd), err)
	}
	for i := range s.buf[:n] {
		ev := &s.buf[i]
		token := uint64(uint32(ev.Pad))<<32 | uint64(uint32(ev.Fd))
		switch token {
		case ownToken:
		case timerToken:
			s.setTo = time.Time{}
		default:
			s.events = append(s.events, PollEvent{Token: token, Readiness: epollReadiness(ev.Events)})
		}
	}
	if n == len(s.buf) && n < mostEvents {
		s.buf = make([]unix.EpollEvent, 4*n) // what is left comes with the next look
	}
	return n > 0, nil
}

// arm makes sure that there is an event at until or earlier, and reports false if
// until has passed. A setting that is too early costs one look for nothing, which
// is cheaper than to move it each time the loop falls asleep. Loop only.
func (s *epollSet) arm(until Deadline) bool {
	if until.IsZero() {
		return true
	}
	if s.clock != nil {
		return s.armAlarm(until)
	}
	now := time.Now()
	d := until.Sub(now)
	if d <= 0 {
		return false
	}
	if !s.setTo.IsZero() && s.setTo.After(now) && !s.setTo.After(until) {
		return true
	}
	if s.kernel.setTimer(s.timer, d) != nil {
		return false // look again at once: late is worse than busy, and it cannot happen to a timerfd of ours
	}
	s.setTo = until
	return true
}

// armAlarm is arm for another clock than the system's, which may be behind its alarms:
// see clockLag.
func (s *epollSet) armAlarm(until Deadline) bool {
	wentOff := s.stopAlarm()
	now := s.clock.Now()
	d := until.Sub(now)
	if d <= 0 {
		return false
	}
	d = s.lag.delay(d, wentOff && s.setTo.After(now))
	s.alarm, s.setTo = newWakeAlarm(s.clock, d, s.wake), until
	return true
}

// wakeAlarm is an alarm that wakes a poller, and can be waited for.
type wakeAlarm struct {
	alarm Alarm
	over  chan struct{}
}

func newWakeAlarm(clock Clock, d time.Duration, wake func()) *wakeAlarm {
	a := &wakeAlarm{over: make(chan struct{})}
	a.alarm = clock.AfterFunc(d, func() {
		defer close(a.over)
		wake()
	})
	return a
}

func (a *wakeAlarm) isOver() bool {
	select {
	case <-a.over:
		return true
	default:
		return false
	}
}
