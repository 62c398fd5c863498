package core_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

const maxDelay = time.Duration(math.MaxInt64)

func TestG7OneShotRunsAtItsDeadlineNotBefore(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		start := time.Now()
		for _, delay := range []time.Duration{3, time.Second, math.MinInt64, -1, 0, time.Hour, 1} {
			ran := time.Duration(-1)
			timer := mustSchedule(t, ex, delay, func() { ran = time.Since(start) })
			want := max(delay, 0)
			if got := timer.Deadline().Sub(start); got != want {
				t.Errorf("G7: Deadline of Schedule(%v) is %v from now, want %v", delay, got, want)
			}
			coretest.Await(t, "the timer", afterHours(t, timer))
			if ran != want || timer.Err() != nil {
				t.Errorf("G7: Schedule(%v) ran at %v, Err %v; want at %v, nil", delay, ran, timer.Err(), want)
			}
			start = time.Now()
		}
	})
}

// afterHours advances virtual time by more than any delay in the tests of this file.
func afterHours(t testing.TB, timer *core.Timer) <-chan struct{} {
	t.Helper()
	time.Sleep(2 * time.Hour)
	return timer.Done()
}

func TestG7EqualDeadlinesRunInTheOrderScheduled(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		const n = 300 // more than a turn runs
		var order []int
		at := time.Now().Add(time.Second)
		for i := range n {
			if i%7 == 0 {
				time.Sleep(time.Millisecond)
			}
			mustSchedule(t, ex, time.Until(at), func() { order = append(order, i) })
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		for i, k := range order {
			if i != k {
				t.Fatalf("G7: timer %d ran at place %d; deadlines are equal, want the order scheduled", k, i)
			}
		}
		if len(order) != n {
			t.Fatalf("G7: %d timers ran, want %d", len(order), n)
		}
	})
}

// Both timers are due when the long body ends. The loop had taken one of them before the
// body began; the other was scheduled during the body, and has the earlier deadline.
func TestG7DueTimersRunInTheOrderOfTheirDeadlines(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		var j coretest.Journal
		mustSchedule(t, ex, 2*time.Second, j.Adds("2s"))
		coretest.OnLoop(t, ex, func() {})
		coretest.MustExecute(t, ex, func() { time.Sleep(3 * time.Second) })
		synctest.Wait()
		mustSchedule(t, ex, time.Second, j.Adds("1s"))
		time.Sleep(4 * time.Second)
		j.Want(t, "G7", "1s 2s")
	})
}

func TestG7FixedRateKeepsItsPhaseAndCatchesUp(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		start := time.Now()
		var j coretest.Journal
		timer, err := ex.ScheduleAtFixedRate(time.Second, 2*time.Second, func() {
			j.Add(fmt.Sprint(time.Since(start)))
			if time.Since(start) == 3*time.Second {
				time.Sleep(7 * time.Second) // the runs due at 5, 7 and 9 are late
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(14 * time.Second)
		timer.Cancel()
		j.Want(t, "G7: fixed rate", "1s 3s 10s 10s 10s 11s 13s")
	})
}

func TestG7FixedDelayCountsFromTheEndOfTheBody(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		start := time.Now()
		var j coretest.Journal
		timer, err := ex.ScheduleWithFixedDelay(0, 2*time.Second, func() {
			j.Add(fmt.Sprint(time.Since(start)))
			time.Sleep(time.Second)
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		timer.Cancel()
		j.Want(t, "G7: fixed delay", "0s 3s 6s 9s")
	})
}

// Timers with equal deadlines run in the order scheduled, also a fixed-rate timer after its
// first run (R76).
func TestG7RearmedTimersKeepTheirPlace(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		var j coretest.Journal
		for _, name := range []string{"a", "b"} {
			if _, err := ex.ScheduleAtFixedRate(time.Second, time.Second, j.Adds(name)); err != nil {
				t.Fatal(err)
			}
		}
		mustSchedule(t, ex, 2*time.Second, j.Adds("once"))
		time.Sleep(3500 * time.Millisecond)
		j.Want(t, "G7", "a b a b once a b")
	})
}

