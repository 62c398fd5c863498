package core_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/pollertest"
)

// modelLoop returns an event loop on a model poller, which has terminated when the
// test ends.
func modelLoop(t testing.TB, opts ...core.Option) (*core.EventLoop, *pollertest.Model) {
	t.Helper()
	m := pollertest.NewModel(nil)
	return loopOn(t, m, opts...), m
}

// loopOn returns an event loop on p, which has terminated when the test ends.
func loopOn(t testing.TB, p core.IOPoller, opts ...core.Option) *core.EventLoop {
	t.Helper()
	l, err := core.NewEventLoop(append(opts, core.WithPoller(p))...)
	if err != nil {
		t.Fatalf("NewEventLoop: %v", err)
	}
	t.Cleanup(func() {
		l.Shutdown()
		awaitDone(t, l)
	})
	return l
}

func mustRegister(t testing.TB, l *core.EventLoop, fd int, i core.Interest, h func(core.Readiness)) *core.Registration {
	t.Helper()
	r, err := l.Register(fd, i, h)
	if err != nil {
		t.Fatalf("Register(%d, %v): %v", fd, i, err)
	}
	return r
}

// must fails the test if a step of its own fails.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ignore is a handler.
func ignore(core.Readiness) {}

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

// want fails the test unless the end was heard once, with cause.
func (e *ending) want(t testing.TB, guarantee string, cause error) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.causes) != 1 || !errors.Is(e.causes[0], cause) || cause == nil && e.causes[0] != nil {
		t.Errorf("%s: OnClose heard %v, want once, %v", guarantee, e.causes, cause)
	}
}

// An accepted registration hears how it ended, once, on the loop; and a later one
// is refused.
func TestG3ARegistrationHearsOfItsEnd(t *testing.T) {
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
					awaitDone(t, l)
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

// In a shutdown each registration is closed, however many there are, and none of
// their handlers is called from then on.
func TestG22AShutdownClosesEveryRegistration(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		const n = 300
		var ends [n]ending
		for i := range n {
			d := m.Open()
			r := mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) {
				if l.State() >= core.StateShuttingDown {
					t.Error("G22: a handler was called after its registration was closed")
				}
			})
			r.OnClose(func(err error) { ends[i].hear(err); must(t, d.Input()) })
		}
		if got := l.Stats().Registrations; got != n {
			t.Errorf("Stats.Registrations is %d, want %d", got, n)
		}
		mustShutdownGracefully(t, l, 20*time.Second, time.Hour)
		start := time.Now()
		awaitDone(t, l)
		for i := range ends {
			ends[i].want(t, "G22", core.ErrShutdown)
		}
		if got := time.Since(start); got != 20*time.Second {
			t.Errorf("G10: the end came %v after the call, want the quiet period of 20s: to close registrations is no work", got)
		}
	})
}

// While the executor is ShuttingDown a registration is accepted, and closed in the
// next turn; that is no work in the sense of the quiet period (G10).
func TestG22RegisteredWhileShuttingDown(t *testing.T) {
	for _, policy := range []core.DrainPolicy{core.DrainChannels, core.CloseChannels} {
		inBubble(t, func(t *testing.T) {
			l, m := modelLoop(t, core.WithDrain(policy))
			first := m.Open()
			mustRegister(t, l, first.FD(), core.Readable, ignore)
			mustShutdownGracefully(t, l, 20*time.Second, time.Hour)
			start := time.Now()
			for range 3 {
				synctest.Wait()
				var e ending
				d := m.Open()
				must(t, d.Input())
				mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) { must(t, d.Drain()) }).OnClose(e.hear)
				synctest.Wait()
				e.want(t, "G22: registered while ShuttingDown", core.ErrShutdown)
			}
			// From inside a hook or task, too.
			var e ending
			d := m.Open()
			onLoop(t, l, func() { mustRegister(t, l, d.FD(), core.Readable, ignore).OnClose(e.hear) })
			synctest.Wait()
			e.want(t, "G22: registered by a task while ShuttingDown", core.ErrShutdown)
			awaitDone(t, l)
			if got := time.Since(start); got != 20*time.Second {
				t.Errorf("G10: the end came after %v, want 20s", got)
			}
		})
	}
}

