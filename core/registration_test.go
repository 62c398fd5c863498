package core_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
)

// ending records how a registration ended.
type ending struct {
	mu     sync.Mutex
	causes []error
}

func (e *ending) hear(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.causes = append(e.causes, err)
}

// want fails the test unless the listener was called once, with cause.
func (e *ending) want(t testing.TB, guarantee string, cause error) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.causes) != 1 || !errors.Is(e.causes[0], cause) || cause == nil && e.causes[0] != nil {
		t.Errorf("%s: the OnClose listener got %v, want one call with %v", guarantee, e.causes, cause)
	}
}

// The listener of an accepted registration is called with its cause, once, on the loop; a
// later registration is refused.
func TestG3AnOwnerIsNotifiedOfTheEnd(t *testing.T) {
	broken := errors.New("broken epoll descriptor")
	for _, tt := range []struct {
		name  string
		end   func(l *core.EventLoop, m *pollertest.Model, r *core.Registration)
		cause error
		lives bool
	}{
		{"Close", func(_ *core.EventLoop, _ *pollertest.Model, r *core.Registration) { _ = r.Close() }, nil, true},
		{"Close on the loop", func(l *core.EventLoop, _ *pollertest.Model, r *core.Registration) {
			_ = l.Execute(func() { _ = r.Close() })
		}, nil, true},
		{"End", func(_ *core.EventLoop, _ *pollertest.Model, r *core.Registration) { r.End(core.ChannelEnd{}) }, nil, true},
		{"Shutdown", func(l *core.EventLoop, _ *pollertest.Model, _ *core.Registration) { l.Shutdown() }, core.ErrShutdown, false},
		{"a graceful shutdown", func(l *core.EventLoop, _ *pollertest.Model, _ *core.Registration) {
			_, _ = l.ShutdownGracefully(time.Second, time.Hour)
		}, core.ErrShutdown, false},
		{"the deadline of a graceful shutdown", func(l *core.EventLoop, _ *pollertest.Model, _ *core.Registration) {
			_ = l.Execute(func() { time.Sleep(30 * time.Second) })
			synctest.Wait() // the loop is in the task, and hears of nothing before the deadline
			_, _ = l.ShutdownGracefully(time.Second, 10*time.Second)
		}, core.ErrShutdownTimeout, false},
		{"Close() of the loop", func(l *core.EventLoop, _ *pollertest.Model, _ *core.Registration) { _ = l.Close() }, core.ErrShutdown, false},
		{"a poller that breaks", func(_ *core.EventLoop, m *pollertest.Model, _ *core.Registration) {
			m.Fail(pollertest.Reopen, errPoller)
			m.Fail(pollertest.Wait, broken)
		}, broken, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				l, m := modelLoop(t)
				var e, late ending
				d := m.Open()
				r := mustRegister(t, l, d.FD(), core.Readable, ignore)
				r.OnClose(func(err error) {
					if !l.InEventLoop() {
						t.Error("G9: OnClose was called off the loop, which lives")
					}
					e.hear(err)
				})
				synctest.Wait()
				tt.end(l, m, r)
				if !tt.lives {
					coretest.AwaitDone(t, l)
				}
				synctest.Wait()
				e.want(t, "G3, G22", tt.cause)
				r.OnClose(late.hear)
				synctest.Wait()
				late.want(t, "G9: an OnClose that comes late", tt.cause)
				if err := r.Modify(core.Readable); err != core.ErrRegistrationClosed {
					t.Errorf("Modify after the end: %v, want ErrRegistrationClosed", err)
				}
				if r.Post(func() { t.Error("Post after the end ran") }) {
					t.Error("Post after the end: true, want false")
				}
				_ = r.Close()
				if n := l.Stats().Registrations; n != 0 {
					t.Errorf("Stats.Registrations is %d after the end, want 0", n)
				}
				if _, _, watched := m.Watched(d.FD()); watched && tt.lives {
					t.Error("G24: the descriptor is watched after the end")
				}
				again, err := l.Register(d.FD(), core.Readable, ignore)
				if tt.lives != (err == nil) || !tt.lives && !errors.Is(err, core.ErrRejected) {
					t.Errorf("G5: Register afterwards: %v, want accepted %v", err, tt.lives)
				}
				if again != nil {
					_ = again.Close()
				}
			})
		})
	}
}

