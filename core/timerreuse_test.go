package core_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// ownTimers is what both executors offer.
type ownTimers interface {
	core.EventExecutor
	ScheduleTimer(t *core.Timer, delay time.Duration, task func()) error
}

// onBothOwn is onBoth with ScheduleTimer.
func onBothOwn(t *testing.T, f func(t *testing.T, ex ownTimers), opts ...core.Option) {
	t.Helper()
	onBoth(t, func(t *testing.T, ex core.EventExecutor) { f(t, ex.(ownTimers)) }, opts...)
}

var policies = []core.TimersAtShutdown{core.CancelTimers, core.RunDueTimers, core.RunTimersUntilTimeout}

// A timerCall is one call of a program of timers that live in slots.
type timerCall struct {
	wait   time.Duration // before the call
	kind   string        // schedule, cancel, reset, hold
	slot   int
	delay  time.Duration // of a hold: how long the body takes
	inside bool          // in a body
}

// TestPropG7ScheduleTimer runs programs twice: with ScheduleTimer, which uses the Timer of a slot
// again and again, and with a new Timer of Schedule each time. Nobody sees a difference: the
// answers of all calls, the instants of the runs, Err and Deadline of each slot, and the counts.
func TestPropG7ScheduleTimer(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		calls := timerCalls(rt)
		policy := rapid.SampledFrom(policies).Draw(rt, "policy")
		quiet := time.Duration(rapid.IntRange(0, 30).Draw(rt, "quiet")) * time.Millisecond
		for _, size := range []int{0, 1} {
			var got [2]string
			for reuse := range got {
				synctest.Test(t, func(t *testing.T) {
					p := timerProgram{reuse: reuse == 1, start: time.Now()}
					if size == 0 {
						p.ex = coretest.NewExecutor(t, core.WithTimersAtShutdown(policy))
					} else {
						p.ex = coretest.NewPool(t, size, core.WithTimersAtShutdown(policy))
					}
					got[reuse] = p.play(t, calls, quiet)
				})
			}
			if got[1] != got[0] {
				rt.Fatalf("G7, G8: pool size %d, policy %v, quiet %v, calls %+v:\nScheduleTimer %s\nSchedule      %s", size, policy, quiet, calls, got[1], got[0])
			}
		}
	})
}

func timerCalls(rt *rapid.T) []timerCall {
	calls := make([]timerCall, rapid.IntRange(1, 30).Draw(rt, "calls"))
	for i := range calls {
		millis := func(most int, label string) time.Duration {
			return time.Duration(rapid.IntRange(0, most).Draw(rt, label)) * time.Millisecond
		}
		calls[i] = timerCall{
			wait: millis(4, "wait") + 100*time.Nanosecond, kind: rapid.SampledFrom([]string{"schedule", "schedule", "cancel", "reset", "hold"}).Draw(rt, "kind"),
			slot: rapid.IntRange(0, 2).Draw(rt, "slot"), delay: millis(12, "delay"), inside: rapid.Bool().Draw(rt, "inside"),
		}
		if !calls[i].inside { // else the loop, or the hold, would race with the call
			calls[i].delay = max(calls[i].delay, time.Millisecond)
		}
	}
	return calls
}

type timerProgram struct {
	ex      ownTimers
	reuse   bool
	start   time.Time
	journal coretest.Journal
	mu      sync.Mutex // held during each call, and while a body looks at its slot
	slots   [3]*core.Timer
}

func (p *timerProgram) play(t *testing.T, calls []timerCall, quiet time.Duration) string {
	for i, c := range calls {
		time.Sleep(c.wait)
		call := func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.add(i, c.kind, p.do(i, c))
		}
		if c.inside && c.kind != "hold" {
			coretest.MustExecute(t, p.ex, call)
		} else {
			call()
		}
	}
	time.Sleep(100 * time.Nanosecond) // the loop has made the last call
	coretest.MustShutdownGracefully(t, p.ex, quiet, quiet+5*time.Millisecond)
	coretest.AwaitDone(t, p.ex)
	s := p.ex.Stats()
	p.add(len(calls), "end", fmt.Sprint(s.TimersScheduled, s.TimersRun, s.TimersEnded, s.TimersCancelled))
	for i := range p.slots {
		p.add(i, "slot", p.look(i))
	}
	return p.journal.String()
}

func (p *timerProgram) add(i int, what, how string) {
	p.journal.Add(fmt.Sprintf("%d:%s:%s@%v", i, what, how, time.Since(p.start)))
}

