package core_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// With WithClock the lateness of a timer is measured on that clock.
func TestMeterOfTimersOnAClock(t *testing.T) {
	clock := newManualClock()
	ex := coretest.NewExecutor(t, core.WithClock(clock))
	m := ex.NewMeter()
	coretest.OnLoop(t, ex, func() {})
	m.Read() // begins the samples
	timer := mustSchedule(t, ex, time.Minute, func() {})
	release := occupy(t, ex)
	clock.advance(24 * time.Hour)
	release()
	coretest.Await(t, "the timer", timer.Done())
	if r := m.Read(); !slices.Contains(r.Waits, 24*time.Hour-time.Minute) {
		t.Errorf("waits %v, want the 23h59m among them that the timer was late on its clock", r.Waits)
	}
}

// Oldest is the age of the oldest task that waits. A lazy task is one, a tail task is not.
func TestMeterOldestOfLazyAndTailTasks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		for _, tt := range []struct {
			name string
			give func(ex *core.Executor, task func()) error
			want time.Duration
		}{{"lazy", (*core.Executor).ExecuteLazy, time.Second}, {"tail", (*core.Executor).ExecuteAfterIteration, 0}} {
			ex := coretest.NewExecutor(t)
			m := ex.NewMeter()
			coretest.MustExecute(t, ex, sleeper(time.Minute))
			synctest.Wait()
			coretest.Must(t, tt.give(ex, func() {}))
			m.Read()
			time.Sleep(time.Second)
			coretest.Want(t, "Oldest of a "+tt.name+" task", m.Read().Oldest, tt.want)
			time.Sleep(time.Hour)
		}
	})
}

// Several meters of one executor measure at the same time.
func TestSeveralMeters(t *testing.T) {
	eachMetered(t, func(t *testing.T, ex metered) {
		first, second := ex.NewMeter(), ex.NewMeter()
		coretest.OnLoop(t, ex, sleeper(time.Second))
		synctest.Wait()
		time.Sleep(time.Second)
		coretest.Want(t, "Busy of the first meter", first.Read().Busy, time.Second)
		coretest.Want(t, "Busy of the second meter", second.Read().Busy, time.Second)
	})
}