// After Close has returned no call of the handler begins: one that is running goes
// on to its end.
func TestCloseFromAnotherGoroutine(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		d := m.Open()
		inside, gate := make(chan struct{}), make(chan struct{})
		calls := 0
		r := mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) {
			calls++
			close(inside)
			<-gate
		})
		coretest.Must(t, d.Input()) // and it stays there: level-triggered
		<-inside
		coretest.Must(t, r.Close()) // does not wait for the handler
		close(gate)
		synctest.Wait()
		if calls != 1 {
			t.Errorf("%d calls of the handler, want 1: the one that was running", calls)
		}
	})
}

// Of many calls of Close one has an effect.
func TestOnCloseOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		for range 50 {
			d := m.Open()
			var e [3]ending
			r := mustRegister(t, l, d.FD(), core.Readable, ignore)
			r.OnClose(nil)
			for i := range e {
				r.OnClose(e[i].hear)
			}
			var closers sync.WaitGroup
			for range 4 {
				closers.Go(func() { _ = r.Close() })
			}
			closers.Wait()
			synctest.Wait()
			for i := range e {
				e[i].want(t, "G3", nil)
			}
			coretest.Must(t, d.Close())
		}
		coretest.Want(t, "panics: a nil listener is ignored", l.Stats().Panicked, 0)
	})
}

// OnClose listeners are called in order; one that is added after done is called on
// the caller, and a panic of it is contained.
func TestOnCloseOrderAndAfterDone(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var p panicLog
		l, m := modelLoop(t, core.WithPanicHandler(p.handle))
		var j coretest.Journal
		r := mustRegister(t, l, m.Open().FD(), core.Readable, ignore)
		for i := range 5 {
			r.OnClose(func(error) { j.Add(fmt.Sprint(i)) })
		}
		r.OnClose(func(error) { panic("listener") })
		r.OnClose(func(error) { j.Add("last") })
		l.Shutdown()
		coretest.AwaitDone(t, l)
		j.Want(t, "G9", "0 1 2 3 4 last")
		r.OnClose(func(err error) { j.Add(fmt.Sprint("late ", errors.Is(err, core.ErrShutdown))) })
		r.OnClose(func(error) { panic("late listener") })
		j.Want(t, "G9", "0 1 2 3 4 last late true")
		if got := len(p.all()); got != 2 {
			t.Errorf("G14: %d panics were reported, want 2", got)
		}
	})
}

// Interest changes, also to nothing and back. Nothing is not watched at all.
func TestModify(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		d := m.Open()
		var got atomic.Int64
		var last atomic.Int64
		r := mustRegister(t, l, d.FD(), core.Readable|core.EdgeTriggered, func(r core.Readiness) { got.Add(1); last.Store(int64(r)) })
		for i, step := range []struct {
			interest core.Interest
			change   func() error
			calls    int64
			want     core.Readiness
		}{
			{core.Readable | core.EdgeTriggered, d.Input, 1, core.NewReadiness(true, false, false, false)},
			{core.Readable | core.EdgeTriggered, nil, 2, core.NewReadiness(true, false, false, false)}, // an edge again
			{0, d.Input, 2, 0},
			{core.EdgeTriggered, d.Input, 2, 0},
			{core.Writable | core.EdgeTriggered, nil, 3, core.NewReadiness(false, true, false, false)},
			{core.Readable | core.Writable | core.EdgeTriggered, nil, 4, core.NewReadiness(true, true, false, false)},
			{0, nil, 4, 0},
			{core.Readable | core.EdgeTriggered, nil, 5, core.NewReadiness(true, false, false, false)}, // it was there meanwhile
			{core.Readable | core.EdgeTriggered, d.HangUp, 7, core.NewReadiness(true, false, true, false)},
		} {
			coretest.Must(t, r.Modify(step.interest))
			synctest.Wait()
			if step.change != nil {
				coretest.Must(t, step.change())
			}
			synctest.Wait()
			if i == 0 {
				got.Store(1) // Modify and Input may be one look or two
			}
			if n := got.Load(); n != step.calls || step.want != 0 && core.Readiness(last.Load()) != step.want {
				t.Fatalf("step %d, %v: %d calls, the last with %v; want %d, %v", i, step.interest, n, core.Readiness(last.Load()), step.calls, step.want)
			}
			_, interest, watched := m.Watched(d.FD())
			if want := step.interest&(core.Readable|core.Writable) != 0; watched != want || watched && interest != step.interest {
				t.Errorf("step %d: watched %v for %v, want %v for %v", i, watched, interest, want, step.interest)
			}
		}
	})
}