// batch returns a loop whose next look brings the descriptors in the order given:
// all became ready while it was busy.
func batch(t *testing.T, l *core.EventLoop, ready ...*pollertest.Descriptor) {
	t.Helper()
	release := occupy(t, &l.Executor)
	for _, d := range ready {
		must(t, d.Input())
	}
	release()
	synctest.Wait()
}

// Events of a registration that was closed earlier in the same batch do not reach
// its handler.
func TestClosedEarlierInTheBatch(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		a, b := m.Open(), m.Open()
		var regs [2]*core.Registration
		calls := 0
		handle := func(me int) func(core.Readiness) {
			return func(core.Readiness) {
				calls++
				_ = regs[1-me].Close()
				must(t, []*pollertest.Descriptor{a, b}[me].Drain())
			}
		}
		regs[0] = mustRegister(t, l, a.FD(), core.Readable, handle(0))
		regs[1] = mustRegister(t, l, b.FD(), core.Readable, handle(1))
		batch(t, l, a, b)
		onLoop(t, l, func() {
			if calls != 1 {
				t.Errorf("%d handlers were called, want 1: it closed the other", calls)
			}
		})
	})
}

// Nor do events of one that was paused earlier in the batch.
func TestPausedEarlierInTheBatch(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		a, b := m.Open(), m.Open()
		var paused *core.Registration
		calls := 0
		mustRegister(t, l, a.FD(), core.Readable, func(core.Readiness) {
			must(t, a.Drain())
			must(t, paused.Modify(0))
		})
		paused = mustRegister(t, l, b.FD(), core.Readable, func(core.Readiness) { calls++; must(t, b.Drain()) })
		batch(t, l, a, b)
		if calls != 0 {
			t.Errorf("the paused handler was called %d times, want 0", calls)
		}
		must(t, paused.Modify(core.Readable))
		synctest.Wait()
		if calls != 1 {
			t.Errorf("after the pause: %d calls, want 1", calls)
		}
	})
}

// A number that is closed and used again within one batch is another descriptor:
// what was found about the old one is not told to the new one.
func TestDescriptorNumberReusedWithinABatch(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		a, b := m.Open(), m.Open()
		var c *pollertest.Descriptor
		var j journal
		var old *core.Registration
		mustRegister(t, l, a.FD(), core.Readable, func(core.Readiness) {
			j.add("a")
			must(t, a.Drain())
			_ = old.Close()
			must(t, b.Close())
			if c = m.Open(); c.FD() != b.FD() {
				t.Errorf("the number of the new descriptor is %d, want %d again", c.FD(), b.FD())
			}
			mustRegister(t, l, c.FD(), core.Readable, func(core.Readiness) { j.add("c"); must(t, c.Drain()) })
		})
		old = mustRegister(t, l, b.FD(), core.Readable, func(core.Readiness) { j.add("b") })
		batch(t, l, a, b)
		j.want(t, "an event of the old descriptor", "a")
		must(t, c.Input())
		synctest.Wait()
		j.want(t, "an event of the new one", "a c")
	})
}

// What a look fetched before its registration was closed, or for a slot that has a
// new owner, is for nobody.
func TestStaleEventsAreForNobody(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		event := func(token uint64) core.PollEvent {
			return core.PollEvent{Token: token, Readiness: core.NewReadiness(true, true, true, true)}
		}
		a := m.Open()
		r := mustRegister(t, l, a.FD(), core.Readable, func(core.Readiness) { t.Error("the handler of a closed registration was called") })
		token, _, _ := m.Watched(a.FD())
		_ = r.Close()
		m.Inject(event(token))
		synctest.Wait()
		calls := 0
		mustRegister(t, l, a.FD(), core.Readable, func(core.Readiness) { calls++; must(t, a.Drain()) })
		next, _, _ := m.Watched(a.FD())
		if next == token || uint32(next) != uint32(token) {
			t.Errorf("tokens %#x, then %#x; want the same slot and another generation", token, next)
		}
		m.Inject(event(token), event(0), event(1<<40|12345), event(^uint64(0)))
		synctest.Wait()
		if calls != 0 {
			t.Error("the handler was called with an event of the slot's last owner")
		}
		must(t, a.Input())
		synctest.Wait()
		if calls != 1 {
			t.Errorf("%d calls for one input, want 1", calls)
		}
	})
}

