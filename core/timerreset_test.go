package core_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// onBoth runs a test in a bubble with an Executor and with a Pool of one worker, which keep
// the same guarantees about timers.
func onBoth(t *testing.T, f func(t *testing.T, ex core.EventExecutor), opts ...core.Option) {
	t.Helper()
	t.Run("executor", func(t *testing.T) {
		inBubble(t, func(t *testing.T) { f(t, coretest.NewExecutor(t, opts...)) })
	})
	t.Run("pool", func(t *testing.T) {
		inBubble(t, func(t *testing.T) { f(t, coretest.NewPool(t, 1, opts...)) })
	})
}

func TestG7ResetMovesAWaitingTimer(t *testing.T) {
	const due = 10 * time.Second
	for _, tt := range []struct{ at, delay, want time.Duration }{
		{0, 20 * time.Second, 20 * time.Second},               // later, while the loop has not seen it
		{5 * time.Second, 10 * time.Second, 15 * time.Second}, // later, from the heap
		{5 * time.Second, time.Second, 6 * time.Second},       // earlier: the loop sleeps until 10 s
		{5 * time.Second, 0, 5 * time.Second},
		{5 * time.Second, -time.Hour, 5 * time.Second},
		{due - 1, 2, due + 1},
	} {
		t.Run(fmt.Sprintf("at %v by %v", tt.at, tt.delay), func(t *testing.T) {
			onBoth(t, func(t *testing.T, ex core.EventExecutor) {
				for _, inside := range []bool{false, true} {
					start := time.Now()
					var ran []time.Duration
					timer := mustSchedule(t, ex, due, func() { ran = append(ran, time.Since(start)) })
					time.Sleep(tt.at)
					moved := false
					if reset := func() { moved = timer.Reset(tt.delay) }; inside {
						coretest.OnLoop(t, ex, reset)
					} else {
						reset()
					}
					coretest.Want(t, "G8: Reset", moved, true)
					coretest.Want(t, "G7: Deadline", timer.Deadline().Sub(start), tt.want)
					if tt.want > time.Since(start) {
						coretest.Want(t, "pending timers", ex.Stats().Timers, 1)
					}
					time.Sleep(time.Hour)
					synctest.Wait()
					coretest.Want(t, "G7: runs at", fmt.Sprint(ran), fmt.Sprint([]time.Duration{tt.want}))
					coretest.Want(t, "G8: Reset after the end", timer.Reset(0), false)
					coretest.Want(t, "pending timers at the end", ex.Stats().Timers, 0)
				}
			})
		})
	}
}

// A timer becomes due during a long body. Reset is called before the loop can begin the
// timer, so the timer waits again.
func TestG7ResetOfADueTimerThatHasNotBegun(t *testing.T) {
	onBoth(t, func(t *testing.T, ex core.EventExecutor) {
		start := time.Now()
		var j coretest.Journal
		timer := mustSchedule(t, ex, time.Second, func() { j.Add(fmt.Sprint(time.Since(start))) })
		coretest.MustExecute(t, ex, func() { time.Sleep(5 * time.Second) })
		time.Sleep(3 * time.Second)
		coretest.Want(t, "G8: Reset", timer.Reset(4*time.Second), true)
		time.Sleep(time.Hour)
		j.Want(t, "G7", "7s")
	})
}

// Timers run in the order of their deadlines after several of them were moved, some twice.
func TestG7ResetKeepsTheOrderOfDeadlines(t *testing.T) {
	onBoth(t, func(t *testing.T, ex core.EventExecutor) {
		var j coretest.Journal
		timers := map[string]*core.Timer{}
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			timers[name] = mustSchedule(t, ex, time.Second, j.Adds(name))
		}
		coretest.OnLoop(t, ex, func() {})
		timers["b"].Reset(2 * time.Second)
		timers["d"].Reset(3 * time.Second)
		timers["d"].Reset(time.Second / 2)
		timers["e"].Reset(2 * time.Second)
		timers["a"].Reset(2 * time.Second) // the deadline of b and e: it keeps its place before them
		time.Sleep(time.Hour)
		j.Want(t, "G7", "d c a b e")
	})
}

