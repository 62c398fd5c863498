package core_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
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

// A body may use meters: it sees itself run.
func TestMeterInABody(t *testing.T) {
	eachMetered(t, func(t *testing.T, ex metered) {
		coretest.OnLoop(t, ex, func() {
			m := ex.NewMeter()
			defer m.Close()
			r := m.Read()
			if len(r.Running) != 1 || r.Stats.Pending != 1 {
				t.Errorf("a body reads %+v, want itself as the running body and the pending task", r)
			} else if stack := m.Stack(r.Running[0]); !strings.Contains(stack, "TestMeterInABody") {
				t.Errorf("the stack of the body is %q, want its own", stack)
			}
		})
	})
}

// Before the first Read at which a task waits, its age is not known.
func TestMeterOldestBeforeTheFirstRead(t *testing.T) {
	eachMetered(t, func(t *testing.T, ex metered) {
		m := ex.NewMeter()
		coretest.MustExecute(t, ex, sleeper(time.Minute))
		coretest.MustExecute(t, ex, func() {})
		time.Sleep(time.Second)
		coretest.Want(t, "Oldest at the first Read", m.Read().Oldest, 0)
		time.Sleep(time.Second)
		coretest.Want(t, "Oldest a second later", m.Read().Oldest, time.Second)
	})
}

// slowPoller takes a minute before it parks, and an hour to poll.
type slowPoller struct{ *pollertest.Model }

func (p slowPoller) Wait(until core.Deadline) error {
	time.Sleep(time.Minute)
	return p.Model.Wait(until)
}

func (p slowPoller) Poll() error {
	time.Sleep(time.Hour)
	return p.Model.Poll()
}

// The time in which the poller spins before it parks is no busy time. The time of a poll between
// tasks is.
func TestMeterBusyOfALoopThatPolls(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		model := pollertest.NewModel(nil)
		l := loopOn(t, slowPoller{model})
		m := l.NewMeter()
		coretest.MustExecute(t, l, func() {})
		time.Sleep(10 * time.Minute) // the loop may begin its wait, of a minute, before the task is there
		coretest.Want(t, "Busy of a loop that spins and parks", m.Read().Busy, 0)
		coretest.MustExecute(t, l, func() {
			for range 2000 { // more than begin between two polls
				coretest.MustExecute(t, l, func() {})
			}
		})
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		polls := model.Count(pollertest.Poll)
		if busy := m.Read().Busy; polls == 0 || busy != time.Duration(polls)*time.Hour {
			t.Errorf("busy for %v, with %d polls between tasks, want an hour for each", busy, polls)
		}
	})
}

// The wait of a wake-up begins with the call that wakes the loop, before its tracer gets the event.
func TestMeterOfAWakeUpBesideATracer(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t, core.WithTracer(tracerFunc(func(ev core.Event) {
			if ev.Kind == core.EventWake {
				time.Sleep(time.Second)
			}
		})))
		coretest.OnLoop(t, ex, func() {})
		synctest.Wait()
		m := ex.NewMeter()
		m.Read() // begins the samples
		coretest.OnLoop(t, ex, func() {})
		if waits := m.Read().Waits; !slices.Equal(waits, []time.Duration{time.Second}) {
			t.Errorf("waits %v, want the second that the tracer took", waits)
		}
	})
}