func TestG7ExtremeDelaysSaturate(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		time.Sleep(time.Hour) // so that now + MaxInt64 overflows
		fail := func() { t.Error("G7: a timer that is never due ran") }
		var timers []*core.Timer
		timers = append(timers, mustSchedule(t, ex, maxDelay, fail), mustSchedule(t, ex, maxDelay-time.Minute, fail))
		first := 0
		rate, err := ex.ScheduleAtFixedRate(time.Second, maxDelay, func() { first++ })
		if err != nil {
			t.Fatal(err)
		}
		delay, err := ex.ScheduleWithFixedDelay(time.Second, maxDelay, func() { first++ })
		if err != nil {
			t.Fatal(err)
		}
		timers = append(timers, rate, delay)
		time.Sleep(1000 * time.Hour)
		synctest.Wait()
		if first != 2 {
			t.Errorf("G7: periodic timers of MaxInt64 ran %d times together, want 2", first)
		}
		for i, timer := range timers {
			if !timer.Cancel() {
				t.Errorf("G8: timer %d is over, want it waiting", i)
			}
		}
	})
}

func TestG7ABodyThatSchedulesAtOnceDoesNotStarveOthers(t *testing.T) {
	ex := coretest.NewExecutor(t)
	stop := make(chan struct{})
	var again func()
	again = func() {
		select {
		case <-stop:
		default:
			_, _ = ex.Schedule(0, again)
		}
	}
	mustSchedule(t, ex, 0, again)
	coretest.OnLoop(t, ex, func() {}) // a task runs all the same (G13)
	done := mustSchedule(t, ex, 0, func() {}).Done()
	coretest.Await(t, "another timer (G13)", done)
	close(stop)
}

func TestG8CancelBeforeTheDeadline(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		timer := mustSchedule(t, ex, time.Second, func() { t.Error("G8: a cancelled timer ran") })
		synctest.Wait()
		if timer.Err() != nil {
			t.Errorf("Err of a waiting timer: got %v, want nil", timer.Err())
		}
		first, second := timer.Cancel(), timer.Cancel()
		if !first || second || timer.Err() != core.ErrCancelled {
			t.Errorf("G8: Cancel said %v then %v, Err %v; want true, false, ErrCancelled", first, second, timer.Err())
		}
		coretest.Await(t, "Done of the cancelled timer (G9)", timer.Done())
		time.Sleep(2 * time.Second)
	})
}

func TestG8CancelInEveryState(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		release := occupy(t, ex)
		added := mustSchedule(t, ex, 0, func() { t.Error("G8: ran") })
		if !added.Cancel() {
			t.Error("G8: not yet in the heap: want true")
		}
		release()
		ran := mustSchedule(t, ex, 0, func() {})
		synctest.Wait()
		if ran.Cancel() || ran.Err() != nil {
			t.Errorf("G8: ran already: want false and no error, got %v", ran.Err())
		}
		var self, inside *core.Timer
		self = mustSchedule(t, ex, time.Second, func() {
			if self.Cancel() {
				t.Error("G8: a one-shot cancels itself: want false, it has begun")
			}
			if !inside.Cancel() || inside.Cancel() {
				t.Error("G8: from the loop: want true, then false")
			}
		})
		inside = mustSchedule(t, ex, 2*time.Second, func() { t.Error("G8: ran") })
		coretest.OnLoop(t, ex, func() {}) // the body sees both variables
		time.Sleep(3 * time.Second)
		if self.Err() != nil || inside.Err() != core.ErrCancelled {
			t.Errorf("G8: Err %v and %v, want nil and ErrCancelled", self.Err(), inside.Err())
		}
	})
}

