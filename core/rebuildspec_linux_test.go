package core_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"

	"pgregory.net/rapid"
)

// prematureStep is what happens to a loop that sleeps, n times in a row: its poller returns without a
// reason, a timer is due, a task wakes it, or a descriptor becomes readable.
type prematureStep struct {
	what string
	n    int
}

// TestPropPrematureReturns: a loop rebuilds its poller after 512 returns of Wait without a reason in a row, and
// begins to count anew then. A task, a ready descriptor, and the deadline of a timer are reasons (R195, R205).
func TestPropPrematureReturns(t *testing.T) {
	n := rapid.SampledFrom([]int{1, 2, core.MaxPremature - 2, core.MaxPremature - 1, core.MaxPremature, core.MaxPremature + 1, 2*core.MaxPremature + 1})
	rapid.Check(t, func(rt *rapid.T) {
		steps := make([]prematureStep, rapid.IntRange(1, 6).Draw(rt, "steps"))
		for i := range steps {
			steps[i].what = rapid.SampledFrom([]string{"return", "return", "timer", "task", "input"}).Draw(rt, "what")
			if steps[i].n = 1; steps[i].what == "return" || steps[i].what == "timer" {
				steps[i].n = n.Draw(rt, "n")
			}
		}
		waiting := rapid.Bool().Draw(rt, "a timer waits")
		checkInBubble(t, rt, func(t *testing.T) string { return runPremature(t, steps, waiting) })
	})
}

func runPremature(t *testing.T, steps []prematureStep, waiting bool) string {
	l, m := modelLoop(t)
	d := m.Open()
	mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) { coretest.Must(t, d.Drain()) })
	if waiting {
		mustSchedule(t, l, 24*time.Hour, func() {}) // its deadline does not pass
	}
	synctest.Wait()
	counted, want := 0, 0
	for _, s := range steps {
		switch s.what {
		case "return":
			m.Spurious(s.n)
			counted += s.n
			want += counted / core.MaxPremature
			counted %= core.MaxPremature
		case "timer":
			timer, err := l.ScheduleAtFixedRate(time.Millisecond, time.Millisecond, func() {})
			coretest.Must(t, err)
			time.Sleep(time.Duration(s.n) * time.Millisecond)
			synctest.Wait()
			timer.Cancel()
			coretest.OnLoop(t, l, func() {}) // the loop takes the cancelled timer now: to find one is a reason, too
			counted = 0
		case "task":
			coretest.OnLoop(t, l, func() {})
			counted = 0
		case "input":
			coretest.Must(t, d.Input())
			counted = 0
		}
		synctest.Wait()
		if got := l.Stats().Rebuilds; int(got) != want || m.Count(pollertest.Reopen) != want {
			return fmt.Sprintf("R195: after %+v of %+v: %d rebuilds and %d calls of Reopen, want %d", s, steps, got, m.Count(pollertest.Reopen), want)
		}
	}
	return ""
}
