package core_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// A bound is that of each child: a full child refuses in its turn, though another has room,
// and a task behind one that blocks waits, though another child is idle.
func TestG21ABoundIsOfEachChild(t *testing.T) {
	const room = 16
	g := coretest.NewExecutorGroup(t, 2, core.WithMaxPendingTasks(room))
	full := childOf(g.Next())
	g.Next() // the turn of the idle one
	release := occupy(t, full)
	for range room {
		coretest.MustExecute(t, full, func() {})
	}
	coretest.WantErr(t, "G19: the turn of the full child", g.Execute(func() {}), core.ErrQueueFull)
	coretest.WantErr(t, "G21: the turn of the idle child", g.Execute(func() {}), nil)
	coretest.Want(t, "G21: tasks behind the one that blocks", full.Stats().Pending, room+1)
	release()
}

// Each method that submits work takes one turn.
func TestG21EachCallTakesATurn(t *testing.T) {
	for name, submit := range map[string]func(g *core.Group) error{
		"Execute":                func(g *core.Group) error { return g.Execute(func() {}) },
		"ExecuteLazy":            func(g *core.Group) error { return g.ExecuteLazy(func() {}) },
		"Schedule":               func(g *core.Group) error { _, err := g.Schedule(time.Hour, func() {}); return err },
		"ScheduleAtFixedRate":    func(g *core.Group) error { _, err := g.ScheduleAtFixedRate(time.Hour, 1, func() {}); return err },
		"ScheduleWithFixedDelay": func(g *core.Group) error { _, err := g.ScheduleWithFixedDelay(time.Hour, 1, func() {}); return err },
	} {
		g := coretest.NewExecutorGroup(t, 3)
		for range 6 {
			coretest.Must(t, submit(g))
		}
		for child := range g.All() {
			if s := child.Stats(); s.Accepted+s.TimersScheduled != 2 {
				t.Errorf("G21: %s: a child of 3 got %d of 6 calls, want 2", name, s.Accepted+s.TimersScheduled)
			}
		}
	}
}

// watchedClock is a manual clock that records, in each call, which children are shutting down.
type watchedClock struct {
	*manualClock
	children []core.EventExecutor
	order    [][]core.State
}

// A shutdown call reaches the children in the order in which they were made.
func TestG21ShutdownReachesTheChildrenInOrder(t *testing.T) {
	for name, end := range map[string]func(g *core.Group){
		"ShutdownGracefully": func(g *core.Group) { _, _ = g.ShutdownGracefully(time.Second, time.Hour) },
		"Shutdown":           func(g *core.Group) { g.Shutdown() },
	} {
		clock := &watchedClock{manualClock: newManualClock()}
		var mu sync.Mutex
		g := coretest.NewExecutorGroup(t, 3, core.WithClock(clock), core.WithSpawner(refuseIt)) // no loop calls the clock
		clock.children = slices.Collect(g.All())
		clock.onNow = func() {
			mu.Lock()
			defer mu.Unlock()
			var states []core.State
			for _, child := range clock.children {
				states = append(states, child.State())
			}
			clock.order = append(clock.order, states)
		}
		end(g)
		<-g.Termination().Done()
		mu.Lock()
		for _, states := range clock.order {
			begun := func(s core.State) bool { return s > core.StateNotStarted }
			n := 0
			for n < len(states) && begun(states[n]) {
				n++
			}
			if slices.ContainsFunc(states[n:], begun) {
				t.Errorf("G21: %s: during the call the children were %v, want the first ones alone shutting down", name, states)
			}
		}
		if len(clock.order) < 3 {
			t.Errorf("%s: not exercised: %d calls of the clock, want one for each child", name, len(clock.order))
		}
		mu.Unlock()
	}
}

// The listeners of a promise run on a child of its group. A type that wraps a group gets them
// through its Execute method.
func TestPromiseOfAWrappedGroup(t *testing.T) {
	g := coretest.NewExecutorGroup(t, 2)
	for child := range g.All() {
		coretest.OnLoop(t, child, func() {})
	}
	before := g.Stats().Accepted
	wrapped := &countingGroup{Group: g}
	for _, ex := range []core.EventExecutor{g, wrapped} {
		inside := make(chan bool, 1)
		p := core.NewPromise[int](ex)
		p.Future().OnDone(func(int, error) { inside <- g.InEventLoop() })
		p.TrySuccess(1)
		coretest.Want(t, "the listener ran on a child", <-inside, true)
	}
	coretest.Want(t, "calls of Execute of the wrapper", wrapped.calls, 1)
	coretest.Want(t, "tasks: the listener of the wrapper alone", g.Stats().Accepted-before, 1)
}

// A type that embeds a pool has its own Execute, and is a pool in everything else.
type embeddingPool struct {
	*core.Pool
	calls int
}

func (p *embeddingPool) Execute(task func()) error { p.calls++; return p.Pool.Execute(task) }

func TestListenersOfAnEmbeddedPool(t *testing.T) {
	pool := coretest.NewPool(t, 1)
	release := block(t, pool)
	w := &embeddingPool{Pool: pool}
	f := core.Submit(w, give(1))
	heard := make(chan bool, 1)
	f.OnDone(func(int, error) { heard <- pool.InEventLoop() })
	release()
	coretest.Want(t, "the listener ran on a worker", <-heard, true)
	coretest.Must(t, pool.Close())
	if s := pool.Stats(); s.Accepted != 2 || w.calls != 1 {
		t.Errorf("G9, G20: %d tasks accepted, %d calls of Execute; want 2, 1: a listener is no task", s.Accepted, w.calls)
	}
}
