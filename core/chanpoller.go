package core

import (
	"sync/atomic"
	"time"

	"eventide/core/internal/poll"
)

// chanPoller sleeps by a receive from a channel. It is portable and needs no descriptor.
// The sleep is a durable block in the sense of testing/synctest, so that virtual time
// advances in a bubble.
type chanPoller struct {
	clock Clock
	token chan struct{} // capacity 1: a pending wake-up
	fired atomic.Uint64 // calls of expire that have begun

	// Loop goroutine only.
	alarm   Alarm
	armedAt time.Time // the deadline that alarm was last set for
	arms    uint64    // calls of expire that have happened or will happen
	lag     poll.Lag
}

// NewParkPoller returns a poller like the default one of an Executor: the loop's goroutine
// parks on a channel, and deadlines are those of clock (nil: the system's). Pass it to one
// executor by WithPoller.
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
		case <-p.token: // the wake-up ends this Wait, and must not end the next one too
		default:
		}
		return nil
	}
	<-p.token
	return nil
}

// arm ensures that a token arrives when the clock reaches until, or earlier. It returns
// false if until has passed. An alarm that fires early costs one spurious return,
// which is cheaper than resetting it for each sleep.
//
// The counts of calls of expire show whether the alarm has fired. The clock does not, because
// it may be behind the alarm: see poll.Lag.
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
	p.fired.Add(1) // before the token: Close reads fired again after it has received a token
	p.Wake()
}

func (p *chanPoller) Wake() {
	select {
	case p.token <- struct{}{}:
	default: // a wake-up is pending already
	}
}

// Close stops the alarm. If that is too late, Close waits until expire has begun: what is left
// of expire then is a send that cannot block, so its goroutine ends by itself (G24).
func (p *chanPoller) Close() error {
	if p.alarm != nil && p.alarm.Stop() {
		p.arms--
	}
	for p.fired.Load() != p.arms {
		<-p.token
	}
	return nil
}