// A descriptor that was closed without its registration, and whose number is
// registered again: the old registration ends and says why, the new one works, and
// a late Close of the old one does it no harm.
func TestDescriptorClosedWithoutItsRegistration(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		a := m.Open()
		var e ending
		old := mustRegister(t, l, a.FD(), core.Readable, func(core.Readiness) { t.Error("the old handler was called") })
		old.OnClose(e.hear)
		must(t, a.Close())
		if err := old.Modify(core.Writable); !errors.Is(err, syscall.EBADF) {
			t.Errorf("Modify of a closed descriptor: %v, want EBADF", err)
		}
		b := m.Open()
		if err := old.Modify(core.Writable); !errors.Is(err, syscall.ENOENT) {
			t.Errorf("Modify of a number that is used again: %v, want ENOENT", err)
		}
		calls := 0
		mustRegister(t, l, b.FD(), core.Readable, func(core.Readiness) { calls++; must(t, b.Drain()) })
		synctest.Wait()
		e.want(t, "G3: the replaced registration", core.ErrDescriptorReused)
		if err := old.Modify(core.Readable); err != core.ErrRegistrationClosed {
			t.Errorf("Modify of the replaced registration: %v, want ErrRegistrationClosed", err)
		}
		_ = old.Close()
		if n := l.Stats().Registrations; n != 1 {
			t.Errorf("Stats.Registrations is %d, want 1", n)
		}
		must(t, b.Input())
		synctest.Wait()
		if calls != 1 {
			t.Errorf("the new handler was called %d times for one input, want 1", calls)
		}
	})
}

// A registration that is closed though its descriptor was closed first: the kernel
// has forgotten it, which is no error.
func TestCloseAfterTheDescriptor(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		a := m.Open()
		var e ending
		r := mustRegister(t, l, a.FD(), core.Readable, ignore)
		r.OnClose(e.hear)
		must(t, a.Close())
		b := m.Open() // the number, not registered
		must(t, r.Close())
		synctest.Wait()
		e.want(t, "G3", nil)
		mustRegister(t, l, b.FD(), core.Readable, ignore)
	})
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
		must(t, d.Input()) // and it stays there: level-triggered
		<-inside
		must(t, r.Close()) // does not wait for the handler
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
			must(t, d.Close())
		}
	})
}

// OnClose listeners are called in order; one that is added after done is called on
// the caller, and a panic of it is contained.
func TestOnCloseOrderAndAfterDone(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var p panicLog
		l, m := modelLoop(t, core.WithPanicHandler(p.handle))
		var j journal
		r := mustRegister(t, l, m.Open().FD(), core.Readable, ignore)
		for i := range 5 {
			r.OnClose(func(error) { j.add(fmt.Sprint(i)) })
		}
		r.OnClose(func(error) { panic("listener") })
		r.OnClose(func(error) { j.add("last") })
		l.Shutdown()
		awaitDone(t, l)
		j.want(t, "G9", "0 1 2 3 4 last")
		r.OnClose(func(err error) { j.add(fmt.Sprint("late ", errors.Is(err, core.ErrShutdown))) })
		r.OnClose(func(error) { panic("late listener") })
		j.want(t, "G9", "0 1 2 3 4 last late true")
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
			must(t, r.Modify(step.interest))
			synctest.Wait()
			if step.change != nil {
				must(t, step.change())
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
		must(t, r.Modify(0))
		m.Fail(pollertest.Add, refused)
		if err := r.Modify(core.Readable); !errors.Is(err, refused) {
			t.Errorf("Modify of a paused registration: %v, want the kernel's error", err)
		}
		must(t, r.Modify(core.Writable)) // it was still paused, and open
		must(t, r.Close())
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
		var j journal
		r := mustRegister(t, l, m.Open().FD(), core.Readable, ignore)
		if r.Post(nil) {
			t.Error("Post(nil): true, want false")
		}
		release := occupy(t, &l.Executor)
		for range 16 {
			mustExecute(t, l, func() {})
		}
		if err := l.Execute(func() {}); !errors.Is(err, core.ErrQueueFull) {
			t.Fatalf("Execute on a full queue: %v", err)
		}
		for i := range 100 {
			if !r.Post(j.note(fmt.Sprint(i))) {
				t.Error("G19: Post to a full queue: false, want true")
			}
		}
		must(t, r.Close())
		if r.Post(j.note("late")) {
			t.Error("Post after Close: true, want false")
		}
		release()
		synctest.Wait()
		var want []string
		for i := range 100 {
			want = append(want, fmt.Sprint(i))
		}
		j.want(t, "what Post accepted runs in order", strings.Join(want, " "))
		if s := l.Stats(); s.Accepted != 17 {
			t.Errorf("G20: %d tasks accepted, want 17: what is posted is none", s.Accepted)
		}
	})
}

