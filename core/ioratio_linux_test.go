package core_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
)

// busyLoop keeps turnTasks tasks in the queue of l, each of which takes cost and
// resubmits itself until over returns true: one batch is one turn.
func busyLoop(t *testing.T, l *core.EventLoop, cost time.Duration, ran *int, over func() bool) {
	t.Helper()
	var task func()
	task = func() {
		time.Sleep(cost)
		*ran++
		if !over() {
			_ = l.Execute(task) // refused at the end of the test
		}
	}
	coretest.OnLoop(t, l, func() {
		for range core.TurnTasks {
			coretest.Must(t, l.Execute(task))
		}
	})
}

// A loop that is busy with both gives readiness its share of the time, to the turn:
// after a handler that took h it runs tasks for h*(100-percent)/percent, rounded up
// to a turn of 64 of them, and never more than 16 turns, so that neither side
// starves the other. Calls of runtime.Goexit change nothing. Time is virtual.
func TestG13IORatio(t *testing.T) {
	const perTurn = core.TurnTasks * time.Millisecond
	for _, tt := range []struct {
		percent int
		handler time.Duration
		turns   int
	}{
		{1, perTurn, core.BusyTurns}, // 99 turns would be its share: the bound is what holds
		{1, time.Millisecond, 2},
		{10, perTurn, 9},
		{50, 0, 1},
		{50, perTurn, 1},
		{50, 10 * perTurn, 10},
		{50, 100 * perTurn, core.BusyTurns},
		{80, 10 * perTurn, 3},
		{99, 10 * perTurn, 1},
		{100, perTurn, core.BusyTurns},
		{100, 0, core.BusyTurns},
	} {
		for end, exit := range map[string]func(){"returns": func() {}, "exits": runtime.Goexit} {
			t.Run(fmt.Sprintf("%d %% after a handler of %v that %s", tt.percent, tt.handler, end), func(t *testing.T) {
				inBubble(t, func(t *testing.T) { checkIORatio(t, tt.percent, tt.handler, tt.turns, exit) })
			})
		}
	}
}

// checkIORatio counts the tasks between calls of a handler that ends by exit.
func checkIORatio(t *testing.T, percent int, handler time.Duration, turns int, exit func()) {
	l, m := modelLoop(t, core.WithIORatio(percent))
	d := m.Open()
	ran, last, calls := 0, 0, 0
	coretest.Must(t, d.Input())
	busyLoop(t, l, time.Millisecond, &ran, func() bool { return calls > 20 })
	mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) {
		time.Sleep(handler)
		if calls++; calls > 20 {
			coretest.Must(t, d.Drain())
		} else if calls > 2 && ran-last != turns*core.TurnTasks {
			t.Errorf("G13: ratio %d, handler %v: %d tasks between two calls, want %d turns of %d",
				percent, handler, ran-last, turns, core.TurnTasks)
		}
		last = ran
		exit()
	})
	time.Sleep(10 * time.Hour)
	coretest.OnLoop(t, l, func() {}) // what handlers wrote is visible
	if calls <= 20 {
		t.Errorf("G13: ratio %d, handler %v: %d calls of the handler in ten hours, want more than 20", percent, handler, calls)
	}
}

// Once no descriptor is ready any more, a busy loop polls every 16 turns again: its
// tasks do not pay for past readiness.
func TestABusyLoopWithoutReadinessPollsRarely(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		d := m.Open()
		mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) { time.Sleep(time.Millisecond); coretest.Must(t, d.Drain()) })
		coretest.Must(t, d.Input())
		synctest.Wait()
		const turns = 1600
		ran := 0
		before := m.Count(pollertest.Poll)
		busyLoop(t, l, time.Millisecond, &ran, func() bool { return ran > turns*core.TurnTasks })
		time.Sleep(time.Hour)
		if got, most := m.Count(pollertest.Poll)-before, turns/core.BusyTurns+5; got > most || got < turns/core.BusyTurns-5 {
			t.Errorf("%d polls in %d turns without readiness, want about %d", got, turns, turns/core.BusyTurns)
		}
	})
}

