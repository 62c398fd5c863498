package core

import (
	"sync/atomic"
	"time"
)

// Poller is where a loop sleeps: the seam between the executor and whatever can
// wake it. The executor decides when to sleep and until when; the poller only
// knows how.
//
// Wake is sticky: one that comes before Wait makes the next Wait return at once.
// A return of Wait means "look again" and nothing else: it may be early, late by
// what the operating system needs, or for no reason.
type Poller interface {
	// Wait blocks until Wake, until the deadline (the zero Deadline is never),
	// or for less. Only the loop calls it. An error is final: the executor
	// closes admission, runs what it accepted, and terminates with that error.
	Wait(until Deadline) error

	// Wake makes the current or the next Wait return. Any goroutine may call
	// it; it never blocks, and does nothing after Close. A panic of
	// it ends the executor, as one of Wait does, and does not reach who called:
	// what he brought was accepted. Wake is called once more then, and if that
	// panics too, by whoever next has something for the loop (G12, G15).
	Wake()

	// Close frees what the poller holds. The executor calls it once, after the
	// last Wait has returned. Its error, or panic, is in Termination.Err.
	Close() error
}

// parkPoller sleeps on a channel: portable, no descriptor, and durable in the
// sense of testing/synctest, so a bubble's virtual time advances past it.
type parkPoller struct {
	clock Clock
	token chan struct{} // capacity 1: a pending wake-up
	fired atomic.Uint64 // calls of expire that have done their work

	// Loop goroutine only.
	alarm   Alarm
	armedAt time.Time // the deadline that alarm was last set for
	arms    uint64    // calls of expire that have happened or will
	lag     clockLag
}

// NewParkPoller returns the default poller of an Executor: the loop's goroutine
// parks on a channel, and deadlines come from clock (nil: the system's). It
// serves one executor; give it to WithPoller.
func NewParkPoller(clock Clock) Poller { return newParkPoller(clock) }

func newParkPoller(clock Clock) *parkPoller {
	if clock == nil {
		clock = systemClock{}
	}
	return &parkPoller{clock: clock, token: make(chan struct{}, 1)}
}

func (p *parkPoller) Wait(until Deadline) error {
	if !until.IsZero() && !p.arm(until) {
		select {
		case <-p.token: // as sticky as it gets: not left for the next Wait
		default:
		}
		return nil
	}
	<-p.token
	return nil
}

// arm makes sure that a token comes at until or earlier by the clock; false means that
// until has passed. An alarm that is set too early costs one spurious return, which is
// cheaper than to move it each time the loop falls asleep.
//
// Whether the alarm has gone off is read off its calls and not off the clock, which may
// be behind the alarm: see clockLag.
func (p *parkPoller) arm(until time.Time) bool {
	now := p.clock.Now()
	d := until.Sub(now)
	if d <= 0 {
		return false
	}
	pending := p.fired.Load() != p.arms
	if pending && p.armedAt.After(now) && !p.armedAt.After(until) {
		return true
	}
	d = p.lag.delay(d, !pending && p.alarm != nil && p.armedAt.After(now))
	if p.alarm == nil {
		p.alarm = p.clock.AfterFunc(d, p.expire)
		p.arms++
	} else if !p.alarm.Reset(d) {
		p.arms++
	}
	p.armedAt = until
	return true
}

func (p *parkPoller) expire() {
	p.fired.Add(1) // before the token: Close looks at it after taking one
	p.Wake()
}

func (p *parkPoller) Wake() {
	select {
	case p.token <- struct{}{}:
	default: // one is pending; it will do
	}
}

// Close stops the alarm. If its function has begun, Close waits for it: after
// done no goroutine of ours is left (G24).
func (p *parkPoller) Close() error {
	if p.alarm != nil && p.alarm.Stop() {
		p.arms--
	}
	for p.fired.Load() != p.arms {
		<-p.token
	}
	return nil
}