// fakeChannel is a Channel of functions; nil ones do nothing.
type fakeChannel struct {
	ready func(core.Readiness)
	drain func(core.Deadline)
	abort func(error)
}

func (c *fakeChannel) Ready(r core.Readiness) {
	if c.ready != nil {
		c.ready(r)
	}
}

func (c *fakeChannel) Drain(until core.Deadline) {
	if c.drain != nil {
		c.drain(until)
	}
}

func (c *fakeChannel) Abort(cause error) {
	if c.abort != nil {
		c.abort(cause)
	}
}

func mustRegisterChannel(t testing.TB, l *core.EventLoop, fd int, c core.Channel) *core.Registration {
	t.Helper()
	r, err := l.RegisterChannel(fd, core.Readable, c)
	if err != nil {
		t.Fatalf("RegisterChannel(%d): %v", fd, err)
	}
	return r
}

// After the close a channel that has not ended keeps the loop: Post works, and the
// executor ends with it.
func TestPostAfterTheClose(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		var j journal
		r := mustRegisterChannel(t, l, m.Open().FD(), &fakeChannel{abort: func(cause error) { j.add(fmt.Sprint(cause == core.ErrShutdown)) }})
		l.Shutdown()
		synctest.Wait()
		if s := l.State(); s != core.StateShutdown {
			t.Fatalf("G22: the state is %v with an open channel, want Shutdown", s)
		}
		if err := l.Execute(func() {}); !errors.Is(err, core.ErrRejected) {
			t.Errorf("G5: Execute after the close: %v", err)
		}
		time.Sleep(time.Hour)
		if !r.Post(j.note("posted")) {
			t.Error("Post after the close: false, want true")
		}
		r.End(core.ChannelEnd{Kind: core.EndAborted, Discarded: 5})
		report := awaitDone(t, l)
		j.want(t, "G22", "true posted")
		if report.ChannelsAborted != 1 || report.BytesDiscarded != 5 || report.ChannelsDrained != 0 {
			t.Errorf("G23: Report: %d aborted, %d bytes discarded, %d drained; want 1, 5, 0", report.ChannelsAborted, report.BytesDiscarded, report.ChannelsDrained)
		}
	})
}

// A channel is told once to drain and once to abort, with its deadline, by policy.
func TestG23WhatChannelsAreTold(t *testing.T) {
	const quiet, timeout = time.Second, 30 * time.Second
	for _, tt := range []struct {
		name   string
		policy core.DrainPolicy
		end    func(l *core.EventLoop)
		want   string
	}{
		{"drain, deadline passes", core.DrainChannels, func(l *core.EventLoop) { _, _ = l.ShutdownGracefully(quiet, timeout) }, "drain at 30s; abort at 30s, timeout true"},
		{"drain, then Shutdown", core.DrainChannels, func(l *core.EventLoop) {
			_, _ = l.ShutdownGracefully(quiet, timeout)
			time.Sleep(time.Second)
			l.Shutdown()
		}, "drain at 30s; abort at 1s, timeout false"},
		{"Shutdown", core.DrainChannels, func(l *core.EventLoop) { l.Shutdown() }, "abort at 0s, timeout false"},
		{"close", core.CloseChannels, func(l *core.EventLoop) { _, _ = l.ShutdownGracefully(quiet, timeout) }, "abort at 0s, timeout false"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				l, m := modelLoop(t, core.WithDrain(tt.policy))
				start := time.Now()
				var told []string
				var r *core.Registration
				r = mustRegisterChannel(t, l, m.Open().FD(), &fakeChannel{
					drain: func(until core.Deadline) { told = append(told, fmt.Sprintf("drain at %v", until.Sub(start))) },
					abort: func(cause error) {
						told = append(told, fmt.Sprintf("abort at %v, timeout %v", time.Since(start), cause == core.ErrShutdownTimeout))
						r.End(core.ChannelEnd{Kind: core.EndAborted})
						r.End(core.ChannelEnd{Kind: core.EndDrained}) // no effect
					},
				})
				onLoop(t, l, func() {})
				tt.end(l)
				report := awaitDone(t, l)
				if got := strings.Join(told, "; "); got != tt.want {
					t.Errorf("G23: told %q, want %q", got, tt.want)
				}
				if report.ChannelsAborted != 1 || report.ChannelsDrained != 0 {
					t.Errorf("G23: %d aborted, %d drained, want 1, 0", report.ChannelsAborted, report.ChannelsDrained)
				}
			})
		})
	}
}

