package core_test

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
)

// A registration without an interest does not reach the poller: its errors come from Modify.
func TestRegisterWithoutInterest(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		const closed = 1 << 29
		r := mustRegister(t, l, closed, 0, ignore)
		coretest.Want(t, "FD", r.FD(), closed)
		coretest.Want(t, "calls of Add", m.Count(pollertest.Add), 0)
		coretest.WantErr(t, "Modify", r.Modify(core.Readable), syscall.EBADF)
		coretest.Want(t, "registrations", l.Stats().Registrations, 1)
		coretest.Must(t, r.Close())
	})
}

// Modify does not take back an event that the loop has collected, unless it pauses.
func TestModifyKeepsCollectedEvents(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		a, b := m.Open(), m.Open()
		var second *core.Registration
		var got []core.Readiness
		mustRegister(t, l, a.FD(), core.Readable, func(core.Readiness) {
			coretest.Must(t, a.Drain())
			coretest.Must(t, second.Modify(core.Writable|core.EdgeTriggered))
		})
		second = mustRegister(t, l, b.FD(), core.Readable, func(r core.Readiness) { got = append(got, r) })
		batch(t, l, a, b)
		readable, writable := core.NewReadiness(true, false, false, false), core.NewReadiness(false, true, false, false)
		if !slices.Equal(got, []core.Readiness{readable, writable}) {
			t.Errorf("the handler got %v, want the collected event, and then the new interest", got)
		}
	})
}

// A channel whose descriptor was closed and registered again ends without Abort, which would
// close the new descriptor.
func TestReusedDescriptorIsNotAborted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		a := m.Open()
		var e ending
		old := mustRegisterChannel(t, l, a.FD(), &fakeChannel{
			drain: func(core.Deadline) { t.Error("Drain was called") },
			abort: func(error) { t.Error("Abort was called") },
		})
		old.OnClose(e.hear)
		coretest.Must(t, a.Close())
		b := m.Open()
		coretest.Want(t, "the number of the new descriptor", b.FD(), a.FD())
		mustRegister(t, l, b.FD(), core.Readable, ignore)
		synctest.Wait()
		e.want(t, "G22: a replaced channel", core.ErrDescriptorReused)
		l.Shutdown()
		coretest.AwaitDone(t, l)
	})
}

// After End on the loop no method is called: neither Ready for an event that was collected, nor
// Drain or Abort of a shutdown that the loop has seen.
func TestNoMethodOfAChannelAfterItsEnd(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		var regs [2]*core.Registration
		var ended [2]bool
		channel := func(i int) *fakeChannel {
			called := func(what string) {
				if ended[i] {
					t.Errorf("%s of channel %d was called after its End", what, i)
				}
			}
			return &fakeChannel{
				ready: func(core.Readiness) { called("Ready") },
				drain: func(core.Deadline) {
					called("Drain")
					for k := range regs {
						ended[k] = true
						regs[k].End(core.ChannelEnd{Kind: core.EndDrained})
					}
				},
				abort: func(error) { called("Abort") },
			}
		}
		for i := range regs {
			regs[i] = mustRegisterChannel(t, l, m.Open().FD(), channel(i))
		}
		coretest.MustShutdownGracefully(t, l, 0, time.Hour)
		report := coretest.AwaitDone(t, l)
		coretest.Want(t, "G23: drained", report.ChannelsDrained, 2)
	})
}

// Channels yields channels, and its body may call the loop.
func TestChannelsAreNoPlainRegistrations(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		mustRegister(t, l, m.Open().FD(), core.Readable, ignore)
		ch := &fakeChannel{}
		r := mustRegisterChannel(t, l, m.Open().FD(), ch)
		mustRegister(t, l, m.Open().FD(), core.Readable, ignore)
		var got []core.Channel
		for ch := range l.Channels() {
			got = append(got, ch)
			coretest.Want(t, "registrations, asked for in the body", l.Stats().Registrations, 3)
		}
		if !slices.Equal(got, []core.Channel{ch}) {
			t.Errorf("Channels yields %v, want the one channel", got)
		}
		r.End(core.ChannelEnd{})
	})
}

// In a shutdown a handler restarts the quiet period only if it runs at the call. Post never
// does.
func TestG10HandlersAndPostsInAShutdown(t *testing.T) {
	const ms = time.Millisecond
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		d := m.Open()
		var r *core.Registration
		r = mustRegisterChannel(t, l, d.FD(), &fakeChannel{ready: func(core.Readiness) {
			coretest.Must(t, d.Drain())
			time.Sleep(100 * ms)
			r.Post(func() { time.Sleep(100 * ms); r.End(core.ChannelEnd{}) })
		}})
		synctest.Wait()
		start := time.Now()
		coretest.MustShutdownGracefully(t, l, time.Second, time.Hour)
		time.Sleep(700 * ms)
		coretest.Must(t, d.Input())
		if got := elapsedAtClose(t, l, start); got != time.Second {
			t.Errorf("G10: closed %v after the call, want 1s: a later handler does not count", got)
		}
	})
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		d := m.Open()
		mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) { coretest.Must(t, d.Drain()); time.Sleep(700 * ms) })
		synctest.Wait()
		coretest.Must(t, d.Input())
		synctest.Wait()
		start := time.Now()
		coretest.MustShutdownGracefully(t, l, time.Second, time.Hour)
		if got := elapsedAtClose(t, l, start); got != 1700*ms {
			t.Errorf("G10: closed %v after the call, want 1.7s: the handler ran at the call", got)
		}
	})
}