func (p *timerProgram) do(i int, c timerCall) string {
	switch t := p.slots[c.slot]; c.kind {
	case "schedule":
		return p.schedule(i, c)
	case "cancel":
		return fmt.Sprint(t != nil && t.Cancel(), p.look(c.slot))
	case "reset":
		return fmt.Sprint(t != nil && t.Reset(c.delay), p.look(c.slot))
	}
	return fmt.Sprint(p.ex.Execute(func() { time.Sleep(c.delay) }))
}

func (p *timerProgram) schedule(i int, c timerCall) string {
	body := func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.add(i, "runs", p.look(c.slot))
	}
	t := p.slots[c.slot]
	if t != nil && !isClosed(t.Done()) {
		if !p.reuse {
			return "active"
		}
		err := p.ex.ScheduleTimer(t, c.delay, body)
		if errors.Is(err, core.ErrTimerActive) || errors.Is(err, core.ErrRejected) { // after the close
			return "active"
		}
		return fmt.Sprint("it has not ended, and ScheduleTimer returns ", err)
	}
	var err error
	if !p.reuse {
		t, err = p.ex.Schedule(c.delay, body)
	} else {
		if t == nil {
			t = new(core.Timer)
		}
		err = p.ex.ScheduleTimer(t, c.delay, body)
	}
	if err != nil {
		return err.Error()
	}
	p.slots[c.slot] = t
	return p.look(c.slot)
}