// A panic and a Goexit in handlers, and in what channels are told, stay inside: the
// rest of the batch runs, in order, without another look.
func TestG14TheRestOfTheReadyEvents(t *testing.T) {
	for _, spawner := range []string{"go", "refuses"} {
		t.Run(spawner, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var p panicLog
				spawned := 0
				l, m := modelLoop(t, core.WithPanicHandler(p.handle), core.WithSpawner(func(loop func()) error {
					if spawned++; spawned > 1 && spawner == "refuses" {
						return errors.New("no goroutine left")
					}
					go loop()
					return nil
				}))
				var j journal
				var looks, last int
				behave := []func(){func() {}, func() { panic("handler") }, runtime.Goexit, func() {}, func() { panic("again") }, runtime.Goexit, runtime.Goexit, func() {}}
				var all []*pollertest.Descriptor
				for i, f := range behave {
					d := m.Open()
					all = append(all, d)
					mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) {
						must(t, d.Drain())
						now := m.Count(pollertest.Wait) + m.Count(pollertest.Poll)
						if last != 0 && last != now {
							looks++
						}
						last = now
						if me, ok := core.Current(); !ok || me != core.EventExecutor(l) || !l.InEventLoop() {
							t.Error("G2: Current or InEventLoop is wrong in a handler")
						}
						j.add(fmt.Sprint(i))
						f()
					})
				}
				for round := range 3 { // the registrations are still good
					last = 0
					batch(t, l, all...)
					want := strings.TrimSpace(strings.Repeat("0 1 2 3 4 5 6 7 ", round+1))
					j.want(t, "G14", want)
				}
				if looks != 0 {
					t.Errorf("G14: the poller was looked at %d times within a batch, want 0", looks)
				}
				if got := len(p.all()); got != 6 || l.Stats().Panicked != 6 {
					t.Errorf("G14: %d panics reported, %d counted, want 6", got, l.Stats().Panicked)
				}
				if s := l.Stats(); s.Accepted != 3 || s.Ran != 3 {
					t.Errorf("G20: accepted %d, ran %d tasks, want 3, 3: handlers are none", s.Accepted, s.Ran)
				}
			})
		})
	}
}

// The same for what a shutdown tells channels: all are told.
func TestG14EveryChannelIsTold(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		told := 0
		for i := range 9 {
			var r *core.Registration
			r = mustRegisterChannel(t, l, m.Open().FD(), &fakeChannel{drain: func(core.Deadline) {
				told++
				r.End(core.ChannelEnd{Kind: core.EndDrained})
				switch i % 3 {
				case 1:
					panic("drain")
				case 2:
					runtime.Goexit()
				}
			}})
		}
		mustShutdownGracefully(t, l, 0, time.Hour)
		report := awaitDone(t, l)
		if told != 9 || report.ChannelsDrained != 9 || report.Panicked != 3 {
			t.Errorf("G14: told %d, drained %d, panicked %d; want 9, 9, 3", told, report.ChannelsDrained, report.Panicked)
		}
	})
}

// gated is a model whose Wait comes back when it is let: so that more can happen
// between the look and the loop.
type gated struct {
	*pollertest.Model
	armed atomic.Bool
	found chan struct{} // Wait has found something
	gate  chan struct{}
}

func (g *gated) Wait(until core.Deadline) error {
	err := g.Model.Wait(until)
	if g.armed.CompareAndSwap(true, false) {
		g.found <- struct{}{}
		<-g.gate
	}
	return err
}

