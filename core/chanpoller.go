package core

import (
	"sync/atomic"
	"time"

	"eventide/core/internal/poll"
)

// chanPoller sleeps on a channel: portable, no descriptor, and durable in the
// sense of testing/synctest, so a bubble's virtual time advances past it.
type chanPoller struct {
	clock Clock
	token chan struct{} // capacity 1: a pending wake-up
	fired atomic.Uint64 // calls of expire that have done their work

	// Loop goroutine only.
	alarm   Alarm
	armedAt time.Time // the deadline that alarm was last set for
	arms    uint64    // calls of expire that have happened or will
	lag     poll.Lag
}

// NewParkPoller returns the default poller of an Executor: the loop's goroutine
// parks on a channel, and deadlines come from clock (nil: the system's). It
// serves one executor; give it to WithPoller.
func NewParkPoller(clock Clock) Poller { return newChanPoller(clock) }

func newChanPoller(clock Clock) *chanPoller {
	if clock == nil {
		clock = poll.SystemClock{}
	}
	return &chanPoller{clock: clock, token: make(chan struct{}, 1)}
}

func (p *chanPoller) Wait(until Deadline) error {
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
// be behind the alarm: see poll.Lag.
func (p *chanPoller) arm(until time.Time) bool {
	now := p.clock.Now()
	d := until.Sub(now)
	if d <= 0 {
		return false
	}
	pending := p.fired.Load() != p.arms
	if pending && p.armedAt.After(now) && !p.armedAt.After(until) {
		return true
	}
	d = p.lag.Delay(d, !pending && p.alarm != nil && p.armedAt.After(now))
	if p.alarm == nil {
		p.alarm = p.clock.AfterFunc(d, p.expire)
		p.arms++
	} else if !p.alarm.Reset(d) {
		p.arms++
	}
	p.armedAt = until
	return true
}

func (p *chanPoller) expire() {
	p.fired.Add(1) // before the token: Close looks at it after taking one
	p.Wake()
}

func (p *chanPoller) Wake() {
	select {
	case p.token <- struct{}{}:
	default: // one is pending; it will do
	}
}

// Close stops the alarm. If its function has begun, Close waits for it: after
// done no goroutine of ours is left (G24).
func (p *chanPoller) Close() error {
	if p.alarm != nil && p.alarm.Stop() {
		p.arms--
	}
	for p.fired.Load() != p.arms {
		<-p.token
	}
	return nil
}