// Channels begin to drain before hooks run, and before the tasks that were queued.
func TestG6ChannelsDrainBeforeHooks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		var j coretest.Journal
		var r *core.Registration
		r = mustRegisterChannel(t, l, m.Open().FD(), &fakeChannel{drain: func(core.Deadline) { j.Add("drain"); r.End(core.ChannelEnd{}) }})
		mustHook(t, &l.Executor, j.Adds("hook"))
		coretest.MustShutdownGracefully(t, l, 0, time.Hour)
		coretest.AwaitDone(t, l)
		j.Want(t, "G6, G23", "drain hook")
	})
}

// ownedPoller counts the calls of a poller's methods that break its contract.
type ownedPoller struct {
	*pollertest.Model
	inLoop    func() bool
	changing  atomic.Int32
	offLoop   atomic.Int32 // calls of Wait, Poll or Ready from another goroutine
	overlaps  atomic.Int32 // calls of Add, Modify or Remove during another one
	exercised atomic.Int32
}

func (p *ownedPoller) own() {
	if p.exercised.Add(1); !p.inLoop() {
		p.offLoop.Add(1)
	}
}

func (p *ownedPoller) change() func() {
	if p.exercised.Add(1); p.changing.Add(1) > 1 {
		p.overlaps.Add(1)
	}
	runtime.Gosched()
	return func() { p.changing.Add(-1) }
}

func (p *ownedPoller) Wait(until core.Deadline) error { p.own(); return p.Model.Wait(until) }
func (p *ownedPoller) Poll() error                    { p.own(); return p.Model.Poll() }
func (p *ownedPoller) Ready() []core.PollEvent        { p.own(); return p.Model.Ready() }
func (p *ownedPoller) Remove(fd int) error            { defer p.change()(); return p.Model.Remove(fd) }
func (p *ownedPoller) Add(fd int, i core.Interest, token uint64) error {
	defer p.change()()
	return p.Model.Add(fd, i, token)
}
func (p *ownedPoller) Modify(fd int, i core.Interest, token uint64) error {
	defer p.change()()
	return p.Model.Modify(fd, i, token)
}

// ownedLoop returns a loop on such a poller, on which goroutines have registered, modified and
// closed descriptors.
func ownedLoop(t *testing.T) *ownedPoller {
	t.Helper()
	p := &ownedPoller{Model: pollertest.NewModel(nil)}
	l, err := core.NewEventLoop(core.WithPoller(p))
	p.inLoop = func() bool { return l.InEventLoop() }
	coretest.EndWithTest(t, l, err)
	var callers sync.WaitGroup
	for range 4 {
		d := p.Open()
		callers.Go(func() {
			for range 100 {
				r, err := l.Register(d.FD(), core.Readable, func(core.Readiness) { _ = d.Drain() })
				if err != nil {
					t.Errorf("Register: %v", err)
					return
				}
				err = errors.Join(d.Input(), r.Modify(core.Readable|core.Writable), r.Modify(0), r.Modify(core.Readable), r.Close())
				if err != nil {
					t.Errorf("Modify and Close: %v", err)
				}
			}
		})
	}
	callers.Wait()
	coretest.OnLoop(t, l, func() {})
	if p.exercised.Load() < 400 {
		t.Errorf("not exercised: %d calls of the poller", p.exercised.Load())
	}
	return p
}

func TestOnlyTheLoopPolls(t *testing.T) {
	coretest.Want(t, "calls of Wait, Poll and Ready off the loop", ownedLoop(t).offLoop.Load(), 0)
}

func TestThePollerIsChangedByOneAtATime(t *testing.T) {
	coretest.Want(t, "calls of Add, Modify and Remove during another one", ownedLoop(t).overlaps.Load(), 0)
}

// Stats has the hooks that wait, and the registrations that are open.
func TestStatsOfHooksAndRegistrations(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		mustHook(t, &l.Executor, func() {})
		remove := mustHook(t, &l.Executor, func() {})
		r := mustRegister(t, l, m.Open().FD(), core.Readable, ignore)
		want := func(hooks, ran, open int64) {
			t.Helper()
			if s := l.Stats(); s.Hooks != hooks || s.HooksRun != ran || s.Registrations != open {
				t.Errorf("%d hooks wait, %d ran, %d registrations; want %d, %d, %d", s.Hooks, s.HooksRun, s.Registrations, hooks, ran, open)
			}
		}
		want(2, 0, 1)
		remove()
		coretest.Must(t, r.Close())
		want(1, 0, 0)
		l.Shutdown()
		coretest.AwaitDone(t, l)
		want(0, 1, 0)
	})
}
