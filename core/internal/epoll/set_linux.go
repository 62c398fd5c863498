package epoll

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"eventide/core/internal/poll"

	"golang.org/x/sys/unix"
)

// set is an epoll instance with a timerfd in it, which both pollers embed.
type set struct {
	// Set once.
	calls Calls
	clock poll.Clock // nil: the system's clock, with a timerfd as the timer
	wake  func()     // the poller's Wake, which alarms of another clock call

	// Written by Reopen, with the executor's lock held.
	fd int

	// Atomic. Incremented before a descriptor is added: see NetpollPoller.
	watched atomic.Int32 // descriptors in the set, without the poller's own

	// Loop only.
	timer  int          // the timerfd; -1 if there is none
	setTo  time.Time    // the deadline for which timer or alarm was last set; may have passed. Zero: the timerfd has expired
	alarm  *wakeAlarm   // the pending alarm of another clock
	lag    poll.Lag     // of that clock
	late   []*wakeAlarm // alarms that could not be stopped and may still run
	buf    []unix.EpollEvent
	events []poll.Event
}

// Tokens of the poller's own descriptors. The tokens of registrations begin at 1<<32.
const (
	ownToken   = 0
	timerToken = 1
)

const (
	firstEvents = 16
	MostEvents  = 1024 // the most events that one poll collects, and so the most handlers that one turn calls
)

// openSet makes an epoll instance. The caller must close its descriptor.
func openSet(k Calls, clock poll.Clock) (*set, error) {
	fd, err := k.Create()
	if err != nil {
		return nil, callError("epoll_create1", "make an epoll set", err)
	}
	return &set{calls: k, clock: clock, fd: fd, timer: -1}, nil
}

// replaceBy replaces the epoll instance by that of next, which watches nothing. The caller has
// closed the old descriptors, if there are any.
func (s *set) replaceBy(next *set) {
	s.fd, s.timer, s.setTo, s.events = next.fd, next.timer, time.Time{}, s.events[:0]
	s.watched.Store(0)
}

// openTimer makes a timerfd and adds it to the set. A timer of the Go runtime would be
// late by half a millisecond, because the runtime's poller waits in whole milliseconds; a
// timerfd is late by tens of microseconds.
func (s *set) openTimer() error {
	if s.clock != nil {
		return nil
	}
	fd, err := s.calls.CreateTimer()
	if err != nil {
		return callError("timerfd_create", "make the loop's timer", err)
	}
	// Edge-triggered: every expiry is an event, and the timerfd need not be read.
	if err := s.control(unix.EPOLL_CTL_ADD, fd, unix.EPOLLIN|unix.EPOLLET, timerToken); err != nil {
		_ = unix.Close(fd)
		return err
	}
	s.timer, s.setTo = fd, time.Time{}
	return nil
}

// closeTimer closes the timerfd and stops the alarm. A call of the alarm that has begun
// is left to awaitAlarms.
func (s *set) closeTimer() {
	if s.timer >= 0 {
		_ = unix.Close(s.timer)
		s.timer = -1
	}
	s.StopAlarm()
}

// StopAlarm implements poll.AlarmStopper. It does not wait for a call of the alarm that has
// begun, because a late clock would then block the loop.
func (s *set) StopAlarm() (begun bool) {
	s.late = slices.DeleteFunc(s.late, (*wakeAlarm).isOver)
	if s.alarm != nil && !s.alarm.alarm.Stop() {
		s.late = append(s.late, s.alarm)
		begun = true
	}
	s.alarm = nil
	return begun
}

// awaitAlarms returns when no call of an alarm is running or pending (G24).
func (s *set) awaitAlarms() {
	for _, a := range s.late {
		<-a.over
	}
}

func (s *set) control(op, fd int, events uint32, token uint64) error {
	ev := unix.EpollEvent{Events: events, Fd: int32(token), Pad: int32(token >> 32)}
	if err := s.calls.Control(s.fd, op, fd, &ev); err != nil {
		return controlError(op, fd, err)
	}
	return nil
}

// Add implements core.IOPoller.
func (s *set) Add(fd int, interest poll.Interest, token uint64) error {
	s.watched.Add(1)
	err := s.control(unix.EPOLL_CTL_ADD, fd, epollEvents(interest), token)
	if err != nil {
		s.watched.Add(-1)
	}
	return err
}