func (p *timerProgram) look(slot int) string {
	t := p.slots[slot]
	if t == nil {
		return "none"
	}
	at := "never"
	if d := t.Deadline(); !d.IsZero() {
		at = fmt.Sprint(d.Sub(p.start))
	}
	return fmt.Sprintf("%v/%v/%s", isClosed(t.Done()), t.Err(), at)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// What ScheduleTimer refuses, and that the timer is then as it was.
func TestG5ScheduleTimerRefuses(t *testing.T) {
	onBothOwn(t, func(t *testing.T, ex ownTimers) {
		other := coretest.NewExecutor(t, core.WithName("other"))
		foreign := mustSchedule(t, other, time.Hour, func() {})
		foreign.Cancel()
		periodic, err := ex.ScheduleAtFixedRate(time.Hour, time.Hour, func() {})
		coretest.Must(t, err)
		periodic.Cancel()
		var own core.Timer
		task := func() {}
		coretest.WantText(t, "no task", ex.ScheduleTimer(&own, 0, nil), "core: ScheduleTimer: task is nil, want a function")
		coretest.WantText(t, "no timer", ex.ScheduleTimer(nil, 0, task), "core: ScheduleTimer: t is nil, want a Timer of the caller")
		coretest.WantText(t, "a periodic timer", ex.ScheduleTimer(periodic, 0, task), "core: ScheduleTimer: t is periodic, want the zero Timer or one that Schedule has made")
		coretest.WantText(t, "a timer of another executor", ex.ScheduleTimer(foreign, 0, task),
			"core: ScheduleTimer: t is a timer of other, want the zero Timer or a timer of "+ex.(interface{ Name() string }).Name())
		coretest.Want(t, "G20: timers scheduled", ex.Stats().TimersScheduled, 1)

		var waiting, inBody error
		coretest.Must(t, ex.ScheduleTimer(&own, time.Second, func() { inBody = ex.ScheduleTimer(&own, 0, task) }))
		waiting = ex.ScheduleTimer(&own, 0, task)
		coretest.WantErr(t, "a timer that waits", waiting, core.ErrTimerActive)
		coretest.WantText(t, "a timer that waits", waiting, "core: ScheduleTimer: timer has not ended: it waits for its deadline")
		coretest.Await(t, "the run", own.Done())
		coretest.WantErr(t, "a timer that runs", inBody, core.ErrTimerActive)
		coretest.WantText(t, "a timer that runs", inBody, "core: ScheduleTimer: timer has not ended: its body runs")

		coretest.Must(t, ex.ScheduleTimer(&own, time.Second, task))
		ex.Shutdown()
		coretest.AwaitDone(t, ex)
		coretest.WantErr(t, "after the end", ex.ScheduleTimer(&own, 0, task), core.ErrRejected)
		coretest.WantErr(t, "G9: Err is as it was", own.Err(), core.ErrCancelled)
		coretest.Want(t, "G20: timers scheduled", ex.Stats().TimersScheduled, 3)
	})
}

// The zero Timer answers as a timer that nobody has scheduled.
func TestG8AZeroTimer(t *testing.T) {
	var own core.Timer
	coretest.Want(t, "Cancel", own.Cancel(), false)
	coretest.Want(t, "Reset", own.Reset(0), false)
	coretest.Want(t, "Deadline", own.Deadline(), time.Time{})
	coretest.Want(t, "Err", own.Err(), nil)
	coretest.Want(t, "Done", own.Done(), nil)
}

// Each use of a Timer has a channel of its own.
func TestG9DoneOfATimerThatIsUsedAgain(t *testing.T) {
	onBothOwn(t, func(t *testing.T, ex ownTimers) {
		var own core.Timer
		coretest.Must(t, ex.ScheduleTimer(&own, time.Second, func() { panic("the first body panics") }))
		first := own.Done()
		coretest.Await(t, "the first run", first)
		coretest.Must(t, ex.ScheduleTimer(&own, time.Second, func() {}))
		coretest.Want(t, "G9: Done is open", isClosed(own.Done()), false)
		coretest.Want(t, "G9: the old one is closed", isClosed(first), true)
		coretest.Want(t, "G9: Err", own.Err(), nil)
		coretest.Await(t, "the second run", own.Done())
		coretest.Want(t, "G9: Err at the end", own.Err(), nil)
	}, core.WithPanicHandler(func(*core.PanicError) {}))
}

// ScheduleTimer allocates nothing, inside the loop and outside.
func TestScheduleTimerAllocatesNothing(t *testing.T) {
	ex := coretest.NewExecutor(t)
	var own core.Timer
	nothing := func() {}
	pair := func() {
		if err := ex.ScheduleTimer(&own, time.Hour, nothing); err != nil || !own.Cancel() {
			panic(fmt.Sprint("not scheduled and cancelled: ", err))
		}
	}
	coretest.Want(t, "allocations outside", testing.AllocsPerRun(1000, pair), 0)
	inside := -1.0
	coretest.OnLoop(t, ex, func() { inside = testing.AllocsPerRun(1000, pair) })
	coretest.Want(t, "allocations inside", inside, 0)
}

// G20: many timers are cancelled and scheduled again from outside while a body runs, so the loop
// finds each in the list of changed timers with another deadline. The list wakes no loop early: it
// counts as cancelled only what is.
func TestG12TimersScheduledAgainCountAsCancelledNoMore(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		timers := make([]core.Timer, 8)
		ran := 0
		for i := range timers {
			coretest.Must(t, ex.ScheduleTimer(&timers[i], time.Minute, func() { t.Error("G8: a cancelled timer runs") }))
		}
		coretest.OnLoop(t, ex, func() {})
		synctest.Wait()
		wakes := ex.Stats().Wakes
		for range 20 {
			for i := range timers[:4] { // half of the heap: one more would wake the loop
				coretest.Want(t, "G8: Cancel", timers[i].Cancel(), true)
				coretest.Must(t, ex.ScheduleTimer(&timers[i], time.Hour, func() { ran++ }))
			}
		}
		coretest.Want(t, "G12: wake-ups", ex.Stats().Wakes, wakes)
		for i := range timers[4:] {
			timers[4+i].Cancel()
		}
		time.Sleep(2 * time.Hour)
		coretest.OnLoop(t, ex, func() {})
		coretest.Want(t, "G8: runs", ran, 4)
	})
}

// A timer that a shutdown is about to cancel, since it is due after the timeout, is cancelled by its
// owner and scheduled again before the timeout. The pool cancels such timers in chunks, and must pass
// over those that have become others meanwhile. The hammer meets the moment between two chunks
// often, but not in each run.
func TestG8TimersScheduledAgainWhileAPoolCancelsLateOnes(t *testing.T) {
	const timers = 100_000
	ex := coretest.NewPool(t, 1, core.WithTimersAtShutdown(core.RunTimersUntilTimeout))
	own := make([]core.Timer, timers)
	for i := range own {
		coretest.Must(t, ex.ScheduleTimer(&own[i], 10*time.Hour, func() { t.Error("G11: a timer after the timeout has run") }))
	}
	coretest.MustShutdownGracefully(t, ex, time.Hour, 2*time.Hour)
	var again []*core.Timer
	for i := range own {
		if late := &own[timers-1-i]; late.Cancel() {
			coretest.Must(t, ex.ScheduleTimer(late, 200*time.Millisecond, func() {}))
			again = append(again, late)
		}
	}
	for _, timer := range again {
		coretest.Await(t, "a timer that was scheduled again", timer.Done())
		coretest.WantErr(t, "G8: Err", timer.Err(), nil)
	}
	ex.Shutdown()
}