func TestG8ResetAndCancel(t *testing.T) {
	onBoth(t, func(t *testing.T, ex core.EventExecutor) {
		timer := mustSchedule(t, ex, time.Second, func() { t.Error("G8: a cancelled timer ran") })
		coretest.OnLoop(t, ex, func() {})
		coretest.Want(t, "Reset", timer.Reset(2*time.Second), true)
		coretest.Want(t, "Cancel of a timer that was moved", timer.Cancel(), true)
		coretest.Want(t, "Reset of a cancelled timer", timer.Reset(0), false)
		coretest.WantErr(t, "Err", timer.Err(), core.ErrCancelled)
		time.Sleep(time.Hour)
		coretest.Want(t, "pending timers", ex.Stats().Timers, 0)
	})
}

func TestG8ResetOfARunningTimer(t *testing.T) {
	onBoth(t, func(t *testing.T, ex core.EventExecutor) {
		timer := mustSchedule(t, ex, time.Second, func() { time.Sleep(time.Second) })
		time.Sleep(time.Second + time.Second/2)
		coretest.Want(t, "Reset of a one-shot that runs", timer.Reset(time.Second), false)
		time.Sleep(time.Hour)
		coretest.Want(t, "runs", ex.Termination().Report().TimersRun, 1)
	})
}

// A fixed rate counts its further runs from the new deadline.
func TestG7ResetOfAPeriodicTimer(t *testing.T) {
	for _, tt := range []struct {
		name     string
		schedule func(ex core.EventExecutor, body func()) (*core.Timer, error)
		want     string
	}{
		{"rate", func(ex core.EventExecutor, body func()) (*core.Timer, error) {
			return ex.ScheduleAtFixedRate(time.Second, 10*time.Second, body)
		}, "1s 8s 18s 23s 33s"},
		{"delay", func(ex core.EventExecutor, body func()) (*core.Timer, error) {
			return ex.ScheduleWithFixedDelay(time.Second, 10*time.Second, body)
		}, "1s 8s 19s 24s 35s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, ex core.EventExecutor) {
				start := time.Now()
				var j coretest.Journal
				var timer *core.Timer
				run := 0
				coretest.OnLoop(t, ex, func() {
					var err error
					timer, err = tt.schedule(ex, func() {
						began := time.Since(start)
						j.Add(fmt.Sprint(began))
						if run++; run == 3 { // during the run, for the next one
							coretest.Want(t, "Reset inside", timer.Reset(5*time.Second), true)
							coretest.Want(t, "Deadline during the run", timer.Deadline().Sub(start), began)
						}
						time.Sleep(time.Second)
					})
					coretest.Must(t, err)
				})
				time.Sleep(5 * time.Second)
				coretest.Want(t, "Reset between runs", timer.Reset(3*time.Second), true)
				time.Sleep(34 * time.Second)
				j.Want(t, "G7", tt.want)
				timer.Cancel()
			})
		})
	}
}

func TestG9ResetAtShutdownFollowsThePolicy(t *testing.T) {
	for _, tt := range []struct {
		policy core.TimersAtShutdown
		delay  time.Duration
		moved  bool
		want   string
	}{
		{core.CancelTimers, time.Second, false, ""},
		{core.RunDueTimers, time.Second, false, "3s"}, // it is due at the call, and runs after the body
		{core.RunTimersUntilTimeout, 4 * time.Second, true, "6s"},
		{core.RunTimersUntilTimeout, 9*time.Second - 1, true, "10.999999999s"}, // the last instant before the timeout
		{core.RunTimersUntilTimeout, 9 * time.Second, false, "3s"},
	} {
		t.Run(fmt.Sprintf("%v by %v", tt.policy, tt.delay), func(t *testing.T) {
			onBoth(t, func(t *testing.T, ex core.EventExecutor) {
				start := time.Now()
				var j coretest.Journal
				timer := mustSchedule(t, ex, time.Second, func() { j.Add(fmt.Sprint(time.Since(start))) })
				coretest.MustExecute(t, ex, func() { time.Sleep(3 * time.Second) })
				time.Sleep(time.Second)
				coretest.MustShutdownGracefully(t, ex, 0, 10*time.Second)
				time.Sleep(time.Second)
				coretest.Want(t, "Reset", timer.Reset(tt.delay), tt.moved)
				coretest.AwaitDone(t, ex)
				j.Want(t, "G9", tt.want)
				coretest.Want(t, "Reset after Done", timer.Reset(0), false)
			}, core.WithTimersAtShutdown(tt.policy))
		})
	}
}

