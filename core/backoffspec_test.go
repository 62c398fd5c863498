package core_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// TestPropG19BackOff: with BackOff, Execute tries again after each pause, until the queue has room or no retry is left. Then it
// accepts or refuses the task at once. A pause that is not positive arms no alarm.
func TestPropG19BackOff(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		pause := time.Duration(rapid.OneOf(rapid.IntRange(-1, 5), rapid.Just(int(time.Hour))).Draw(r, "pause"))
		retries := rapid.IntRange(-1, 5).Draw(r, "retries")
		room := 2*time.Duration(rapid.IntRange(0, 20).Draw(r, "half the time until there is room")) + 1
		checkInBubble(t, r, func(t *testing.T) string { return backOff(t, retries, pause, room) })
	})
}

// backOff executes a task on an executor that is full until room has passed. It returns a description of what differs from
// the specification, or "".
func backOff(t *testing.T, retries int, pause, room time.Duration) string {
	clock := &countsAlarms{}
	ex := coretest.NewExecutor(t, core.WithClock(clock), core.WithMaxPendingTasks(16), core.WithRejectedHandler(core.BackOff(retries, 2*pause)))
	coretest.OnLoop(t, ex, func() {}) // it is started
	coretest.Must(t, ex.Execute(func() { time.Sleep(room) }))
	synctest.Wait()
	for ex.TryExecute(func() {}) == nil { // fills the queue
	}
	began := time.Now()
	err := ex.Execute(func() {})
	pauses := clock.alarms
	attempt := time.Duration(0) // attempts are at even times, and room comes at an odd one
	for n := 0; n < retries && pause > 0 && attempt < room; n++ {
		attempt += 2 * pause
	}
	accepted := attempt > room
	switch took := time.Since(began); {
	case took != attempt:
		return fmt.Sprintf("G19: Execute took %v, want %v", took, attempt)
	case pauses != int(attempt/max(2*pause, 1)):
		return fmt.Sprintf("G19: Execute has armed %d alarms, want one for each pause of %v in %v", pauses, 2*pause, attempt)
	case (err == nil) != accepted || !accepted && !errors.Is(err, core.ErrQueueFull):
		return fmt.Sprintf("G19: Execute: %v, want a task that is accepted: %v", err, accepted)
	}
	return ""
}

// countsAlarms is the system's clock, and counts the calls of AfterFunc.
type countsAlarms struct{ alarms int }

func (*countsAlarms) Now() time.Time { return time.Now() }

func (c *countsAlarms) AfterFunc(d time.Duration, f func()) core.Alarm {
	c.alarms++
	return time.AfterFunc(d, f)
}