// Readiness without end does not starve tasks, timers, tail tasks, hooks, or the
// close.
func TestG13ReadinessWithoutEndStarvesNothing(t *testing.T) {
	for _, percent := range []int{1, 50, 100} {
		inBubble(t, func(t *testing.T) {
			l, m := modelLoop(t, core.WithIORatio(percent))
			calls := 0
			for range 50 {
				d := m.Open()
				coretest.Must(t, d.Input())
				mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) { calls++; time.Sleep(time.Millisecond) })
			}
			time.Sleep(time.Second)
			heard := make(chan string, 10)
			at := 0
			say := func(what string) func() {
				return func() {
					if calls-at > 200 {
						t.Errorf("G13: ratio %d: %s came after %d calls of handlers, want at most 200, which are 4 polls", percent, what, calls-at)
					}
					heard <- what
				}
			}
			coretest.OnLoop(t, l, func() {
				at = calls
				coretest.Must(t, l.Execute(say("task")))
				coretest.Must(t, l.ExecuteAfterIteration(say("tail task")))
				_, err := l.Schedule(0, say("timer"))
				coretest.Must(t, err)
			})
			for range 3 {
				<-heard
			}
			mustHook(t, &l.Executor, say("hook"))
			coretest.OnLoop(t, l, func() { at = calls })
			l.Shutdown()
			coretest.AwaitDone(t, l)
			<-heard
		})
	}
}

// Tasks without end do not starve readiness: it comes after a bounded batch.
func TestG13TasksWithoutEndDoNotStarveReadiness(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t, core.WithIORatio(100))
		d := m.Open()
		ran, at, calls := 0, 0, 0
		mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) {
			calls++
			coretest.Must(t, d.Drain())
			if got, most := ran-at, (core.BusyTurns+1)*core.TurnTasks; got > most {
				t.Errorf("G13: %d tasks ran between input and its handler, want at most %d", got, most)
			}
		})
		busyLoop(t, l, time.Millisecond, &ran, func() bool { return calls == 10 })
		for i := range 10 {
			in := make(chan struct{})
			coretest.Must(t, l.Execute(func() { at = ran; coretest.Must(t, d.Input()); close(in) }))
			<-in
			time.Sleep(time.Duration(2*i+2) * time.Second)
		}
		time.Sleep(time.Minute)
		coretest.OnLoop(t, l, func() {}) // what handlers wrote is visible
		if calls != 10 {
			t.Errorf("G13: %d calls for 10 inputs, far apart, want 10", calls)
		}
	})
}

// A poller that returns without a reason, again and again, is rebuilt; every
// registration is moved into the new one, and works.
func TestRebuildAfterPrematureReturns(t *testing.T) {
	coretest.Want(t, "R195: premature returns before a rebuild", core.MaxPremature, 512)
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		const n = 20
		var ends [n]ending
		calls := 0
		all := make([]*pollertest.Descriptor, n)
		for i := range all {
			all[i] = m.Open()
			interest := core.Readable
			if i%4 == 3 {
				interest = 0 // paused: nothing to move
			}
			mustRegister(t, l, all[i].FD(), interest, func(core.Readiness) { calls++; coretest.Must(t, all[i].Drain()) }).OnClose(ends[i].hear)
		}
		synctest.Wait()
		m.Spurious(core.MaxPremature - 1)
		synctest.Wait()
		if got := l.Stats().Rebuilds; got != 0 {
			t.Fatalf("R195: %d rebuilds after %d premature returns, want 0", got, core.MaxPremature-1)
		}
		coretest.OnLoop(t, l, func() {}) // a return with a reason: the count begins again
		m.Spurious(core.MaxPremature - 1)
		synctest.Wait()
		if got := l.Stats().Rebuilds; got != 0 {
			t.Fatalf("R195: %d rebuilds after %d premature returns in a row, twice, want 0", got, core.MaxPremature-1)
		}
		m.Spurious(1)
		synctest.Wait()
		if got := l.Stats().Rebuilds; got != 1 || m.Count(pollertest.Reopen) != 1 {
			t.Fatalf("R195: %d rebuilds, %d calls of Reopen, want 1, 1", got, m.Count(pollertest.Reopen))
		}
		for i, d := range all {
			if _, _, ok := m.Watched(d.FD()); ok != (i%4 != 3) {
				t.Errorf("R196: descriptor %d watched: %v", i, ok)
			}
			coretest.Must(t, d.Input())
		}
		synctest.Wait()
		if calls != n*3/4 {
			t.Errorf("R196: %d handlers were called after the rebuild, want %d", calls, n*3/4)
		}
		if got := l.Stats().Registrations; got != n {
			t.Errorf("R196: %d registrations are open, want %d", got, n)
		}
	})
}

