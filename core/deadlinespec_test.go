package core_test

import (
	"fmt"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"

	"pgregory.net/rapid"
)

// TestPropG12DeadlinesOfSleepsAndDrains: a loop sleeps until its first timer is due, or without a limit, and a channel
// drains until the timeout passes: to the nanosecond, on any clock. Only the zero Time, which means "never", is moved
// one nanosecond earlier (G7, G12, G23).
func TestPropG12DeadlinesOfSleepsAndDrains(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		delay := time.Duration(rapid.Int64Range(int64(time.Second), int64(time.Hour)).Draw(rt, "delay"))
		beside := time.Duration(rapid.IntRange(-2, 2).Draw(rt, "the deadline beside the zero Time"))
		usual := rapid.Bool().Draw(rt, "a usual clock")
		never := rapid.Bool().Draw(rt, "never")
		checkInBubble(t, rt, func(t *testing.T) string {
			clock := newManualClock()
			if !usual {
				clock.now = time.Time{}.Add(beside - delay)
			}
			want := clock.now.Add(delay)
			if want.IsZero() {
				want = want.Add(-1)
			}
			asleep := want
			after := delay
			if never {
				asleep, after = core.Deadline{}, 1<<63-1
			}
			p := &askedIOPoller{IOPoller: pollertest.NewModel(clock)}
			l := loopOn(t, p, core.WithClock(clock))
			drains := core.Deadline{}
			ch := &fakeChannel{drain: func(until core.Deadline) { drains = until }}
			reg := mustRegisterChannel(t, l, p.IOPoller.(*pollertest.Model).Open().FD(), ch)
			defer reg.End(core.ChannelEnd{Kind: core.EndDrained})
			timer := mustSchedule(t, l, after, func() {})
			untilIdle()
			slept := p.until
			if timer.Cancel(); slept != asleep {
				return fmt.Sprintf("G12: the loop sleeps until %v, want %v", slept, asleep)
			}
			coretest.MustShutdownGracefully(t, l, 0, delay)
			untilIdle()
			slept = p.until
			if drains != want {
				return fmt.Sprintf("G23: the channel drains until %v, want %v", drains, want)
			}
			if !slept.IsZero() {
				return fmt.Sprintf("G12: a loop that waits for its last channel sleeps until %v, want no limit", slept)
			}
			return ""
		})
	})
}

// askedIOPoller keeps the deadline of the last Wait.
type askedIOPoller struct {
	core.IOPoller
	until core.Deadline
}

func (p *askedIOPoller) Wait(until core.Deadline) error {
	p.until = until
	return p.IOPoller.Wait(until)
}