// The clock has not moved since the shutdown call, so the policy would run a timer with the
// new deadline. Reset is refused all the same: the policy was applied at the call.
func TestG9ResetInTheInstantOfTheShutdownCall(t *testing.T) {
	onBoth(t, func(t *testing.T, ex core.EventExecutor) {
		timer := mustSchedule(t, ex, time.Second, func() {})
		coretest.MustExecute(t, ex, func() { time.Sleep(3 * time.Second) })
		time.Sleep(time.Second)
		coretest.MustShutdownGracefully(t, ex, 0, 10*time.Second)
		coretest.Want(t, "Reset", timer.Reset(0), false)
		coretest.AwaitDone(t, ex)
		coretest.Want(t, "runs", ex.Termination().Report().TimersRun, 1)
	}, core.WithTimersAtShutdown(core.RunDueTimers))
}

// A timer that the shutdown has cancelled, and that the loop has not ended yet because of a
// long body, stays cancelled.
func TestG9ResetDoesNotReviveACancelledTimer(t *testing.T) {
	onBoth(t, func(t *testing.T, ex core.EventExecutor) {
		timer := mustSchedule(t, ex, time.Minute, func() { t.Error("G9: a timer beyond the timeout ran") })
		coretest.OnLoop(t, ex, func() {})
		coretest.MustExecute(t, ex, func() { time.Sleep(3 * time.Second) })
		time.Sleep(time.Second)
		coretest.MustShutdownGracefully(t, ex, 0, 10*time.Second)
		coretest.Want(t, "Reset", timer.Reset(time.Second), false)
		coretest.AwaitDone(t, ex)
		coretest.WantErr(t, "Err", timer.Err(), core.ErrCancelled)
	}, core.WithTimersAtShutdown(core.RunTimersUntilTimeout))
}

// The loop takes a moved timer from its inbox only after the body. The shutdown is called
// during the body, and its horizon is between the old deadline and the new one.
func TestG9ResetJustBeforeAShutdown(t *testing.T) {
	for _, tt := range []struct {
		from, by time.Duration
		want     string
	}{
		{time.Minute, 5 * time.Second, "6s"}, // into the time before the timeout
		{5 * time.Second, time.Minute, ""},   // out of it
	} {
		t.Run(tt.by.String(), func(t *testing.T) {
			onBoth(t, func(t *testing.T, ex core.EventExecutor) {
				start := time.Now()
				var j coretest.Journal
				timer := mustSchedule(t, ex, tt.from, func() { j.Add(fmt.Sprint(time.Since(start))) })
				coretest.OnLoop(t, ex, func() {})
				coretest.MustExecute(t, ex, func() { time.Sleep(3 * time.Second) })
				time.Sleep(time.Second)
				coretest.Want(t, "Reset", timer.Reset(tt.by), true)
				coretest.MustShutdownGracefully(t, ex, 0, 10*time.Second)
				coretest.AwaitDone(t, ex)
				j.Want(t, "G9", tt.want)
			}, core.WithTimersAtShutdown(core.RunTimersUntilTimeout))
		})
	}
}

// The loop sleeps until the old deadline. A later one does not wake it.
func TestG12ResetWakesTheLoopOnlyForAnEarlierDeadline(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		timer := mustSchedule(t, ex, time.Minute, func() {})
		synctest.Wait()
		before := ex.Stats().Wakes
		timer.Reset(2 * time.Minute)
		timer.Reset(time.Minute)
		synctest.Wait()
		coretest.Want(t, "G12: wake-ups for a later deadline", ex.Stats().Wakes-before, 0)
		timer.Reset(time.Second)
		synctest.Wait()
		coretest.Want(t, "G12: wake-ups for an earlier deadline", ex.Stats().Wakes-before, 1)
	})
}