// Modify implements core.IOPoller.
func (s *set) Modify(fd int, interest poll.Interest, token uint64) error {
	return s.control(unix.EPOLL_CTL_MOD, fd, epollEvents(interest), token)
}

// Remove implements core.IOPoller.
func (s *set) Remove(fd int) error {
	err := s.control(unix.EPOLL_CTL_DEL, fd, 0, 0)
	s.watched.Add(-1)
	return err
}

// Forgot implements poll.Forgetter.
func (s *set) Forgot() { s.watched.Add(-1) }

func epollEvents(i poll.Interest) uint32 {
	var events uint32
	if i&poll.Readable != 0 {
		events |= unix.EPOLLIN | unix.EPOLLRDHUP
	}
	if i&poll.Writable != 0 {
		events |= unix.EPOLLOUT
	}
	if i&poll.EdgeTriggered != 0 {
		events |= unix.EPOLLET
	}
	// Only with edges: level-triggered urgent data that nobody reads would be reported
	// for ever.
	if i&poll.EdgeTriggered != 0 && i&poll.Readable != 0 {
		events |= unix.EPOLLPRI
	}
	return events
}

func epollReadiness(events uint32) poll.Readiness {
	r := poll.NewReadiness(
		events&(unix.EPOLLIN|unix.EPOLLRDHUP) != 0,
		events&unix.EPOLLOUT != 0,
		events&(unix.EPOLLRDHUP|unix.EPOLLHUP) != 0,
		events&unix.EPOLLERR != 0)
	if events&unix.EPOLLPRI != 0 {
		r = r.WithUrgent()
	}
	return r
}

// FD returns the number of the epoll descriptor.
func (s *set) FD() int { return s.fd }

// Watched returns the number of descriptors that were added and not removed, without the
// poller's own.
func (s *set) Watched() int { return int(s.watched.Load()) }

// SetFirstBatch makes the first poll collect at most n events. It must be called before
// the first Wait or Poll.
func (s *set) SetFirstBatch(n int) { s.buf = make([]unix.EpollEvent, n) }

// Ready implements core.IOPoller.
func (s *set) Ready() []poll.Event { return s.events }

// collect polls the kernel without blocking, and reports whether there is an event; an expiry of
// the timer counts. Loop only.
func (s *set) collect() (bool, error) {
	if s.buf == nil {
		s.buf = make([]unix.EpollEvent, firstEvents)
	}
	n, err := s.calls.Poll(s.fd, s.buf)
	return s.take(n, err)
}

// take converts the n events in buf.
func (s *set) take(n int, err error) (bool, error) {
	s.events = s.events[:0]
	if err != nil {
		return false, callError("epoll_wait", fmt.Sprintf("poll epoll set %d", s.fd), err)
	}
	for i := range s.buf[:n] {
		ev := &s.buf[i]
		token := uint64(uint32(ev.Pad))<<32 | uint64(uint32(ev.Fd))
		switch token {
		case ownToken:
		case timerToken:
			s.setTo = time.Time{}
		default:
			s.events = append(s.events, poll.Event{Token: token, Readiness: epollReadiness(ev.Events)})
		}
	}
	if n == len(s.buf) && n < MostEvents {
		s.buf = make([]unix.EpollEvent, 4*n) // the next poll collects the rest
	}
	return n > 0, nil
}

// arm ensures that an event comes at until or earlier. It returns false if until has
// passed. A timer that is set too early costs one spurious return, which is cheaper than
// setting it again for each sleep. Loop only.
func (s *set) arm(until poll.Deadline) bool {
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
	if s.calls.SetTimer(s.timer, d) != nil {
		return false // return at once: busy is better than late, and timerfd_settime cannot fail on our own timerfd
	}
	s.setTo = until
	return true
}

// armAlarm is arm for a clock other than the system's, which may be behind its alarms:
// see poll.Lag.
func (s *set) armAlarm(until poll.Deadline) bool {
	wentOff := s.StopAlarm()
	now := s.clock.Now()
	d := until.Sub(now)
	if d <= 0 {
		return false
	}
	d = s.lag.Delay(d, wentOff && s.setTo.After(now))
	s.alarm, s.setTo = newWakeAlarm(s.clock, d, s.wake), until
	return true
}

// wakeAlarm is an alarm that wakes a poller. over is closed at the end of its call.
type wakeAlarm struct {
	alarm poll.Alarm
	over  chan struct{}
}

func newWakeAlarm(clock poll.Clock, d time.Duration, wake func()) *wakeAlarm {
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