// A registration that cannot be moved is closed with its error; a channel is aborted. The
// others are not affected (netty R196 may leave them without events).
func TestG22ARegistrationThatCannotMoveIsClosed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		noRoom := errors.New("max_user_watches")
		var ends [4]ending
		calls := 0
		all := make([]*pollertest.Descriptor, 4)
		for i := range all {
			all[i] = m.Open()
			if i == 2 {
				var r *core.Registration
				r = mustRegisterChannel(t, l, all[i].FD(), &fakeChannel{abort: func(err error) { ends[i].hear(err); r.End(core.ChannelEnd{}) }})
				continue
			}
			mustRegister(t, l, all[i].FD(), core.Readable, func(core.Readiness) { calls++; coretest.Must(t, all[i].Drain()) }).OnClose(ends[i].hear)
		}
		synctest.Wait()
		m.Fail(pollertest.Add, nil, noRoom, noRoom, nil)
		m.Fail(pollertest.Wait, errPoller)
		synctest.Wait()
		ends[1].want(t, "G22: one that cannot move", noRoom)
		ends[2].want(t, "G22: a channel that cannot move", noRoom)
		for _, d := range all {
			coretest.Must(t, d.Input())
		}
		synctest.Wait()
		if s := l.Stats(); calls != 2 || s.Registrations != 2 || s.Rebuilds != 1 || s.State != core.StateStarted {
			t.Errorf("R196: %d calls, %d registrations, %d rebuilds, state %v; want 2, 2, 1, Started", calls, s.Registrations, s.Rebuilds, s.State)
		}
		again := mustRegister(t, l, all[1].FD(), core.Readable, ignore) // the owner may try again
		coretest.Must(t, again.Close())
	})
}

// A poller that fails is rebuilt once; if it fails again before it has worked, the
// executor ends with the error. This holds for failures of Wait and of Poll.
func TestG15APollerThatFailsIsRebuiltOnce(t *testing.T) {
	again := errors.New("again")
	for _, tt := range []struct {
		name  string
		fail  func(m *pollertest.Model)
		fatal []error // those in Termination.Err
	}{
		{"once", func(m *pollertest.Model) { m.Fail(pollertest.Wait, errPoller) }, nil},
		{"twice in a row", func(m *pollertest.Model) { m.Fail(pollertest.Wait, errPoller, again) }, []error{again}},
		{"and Reopen fails", func(m *pollertest.Model) {
			m.Fail(pollertest.Reopen, again)
			m.Fail(pollertest.Wait, errPoller)
		}, []error{errPoller, again}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				l, m := modelLoop(t)
				d := m.Open()
				var e ending
				calls := 0
				mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) { calls++; coretest.Must(t, d.Drain()) }).OnClose(e.hear)
				timer := mustSchedule(t, l, time.Hour, func() {})
				synctest.Wait()
				tt.fail(m)
				synctest.Wait()
				if tt.fatal == nil {
					coretest.Must(t, d.Input())
					synctest.Wait()
					if s := l.Stats(); calls != 1 || s.Rebuilds != 1 || s.State != core.StateStarted {
						t.Errorf("%d calls, %d rebuilds, state %v; want 1, 1, Started", calls, s.Rebuilds, s.State)
					}
					return
				}
				coretest.AwaitDone(t, l)
				err := l.Termination().Err()
				for _, want := range []error{errPoller, again} {
					if has := slices.Contains(tt.fatal, want); errors.Is(err, want) != has {
						t.Errorf("G15: Err is %v, want %q in it: %v", err, want, has)
					}
				}
				e.want(t, "G15, G22", again)
				if timer.Err() != core.ErrCancelled {
					t.Errorf("G15: the timer's Err is %v, want ErrCancelled", timer.Err())
				}
				if m.Count(pollertest.Close) != 1 {
					t.Errorf("G24: Close was called %d times, want 1", m.Count(pollertest.Close))
				}
			})
		})
	}
}