// What became ready is handled before the tasks of the turn.
func TestReadinessBeforeTasks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := &gated{Model: pollertest.NewModel(nil), found: make(chan struct{}), gate: make(chan struct{})}
		l := loopOn(t, g)
		d := g.Open()
		var j journal
		mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) { must(t, d.Drain()); j.add("ready") })
		synctest.Wait()
		g.armed.Store(true)
		must(t, d.Input())
		<-g.found
		mustExecute(t, l, j.note("task"))
		must(t, l.ExecuteAfterIteration(j.note("tail")))
		mustSchedule(t, l, 0, j.note("timer"))
		close(g.gate)
		synctest.Wait()
		j.want(t, "R190", "ready task timer tail")
	})
}

// Bad arguments are errors that name the value, are no refusals, and change
// nothing: in any state.
func TestEventLoopBadArguments(t *testing.T) {
	l, m := modelLoop(t)
	d := m.Open()
	calls := func(l *core.EventLoop) map[string]error {
		errs := make(map[string]error)
		_, errs["h is nil"] = l.Register(d.FD(), core.Readable, nil)
		_, errs["fd is -1"] = l.Register(-1, core.Readable, ignore)
		_, errs["interest is 0x8"] = l.Register(d.FD(), 8, ignore)
		_, errs["interest is 0xff"] = l.Register(d.FD(), 255, ignore)
		_, errs["ch is nil"] = l.RegisterChannel(d.FD(), core.Readable, nil)
		_, errs["fd is -7"] = l.RegisterChannel(-7, core.Readable, &fakeChannel{})
		return errs
	}
	check := func(when string) {
		t.Helper()
		for want, err := range calls(l) {
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "want") || errors.Is(err, core.ErrRejected) {
				t.Errorf("%s: got %v, want an error with %q that says what is wanted and is no refusal", when, err, want)
			}
		}
	}
	check("not started")
	if s := l.State(); s != core.StateNotStarted {
		t.Errorf("G17: the state is %v after bad arguments, want NotStarted", s)
	}
	r := mustRegister(t, l, d.FD(), core.Readable, ignore)
	check("started")
	for _, i := range []core.Interest{8, 16, 255} {
		if err := r.Modify(i); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("interest is %#x", uint8(i))) {
			t.Errorf("Modify(%d): %v, want an error that names the value", i, err)
		}
	}
	if _, i, ok := m.Watched(d.FD()); !ok || i != core.Readable {
		t.Errorf("watched %v for %v after bad calls, want Readable", ok, i)
	}
	l.Shutdown()
	awaitDone(t, l)
	check("terminated")
	if n := l.Stats().Rejected; n != 0 {
		t.Errorf("%d tasks are counted as refused, want 0", n)
	}
}

// Options of event loops.
func TestEventLoopBadOptions(t *testing.T) {
	for want, opt := range map[string]core.Option{
		"percent is 0":    core.WithIORatio(0),
		"percent is -1":   core.WithIORatio(-1),
		"percent is 101":  core.WithIORatio(101),
		"d is -1ns":       core.WithSpin(-1),
		"d is 11ms":       core.WithSpin(11 * time.Millisecond),
		"policy is 2":     core.WithDrain(2),
		"policy is -1":    core.WithDrain(-1),
		"option 0 is nil": nil,
	} {
		if l, err := core.NewEventLoop(opt); l != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("NewEventLoop: got %v, %v, want an error with %q", l, err, want)
		}
	}
	l, err := core.NewEventLoop(core.WithPoller(core.NewParkPoller(nil)))
	if l != nil || err == nil || !strings.Contains(err.Error(), "want an IOPoller") {
		t.Errorf("NewEventLoop on a poller that watches nothing: got %v, %v, want an error", l, err)
	}
	g, err := core.NewGroup(2, core.WithPoller(pollertest.NewModel(nil)))
	if g != nil || err == nil || !strings.Contains(err.Error(), "a poller serves one executor") {
		t.Errorf("NewGroup on one poller: got %v, %v, want an error", g, err)
	}
}