func TestG8APeriodicTimerCancelledDuringARunEndsWithIt(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		runs := 0
		var timer *core.Timer
		timer, err := ex.ScheduleWithFixedDelay(time.Second, time.Second, func() {
			runs++
			if runs == 2 {
				if !timer.Cancel() || timer.Cancel() {
					t.Error("G8: Cancel during a run: want true, then false")
				}
				select {
				case <-timer.Done():
					t.Error("G8: Done is closed while the body runs")
				default:
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		coretest.OnLoop(t, ex, func() {}) // the body sees timer
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if runs != 2 || timer.Err() != core.ErrCancelled {
			t.Errorf("G8: ran %d times, Err %v; want 2, ErrCancelled", runs, timer.Err())
		}
	})
}

// The timer is due, and the loop has taken it, when it is cancelled during another body.
func TestG8CancelOfADuePeriodicTimer(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		timer, err := ex.ScheduleAtFixedRate(time.Second, time.Second, func() { t.Error("G8: it ran") })
		if err != nil {
			t.Fatal(err)
		}
		coretest.OnLoop(t, ex, func() {})
		coretest.MustExecute(t, ex, func() { time.Sleep(3 * time.Second) })
		time.Sleep(2 * time.Second)
		first := timer.Cancel()
		time.Sleep(2 * time.Second)
		if second := timer.Cancel(); !first || second || timer.Err() != core.ErrCancelled {
			t.Errorf("G8: Cancel returned %v then %v, Err %v; want true, false, ErrCancelled", first, second, timer.Err())
		}
	})
}

func TestG8CancelAfterDoneIsFalse(t *testing.T) {
	ex := coretest.NewExecutor(t)
	timer := mustSchedule(t, ex, time.Hour, func() {})
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	if timer.Cancel() || timer.Err() != core.ErrCancelled {
		t.Errorf("G8: Cancel after done: want false and ErrCancelled, got Err %v", timer.Err())
	}
}

// Cancel races with the begin of the body: exactly one of the two succeeds.
func TestG8CancelRacesTheRun(t *testing.T) {
	ex := coretest.NewExecutor(t)
	for i := range 2000 {
		ran := false
		timer := mustSchedule(t, ex, time.Duration(i%5)*time.Microsecond, func() { ran = true })
		cancelled := timer.Cancel()
		coretest.Await(t, "the timer", timer.Done())
		if ran == cancelled {
			t.Fatalf("G8: timer %d: cancelled=%v and ran=%v, want exactly one", i, cancelled, ran)
		}
	}
	checkConserved(t, ex.Stats())
}

// Cancelling wakes a sleeping loop only when most of the timers in its heap are cancelled:
// 100 calls of Cancel wake it a few times.
func TestG8CancelledTimersAreTakenOutOfASleepingLoop(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		var timers []*core.Timer
		for i := range 100 {
			timers = append(timers, mustSchedule(t, ex, time.Hour+time.Duration(i), func() { t.Error("G8: ran") }))
		}
		synctest.Wait()
		before := ex.Stats()
		for _, timer := range timers {
			timer.Cancel()
		}
		synctest.Wait()
		after := ex.Stats()
		if wakes := after.Wakes - before.Wakes; wakes == 0 || wakes > 10 {
			t.Errorf("G8: 100 cancels woke the sleeping loop %d times, want a few", wakes)
		}
		if after.Timers != 0 || after.TimersCancelled != 100 {
			t.Errorf("G8: %d timers left, %d cancelled; want 0, 100", after.Timers, after.TimersCancelled)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if parks := ex.Stats().Parks - after.Parks; parks > 1 {
			t.Errorf("G8: the loop woke %d times for deadlines of cancelled timers, want at most 1", parks)
		}
	})
}

func TestG9TimersOfEveryKindEnd(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		rate, err := ex.ScheduleAtFixedRate(0, time.Second, func() {})
		if err != nil {
			t.Fatal(err)
		}
		bad := mustSchedule(t, ex, 0, func() { panic("boom") })
		badRate, err := ex.ScheduleAtFixedRate(0, time.Second, func() { panic("boom") })
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2500 * time.Millisecond)
		for name, timer := range map[string]*core.Timer{"one-shot": bad, "periodic": badRate} {
			if err := timer.Err(); err == nil || !strings.Contains(err.Error(), "boom") {
				t.Errorf("G7: a %s timer that panicked: Err %v, want the panic", name, err)
			}
		}
		ex.Shutdown()
		report := coretest.AwaitDone(t, ex)
		coretest.Await(t, "the periodic timer (G9)", rate.Done())
		if rate.Err() != core.ErrCancelled || report.TimersRun != 5 || report.TimersCancelled != 1 || report.Panicked != 2 {
			t.Errorf("G9: Err %v, run %d, cancelled %d, panicked %d; want ErrCancelled, 5, 1, 2",
				rate.Err(), report.TimersRun, report.TimersCancelled, report.Panicked)
		}
	})
}