// Failures that are far apart are not "in a row", of a loop that never sleeps
// neither.
func TestG15FailuresFarApart(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		d := m.Open()
		mustRegister(t, l, d.FD(), core.Readable, ignore)
		for range 5 {
			synctest.Wait()
			m.Fail(pollertest.Wait, errPoller)
			synctest.Wait()
			coretest.OnLoop(t, l, func() {})
		}
		if s := l.Stats(); s.State != core.StateStarted || s.Rebuilds != 5 {
			t.Errorf("G15: state %v, %d rebuilds; want Started, 5", s.State, s.Rebuilds)
		}
		stop, ran := false, 0
		busyLoop(t, l, time.Millisecond, &ran, func() bool { return stop })
		for range 5 {
			m.Fail(pollertest.Poll, errPoller)
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		if s := l.Stats(); s.State != core.StateStarted || s.Rebuilds != 10 {
			t.Errorf("G15: a busy loop whose poller fails once in a minute: state %v with %v, %d rebuilds; want Started, 10", s.State, l.Termination().Report(), s.Rebuilds)
		}
		coretest.OnLoop(t, l, func() { stop = true })
	})
}

// A poller that cannot be rebuilt after premature returns is kept: it still works.
func TestRebuildThatFailsKeepsThePoller(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		d := m.Open()
		calls := 0
		mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) { calls++; coretest.Must(t, d.Drain()) })
		synctest.Wait()
		m.Fail(pollertest.Reopen, errPoller)
		m.Spurious(core.MaxPremature)
		synctest.Wait()
		coretest.Must(t, d.Input())
		synctest.Wait()
		if s := l.Stats(); calls != 1 || s.Rebuilds != 0 || s.State != core.StateStarted {
			t.Errorf("%d calls, %d rebuilds, state %v; want 1, 0, Started", calls, s.Rebuilds, s.State)
		}
		m.Spurious(core.MaxPremature)
		synctest.Wait()
		if s := l.Stats(); s.Rebuilds != 1 {
			t.Errorf("%d rebuilds after as many returns again, want 1", s.Rebuilds)
		}
	})
}

// An executor whose poller broke still waits for channels that end on other
// goroutines.
func TestG15ABrokenPollerWaitsForChannels(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		told := make(chan error, 1)
		r := mustRegisterChannel(t, l, m.Open().FD(), &fakeChannel{abort: func(err error) { told <- err }})
		synctest.Wait()
		m.Fail(pollertest.Wait, errPoller, errPoller)
		if err := <-told; !errors.Is(err, errPoller) {
			t.Errorf("G15: Abort got %v, want the poller's error", err)
		}
		time.Sleep(time.Hour)
		if s := l.State(); s != core.StateShutdown {
			t.Errorf("G22: state %v with an open channel, want Shutdown", s)
		}
		ran := make(chan struct{})
		if !r.Post(func() { close(ran) }) {
			t.Error("Post: false, want true: the channel is open")
		}
		<-ran
		time.AfterFunc(time.Second, func() { r.End(core.ChannelEnd{Kind: core.EndAborted}) })
		coretest.AwaitDone(t, l)
		if err := l.Termination().Err(); !errors.Is(err, errPoller) {
			t.Errorf("G15: Err %v, want the poller's", err)
		}
	})
}
