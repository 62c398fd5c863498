package epoll

import (
	"encoding/binary"
	"errors"
	"flag"
	"slices"
	"testing"
	"time"

	"eventide/core/internal/poll"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// sleeper has the methods of both pollers that the property calls.
type sleeper interface {
	Add(fd int, interest poll.Interest, token uint64) error
	Wait(until poll.Deadline) error
	Wake()
	Poll() error
	Polled() bool
	Ready() []poll.Event
	Parks() int64
	Spins() int64
	Close() error
	lateAlarms() int
	resets() bool
}

// lateAlarms returns how many alarms the poller keeps because their calls may still run.
func (s *set) lateAlarms() int { return len(s.late) }

// resets reports whether the next park resets the deadline of the file.
func (p *NetpollPoller) resets() bool { return p.dirty }

// resets is false: a blocking poller has no file that has a deadline.
func (p *BlockingPoller) resets() bool { return false }

// TestPropSleeps compares the sleeps of both pollers with a specification. A poller sets its timer, or the alarm of its clock,
// for a deadline in the future only, and leaves a timer that fires earlier as it is (G12). A sleep that cannot have a timer
// returns at once. A wake-up that comes first ends one Wait, without a poll, poll.BusyTurns times in a row at most (G13). One that
// comes while the poller sleeps ends this sleep only, also if an event has ended it already.
// Wait returns an error of a poll once, and the next poll returns the event. A poller with a clock makes no timer of the kernel,
// and keeps one alarm at most whose call has ended. Only the first park after a sleep that a wake-up has ended resets the
// deadline of the file: this takes a lock of the runtime. Of several calls of Wake in one sleep of a blocking poller only the
// first one writes to the eventfd, and a Wake that comes at another time does not (G12).
func TestPropSleeps(t *testing.T) {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := newSleeps(t)
		defer s.close(t)
		for range rapid.IntRange(1, 25).Draw(t, "sleeps") {
			if rapid.IntRange(0, 9).Draw(t, "busy") == 9 { // as many returns without a poll as there may be, nearly
				for range poll.BusyTurns - rapid.IntRange(0, 1).Draw(t, "fewer") {
					s.wait(t, "wake", "", false, 0)
				}
			}
			s.sleep(t)
		}
	})
}

// sleeps is a poller with one descriptor, and the state of its specification.
type sleeps struct {
	p        sleeper
	blocking bool
	clock    *handClock // nil: the system's clock
	fd       int        // the descriptor that is always ready
	event    int        // the eventfd of a blocking poller

	timers   []time.Duration // set in this sleep
	timerFD  int
	fails    string    // the call that fails: "poll" or "timer"
	wakes    bool      // a wake-up comes in a poll
	setTo    time.Time // the deadline of the pending timer; zero: there is none
	woken    bool      // a wake-up has not ended a Wait yet
	resets   bool      // a wake-up came in the last park
	unpolled int       // returns in a row without a poll
	parks    int64     // calls of Wait that parked
	spins    int64     // calls of Wait that did not
}

const readyToken = 7 << 32

