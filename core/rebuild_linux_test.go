package core_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
)

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

// The owner of a registration that cannot move is notified before the loop sleeps, also if the poller
// failed in the last turn, between tasks, where nothing else makes another turn. The numbers of tasks grow
// by less than a turn runs, so one of them has its poll in its last turn.
func TestG22ALossInTheLastTurnIsNotified(t *testing.T) {
	rebuilt := 0
	for n := 64; n <= 64*(core.BusyTurns+2); n += 32 {
		inBubble(t, func(t *testing.T) {
			l, m := modelLoop(t)
			var e ending
			mustRegister(t, l, m.Open().FD(), core.Readable, ignore).OnClose(e.hear)
			synctest.Wait()
			noRoom := errors.New("max_user_watches")
			coretest.MustExecute(t, l, func() {
				for range n {
					coretest.MustExecute(t, l, func() {})
				}
				m.Fail(pollertest.Add, noRoom)
				m.Fail(pollertest.Poll, errPoller)
			})
			synctest.Wait()
			if l.Stats().Rebuilds == 1 {
				rebuilt++
				e.want(t, fmt.Sprintf("G22: one that cannot move, beside %d tasks", n), noRoom)
			}
		})
	}
	if rebuilt == 0 {
		t.Error("no number of tasks has made the loop poll between two tasks")
	}
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
				coretest.WantText(t, "G15: Err, with the errors in their order", err, errors.Join(tt.fatal...).Error())
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