// A registration that the poller refuses leaves nothing behind, and says which
// descriptor and why.
func TestRegisterThatFails(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		d := m.Open()
		full := errors.New("max_user_watches")
		for i := range 3 {
			m.Fail(pollertest.Add, full)
			r, err := l.Register(d.FD(), core.Readable, ignore)
			want := fmt.Sprintf("core: Register: descriptor %d: max_user_watches", d.FD())
			if r != nil || !errors.Is(err, full) || err.Error() != want || errors.Is(err, core.ErrRejected) {
				t.Errorf("try %d: got %v, %v, want nil, %q", i, r, err, want)
			}
			m.Fail(pollertest.Add, full)
			if r, err := l.RegisterChannel(d.FD(), core.Readable, &fakeChannel{abort: func(error) { t.Error("told") }}); !errors.Is(err, full) {
				t.Errorf("RegisterChannel: got %v, %v, want the error", r, err)
			}
		}
		if n := l.Stats().Registrations; n != 0 {
			t.Errorf("Stats.Registrations is %d, want 0", n)
		}
		r := mustRegister(t, l, d.FD(), core.Readable, ignore)
		if _, err := l.Register(d.FD(), core.Writable, ignore); !errors.Is(err, syscall.EEXIST) {
			t.Errorf("Register of a registered descriptor: %v, want EEXIST", err)
		}
		must(t, r.Modify(core.Writable)) // the first one is still the owner
		if _, err := l.Register(1<<30, core.Readable, ignore); !errors.Is(err, syscall.EBADF) {
			t.Errorf("Register of a number that is not open: %v, want EBADF", err)
		}
	})
}

// Register starts the loop, as any first use does; a start that fails keeps
// nothing.
func TestG17RegisterStartsTheLoop(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		refuse := true
		noGoroutine := errors.New("no goroutine left")
		l, m := modelLoop(t, core.WithSpawner(func(loop func()) error {
			if refuse {
				return noGoroutine
			}
			go loop()
			return nil
		}))
		d := m.Open()
		r, err := l.Register(d.FD(), core.Readable, ignore)
		if r != nil || !errors.Is(err, noGoroutine) || !errors.Is(err, core.ErrRejected) {
			t.Errorf("G17: Register with a spawner that refuses: %v, %v, want its error", r, err)
		}
		if _, _, ok := m.Watched(d.FD()); ok || l.Stats().Registrations != 0 || l.State() != core.StateNotStarted {
			t.Errorf("G17: something was kept: watched %v, %+v", ok, l.Stats())
		}
		refuse = false
		calls := make(chan struct{}, 1)
		must(t, d.Input())
		mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) { must(t, d.Drain()); calls <- struct{}{} })
		<-calls
		if s := l.State(); s != core.StateStarted {
			t.Errorf("G17: the state is %v, want Started", s)
		}
	})
}

// A loop that was never started is shut down like any other, and closes its poller.
func TestG17ALoopThatNeverStarted(t *testing.T) {
	for name, end := range map[string]func(l *core.EventLoop){
		"Shutdown": func(l *core.EventLoop) { l.Shutdown() },
		"Close":    func(l *core.EventLoop) { _ = l.Close() },
		"graceful": func(l *core.EventLoop) { _, _ = l.ShutdownGracefully(time.Second, time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				l, m := modelLoop(t)
				end(l)
				awaitDone(t, l)
				if m.Count(pollertest.Close) != 1 {
					t.Errorf("G24: the poller was closed %d times, want 1", m.Count(pollertest.Close))
				}
			})
		})
	}
}

// A registration closed by anyone sets the loop free at once: no turn is waited for.
func TestG22TheLastChannelEndsTheShutdown(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		r := mustRegisterChannel(t, l, m.Open().FD(), &fakeChannel{})
		mustShutdownGracefully(t, l, 0, time.Hour)
		start := time.Now()
		time.Sleep(time.Minute)
		if s := l.State(); s != core.StateShuttingDown {
			t.Fatalf("G23: the state is %v while a channel drains, want ShuttingDown", s)
		}
		r.End(core.ChannelEnd{Kind: core.EndDrained})
		report := awaitDone(t, l)
		if got := time.Since(start); got != time.Minute || report.ChannelsDrained != 1 || report.TimedOut {
			t.Errorf("G23: ended after %v, %d drained, timed out %v; want 1m, 1, false", got, report.ChannelsDrained, report.TimedOut)
		}
	})
}