func newSleeps(t *rapid.T) *sleeps {
	s := &sleeps{timerFD: -1, blocking: rapid.Bool().Draw(t, "blocking")}
	calls := System()
	failing := func(call func(int, []unix.EpollEvent) (int, error)) func(int, []unix.EpollEvent) (int, error) {
		return func(fd int, events []unix.EpollEvent) (int, error) {
			if s.wakes {
				s.p.Wake()
				s.p.Wake()
			}
			if s.fails == "poll" {
				return 0, errOfPoll
			}
			return call(fd, events)
		}
	}
	calls.Poll, calls.Wait = failing(calls.Poll), failing(calls.Wait)
	set := calls.SetTimer
	calls.SetTimer = func(fd int, d time.Duration) error {
		s.timers, s.timerFD = append(s.timers, d), fd
		if s.fails == "timer" {
			return errOfPoll
		}
		return set(fd, d)
	}
	created, create := 0, calls.CreateTimer
	calls.CreateTimer = func() (int, error) { created++; return create() }
	createEvent := calls.CreateEvent
	calls.CreateEvent = func() (fd int, err error) {
		s.event, err = createEvent()
		return s.event, errors.Join(err, unix.SetNonblock(s.event, true)) // for writes
	}
	want := 1
	var clock poll.Clock
	if rapid.SampledFrom([]bool{false, false, true}).Draw(t, "a clock") {
		s.clock = &handClock{now: time.Now()}
		clock = s.clock
		want = 0
	}
	var err error
	s.fd, err = unix.Eventfd(1, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	noError(t, err)
	if s.blocking {
		s.p, err = NewBlocking(clock, calls)
	} else {
		s.p, err = NewNetpoll(clock, 0, calls)
	}
	noError(t, err)
	if created != want {
		t.Fatalf("%d timers of the kernel, want %d", created, want)
	}
	noError(t, s.p.Add(s.fd, poll.Readable, readyToken))
	return s
}

var errOfPoll = errors.New("a call of the test")

func noError(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *sleeps) close(t *rapid.T) {
	noError(t, s.p.Close())
	noError(t, unix.Close(s.fd))
	if s.clock != nil && s.clock.pending() > 0 {
		t.Fatalf("%d alarms are left after Close, want none", s.clock.pending())
	}
}

// sleep makes one call of Wait. Before it, it may make a wake-up, or let the timer or alarm fire.
func (s *sleeps) sleep(t *rapid.T) {
	before := rapid.SampledFrom([]string{"", "", "wake", "wake", "wake", "ring"}).Draw(t, "before")
	fails := rapid.SampledFrom([]string{"", "", "", "poll", "timer"}).Draw(t, "the call that fails")
	wakes := rapid.IntRange(0, 3).Draw(t, "woken in a poll") == 3
	s.wait(t, before, fails, wakes, rapid.SampledFrom([]int{0, 1, 2, 3, -1}).Draw(t, "hours until the deadline"))
}

// wait makes a call of Wait with a deadline in hours; 0: none.
func (s *sleeps) wait(t *rapid.T, before, fails string, wakes bool, hours int) {
	switch before {
	case "wake":
		s.p.Wake()
		s.woken = true
	case "ring":
		if s.clock == nil {
			s.ring(t)
		} else if s.clock.ring() {
			s.woken = true
		}
	}
	s.fails = fails
	now := time.Now()
	if s.clock != nil {
		now = s.clock.now
	}
	var until time.Time
	if hours != 0 {
		until = now.Add(time.Duration(hours) * time.Hour)
		if s.clock != nil {
			until = now.Add(time.Duration(hours)) // so that the pause of a clock that lags is longer
		}
	}
	s.timers, s.wakes = nil, wakes
	err := s.p.Wait(until)
	s.wakes = false

	if late := s.p.lateAlarms(); late > 1 {
		t.Fatalf("the poller keeps %d alarms whose calls have ended, want 1 at most", late)
	}
	polls, parked := s.spec(t, now, until)
	s.woken = s.woken || wakes && polls && !parked
	if parked {
		s.resets = wakes && !s.blocking
	}
	if s.p.resets() != s.resets {
		t.Fatalf("the next park resets the deadline: %v, want %v, because a wake-up has ended the last one or not", !s.resets, s.resets)
	}
	if got, want := s.writes(t), uint64(count(s.blocking && parked && wakes)); got != want {
		t.Fatalf("G12: calls of Wake have written to the eventfd %d times, want %d: the poller was asleep: %v, and was woken then: %v", got, want, parked, wakes)
	}
	failed := polls && s.fails == "poll"
	s.fails = ""
	if failed != errors.Is(err, errOfPoll) || !failed && err != nil {
		t.Fatalf("Wait returned %v; a poll has failed: %v", err, failed)
	}
	events := 0
	if polls && !failed {
		events = 1
	}
	if got := s.p.Ready(); len(got) != events || events > 0 && got[0].Token != readyToken {
		t.Fatalf("the events are %v, want %d", got, events)
	}
	if s.p.Polled() != polls {
		t.Fatalf("Polled is %v, want %v", !polls, polls)
	}
	s.parks, s.spins = s.parks+count(parked), s.spins+count(!parked)
	if s.p.Parks() != s.parks || s.p.Spins() != s.spins {
		t.Fatalf("%d parks and %d returns without one, want %d and %d; the last call parked: %v", s.p.Parks(), s.p.Spins(), s.parks, s.spins, parked)
	}
}

func count(one bool) int64 {
	if one {
		return 1
	}
	return 0
}

// writes returns how often calls of Wake have written to the eventfd since the last call. A read sets its counter to zero.
func (s *sleeps) writes(t *rapid.T) uint64 {
	if !s.blocking {
		return 0
	}
	var n [8]byte
	if _, err := unix.Read(s.event, n[:]); err != unix.EAGAIN {
		noError(t, err)
	}
	return binary.NativeEndian.Uint64(n[:])
}

// ring makes the timer of the kernel fire too early.
func (s *sleeps) ring(t *rapid.T) {
	if s.timerFD < 0 {
		return
	}
	noError(t, setTimer(s.timerFD, 1))
	one := []unix.PollFd{{Fd: int32(s.timerFD), Events: unix.POLLIN}}
	_, err := unix.Poll(one, -1)
	for err == unix.EINTR {
		_, err = unix.Poll(one, -1)
	}
	noError(t, err)
	noError(t, s.p.Poll())
	s.setTo, s.unpolled = time.Time{}, 0
}

// spec says whether Wait polls, and whether it parks, and checks the timers that it has set.
func (s *sleeps) spec(t *rapid.T, now, until time.Time) (polls, parks bool) {
	first := s.unpolled == poll.BusyTurns // it polls first
	defer func() {
		if s.unpolled++; polls {
			s.unpolled = 0
		}
	}()
	switch {
	case !s.blocking && first: // it has the event, or an error
		s.wantTimer(t, now, time.Time{})
		return true, false
	case !s.blocking && s.woken:
		s.wantTimer(t, now, time.Time{})
		s.woken = false
		return false, false
	}
	armed := s.wantTimer(t, now, until)
	switch {
	case !armed || first:
		return true, false
	case s.woken:
		s.woken = false
		return false, false
	}
	return true, true
}

// wantTimer checks that Wait has set one timer if no earlier one is pending, and none otherwise. It reports whether Wait may
// sleep: a timer will end the sleep, or there is no deadline.
func (s *sleeps) wantTimer(t *rapid.T, now, until time.Time) bool {
	if s.clock != nil {
		return s.clock.wantAlarm(t, until)
	}
	due := until.After(now) && (s.setTo.IsZero() || s.setTo.After(until))
	if len(s.timers) != int(count(due)) {
		t.Fatalf("the timers that were set are %v, want one: %v; until %v, set to %v", s.timers, due, until, s.setTo)
	}
	if !due {
		return until.IsZero() || until.After(now)
	}
	if d := s.timers[0]; d > until.Sub(now) || d < time.Until(until) {
		t.Fatalf("the timer was set to %v, want %v to %v", d, time.Until(until), until.Sub(now))
	}
	if s.fails == "timer" {
		return false
	}
	s.setTo = until
	return true
}

// handClock is a clock that never advances, and records its alarms.
type handClock struct {
	now    time.Time
	alarms []*handAlarm
	before int // number of alarms that earlier sleeps have set

	// State of the specification.
	lag   poll.Lag
	setTo time.Time
	rang  bool // the last alarm has fired, and none was set since
}

// handAlarm is an alarm. over is set once it has fired or was stopped.
type handAlarm struct {
	d    time.Duration
	f    func()
	over bool
}

func (c *handClock) Now() time.Time { return c.now }

func (c *handClock) AfterFunc(d time.Duration, f func()) poll.Alarm {
	a := &handAlarm{d: d, f: f}
	c.alarms = append(c.alarms, a)
	return a
}

func (a *handAlarm) Reset(time.Duration) bool { panic("no poller resets an alarm") }

func (a *handAlarm) Stop() bool {
	pending := !a.over
	a.over = true
	return pending
}

func (c *handClock) pending() int {
	return len(slices.DeleteFunc(slices.Clone(c.alarms), func(a *handAlarm) bool { return a.over }))
}

// ring fires the pending alarm, if there is one, and reports whether there was one.
func (c *handClock) ring() (wakes bool) {
	for _, a := range c.alarms {
		if !a.over {
			a.over, wakes, c.rang = true, true, true
			a.f()
		}
	}
	return wakes
}

// wantAlarm is wantTimer for a poller with a clock. A new alarm replaces the old one. Its delay is longer than the time until
// the deadline if the old alarm has fired before the clock has reached its time (poll.Lag).
func (c *handClock) wantAlarm(t *rapid.T, until time.Time) bool {
	set := c.alarms[c.before:]
	c.before = len(c.alarms)
	if until.IsZero() {
		if len(set) > 0 {
			t.Fatalf("%d alarms were set for no deadline", len(set))
		}
		return true
	}
	behind := c.rang && c.setTo.After(c.now)
	c.rang = false
	if !until.After(c.now) {
		if len(set) > 0 || c.pending() > 0 {
			t.Fatalf("%d alarms were set for a time that has passed, and %d are pending, want none", len(set), c.pending())
		}
		return false
	}
	d := c.lag.Delay(until.Sub(c.now), behind)
	c.setTo = until
	if len(set) != 1 || set[0].d != d || c.pending() != 1 {
		t.Fatalf("%d alarms were set, and %d are pending, want one, after %v: %+v", len(set), c.pending(), d, set)
	}
	return true
}