// A Modify that the kernel refuses changes nothing.
func TestModifyThatFails(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		d := m.Open()
		r := mustRegister(t, l, d.FD(), core.Readable, ignore)
		refused := errors.New("no room in the kernel")
		m.Fail(pollertest.Modify, refused)
		if err := r.Modify(core.Writable); !errors.Is(err, refused) || !strings.Contains(err.Error(), fmt.Sprintf("descriptor %d", d.FD())) {
			t.Errorf("Modify: %v, want the kernel's error, with the descriptor", err)
		}
		if _, i, ok := m.Watched(d.FD()); !ok || i != core.Readable {
			t.Errorf("watched %v for %v, want Readable as before", ok, i)
		}
		coretest.Must(t, r.Modify(0))
		m.Fail(pollertest.Add, refused)
		if err := r.Modify(core.Readable); !errors.Is(err, refused) {
			t.Errorf("Modify of a paused registration: %v, want the kernel's error", err)
		}
		coretest.Must(t, r.Modify(core.Writable)) // it was still paused, and open
		coretest.Must(t, r.Close())
		if _, _, ok := m.Watched(d.FD()); ok {
			t.Error("G24: watched after Close")
		}
	})
}

// Post runs on the loop, in order, is no task, and works until the registration
// has ended.
func TestPost(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t, core.WithMaxPendingTasks(16))
		var j coretest.Journal
		r := mustRegister(t, l, m.Open().FD(), core.Readable, ignore)
		if r.Post(nil) {
			t.Error("Post(nil): true, want false")
		}
		release := occupy(t, &l.Executor)
		for range 16 {
			coretest.MustExecute(t, l, func() {})
		}
		if err := l.Execute(func() {}); !errors.Is(err, core.ErrQueueFull) {
			t.Fatalf("Execute on a full queue: %v", err)
		}
		for i := range 100 {
			if !r.Post(j.Adds(fmt.Sprint(i))) {
				t.Error("G19: Post to a full queue: false, want true")
			}
		}
		coretest.Must(t, r.Close())
		if r.Post(j.Adds("late")) {
			t.Error("Post after Close: true, want false")
		}
		release()
		synctest.Wait()
		var want []string
		for i := range 100 {
			want = append(want, fmt.Sprint(i))
		}
		j.Want(t, "what Post accepted runs in order", strings.Join(want, " "))
		if s := l.Stats(); s.Accepted != 17 {
			t.Errorf("G20: %d tasks accepted, want 17: what is posted is none", s.Accepted)
		}
	})
}

// A registration that could not be moved into a new poller, and has not been notified yet,
// cannot be modified, though its number was not reused.
func TestG22ModifyOfARegistrationThatCouldNotMove(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		noRoom := errors.New("max_user_watches")
		var first, second *core.Registration
		var modified error
		first = mustRegisterChannel(t, l, m.Open().FD(), &fakeChannel{abort: func(error) {
			modified = second.Modify(core.Writable) // it will be told next
			first.End(core.ChannelEnd{})
		}})
		second = mustRegister(t, l, m.Open().FD(), core.Readable, ignore)
		var e ending
		second.OnClose(e.hear)
		synctest.Wait()
		m.Fail(pollertest.Add, noRoom, noRoom)
		m.Fail(pollertest.Wait, errPoller)
		synctest.Wait()
		if modified == nil || errors.Is(modified, core.ErrDescriptorReused) || errors.Is(modified, core.ErrRegistrationClosed) {
			t.Errorf("G22: Modify before OnClose was called: got %v, want an error that is neither ErrDescriptorReused nor ErrRegistrationClosed", modified)
		}
		e.want(t, "G22: one that cannot move", noRoom)
		if err := second.Modify(core.Writable); err != core.ErrRegistrationClosed {
			t.Errorf("G22: Modify after OnClose was called: got %v, want ErrRegistrationClosed", err)
		}
	})
}
