package core_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
)

// batch returns a loop whose next look brings the descriptors in the order given:
// all became ready while it was busy.
func batch(t *testing.T, l *core.EventLoop, ready ...*pollertest.Descriptor) {
	t.Helper()
	release := occupy(t, &l.Executor)
	for _, d := range ready {
		coretest.Must(t, d.Input())
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
				coretest.Must(t, []*pollertest.Descriptor{a, b}[me].Drain())
			}
		}
		regs[0] = mustRegister(t, l, a.FD(), core.Readable, handle(0))
		regs[1] = mustRegister(t, l, b.FD(), core.Readable, handle(1))
		batch(t, l, a, b)
		coretest.OnLoop(t, l, func() {
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
			coretest.Must(t, a.Drain())
			coretest.Must(t, paused.Modify(0))
		})
		paused = mustRegister(t, l, b.FD(), core.Readable, func(core.Readiness) { calls++; coretest.Must(t, b.Drain()) })
		batch(t, l, a, b)
		if calls != 0 {
			t.Errorf("the paused handler was called %d times, want 0", calls)
		}
		coretest.Must(t, paused.Modify(core.Readable))
		synctest.Wait()
		if calls != 1 {
			t.Errorf("after the pause: %d calls, want 1", calls)
		}
	})
}

// A number that is closed and reused within one batch is another descriptor: an event
// of the old one is not delivered to the new one.
func TestDescriptorNumberReusedWithinABatch(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		a, b := m.Open(), m.Open()
		var c *pollertest.Descriptor
		var j coretest.Journal
		var old *core.Registration
		mustRegister(t, l, a.FD(), core.Readable, func(core.Readiness) {
			j.Add("a")
			coretest.Must(t, a.Drain())
			_ = old.Close()
			coretest.Must(t, b.Close())
			if c = m.Open(); c.FD() != b.FD() {
				t.Errorf("the number of the new descriptor is %d, want %d again", c.FD(), b.FD())
			}
			mustRegister(t, l, c.FD(), core.Readable, func(core.Readiness) { j.Add("c"); coretest.Must(t, c.Drain()) })
		})
		old = mustRegister(t, l, b.FD(), core.Readable, func(core.Readiness) { j.Add("b") })
		batch(t, l, a, b)
		j.Want(t, "an event of the old descriptor", "a")
		coretest.Must(t, c.Input())
		synctest.Wait()
		j.Want(t, "an event of the new one", "a c")
	})
}

// An event that was collected before its registration was closed, or for a slot that has a
// new registration, reaches no handler.
func TestStaleEventsReachNoHandler(t *testing.T) {
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
		mustRegister(t, l, a.FD(), core.Readable, func(core.Readiness) { calls++; coretest.Must(t, a.Drain()) })
		next, _, _ := m.Watched(a.FD())
		if next == token || uint32(next) != uint32(token) {
			t.Errorf("tokens %#x, then %#x; want the same slot and another generation", token, next)
		}
		m.Inject(event(token), event(0), event(1<<40|12345), event(^uint64(0)))
		synctest.Wait()
		if calls != 0 {
			t.Error("the handler was called with an event of the slot's last owner")
		}
		coretest.Must(t, a.Input())
		synctest.Wait()
		if calls != 1 {
			t.Errorf("%d calls for one input, want 1", calls)
		}
	})
}

// A descriptor is closed without its registration, and its number is registered again: the
// old registration ends with the reason, the new one works, and a late Close of the old one
// does not affect it.
func TestDescriptorClosedWithoutItsRegistration(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		a := m.Open()
		var e ending
		old := mustRegister(t, l, a.FD(), core.Readable, func(core.Readiness) { t.Error("the old handler was called") })
		old.OnClose(e.hear)
		coretest.Must(t, a.Close())
		if err := old.Modify(core.Writable); !errors.Is(err, syscall.EBADF) {
			t.Errorf("Modify of a closed descriptor: %v, want EBADF", err)
		}
		b := m.Open()
		if err := old.Modify(core.Writable); !errors.Is(err, syscall.ENOENT) {
			t.Errorf("Modify of a number that is used again: %v, want ENOENT", err)
		}
		calls := 0
		mustRegister(t, l, b.FD(), core.Readable, func(core.Readiness) { calls++; coretest.Must(t, b.Drain()) })
		synctest.Wait()
		e.want(t, "G3: the replaced registration", core.ErrDescriptorReused)
		if err := old.Modify(core.Readable); err != core.ErrRegistrationClosed {
			t.Errorf("Modify of the replaced registration: %v, want ErrRegistrationClosed", err)
		}
		_ = old.Close()
		if n := l.Stats().Registrations; n != 1 {
			t.Errorf("Stats.Registrations is %d, want 1", n)
		}
		coretest.Must(t, b.Input())
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
		coretest.Must(t, a.Close())
		b := m.Open() // the number, not registered
		coretest.Must(t, r.Close())
		synctest.Wait()
		e.want(t, "G3", nil)
		mustRegister(t, l, b.FD(), core.Readable, ignore)
	})
}

// A panic and a Goexit in handlers, and in Drain and Abort of channels, stay inside: the
// rest of the batch runs, in order, without another poll.
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
				var j coretest.Journal
				var looks, last int
				behave := []func(){func() {}, func() { panic("handler") }, runtime.Goexit, func() {}, func() { panic("again") }, runtime.Goexit, runtime.Goexit, func() {}}
				var all []*pollertest.Descriptor
				for i, f := range behave {
					d := m.Open()
					all = append(all, d)
					mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) {
						coretest.Must(t, d.Drain())
						now := m.Count(pollertest.Wait) + m.Count(pollertest.Poll)
						if last != 0 && last != now {
							looks++
						}
						last = now
						if me, ok := core.Current(); !ok || me != core.EventExecutor(l) || !l.InEventLoop() {
							t.Error("G2: Current or InEventLoop is wrong in a handler")
						}
						j.Add(fmt.Sprint(i))
						f()
					})
				}
				for round := range 3 { // the registrations are still good
					last = 0
					batch(t, l, all...)
					want := strings.TrimSpace(strings.Repeat("0 1 2 3 4 5 6 7 ", round+1))
					j.Want(t, "G14", want)
				}
				if looks != 0 {
					t.Errorf("G14: the loop polled %d times within a batch, want 0", looks)
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
		var j coretest.Journal
		mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) { coretest.Must(t, d.Drain()); j.Add("ready") })
		synctest.Wait()
		g.armed.Store(true)
		coretest.Must(t, d.Input())
		<-g.found
		coretest.MustExecute(t, l, j.Adds("task"))
		coretest.Must(t, l.ExecuteAfterIteration(j.Adds("tail")))
		mustSchedule(t, l, 0, j.Adds("timer"))
		close(g.gate)
		synctest.Wait()
		j.Want(t, "R190", "ready task timer tail")
	})
}
