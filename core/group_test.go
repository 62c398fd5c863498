package core_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

func childOf(ex core.EventExecutor) *core.Executor { return ex.(*core.Executor) }

func TestG21ChildrenAreMadeAtOnceAndStartLazily(t *testing.T) {
	var spawned spawnLog
	g := coretest.NewExecutorGroup(t, 3, spawned.plan(), core.WithName("crew"))
	children := slices.Collect(g.All())
	if len(children) != 3 || spawned.asked.Load() != 0 || g.State() != core.StateNotStarted {
		t.Fatalf("G21: %d children, %d started, state %v; want 3, 0, NotStarted", len(children), spawned.asked.Load(), g.State())
	}
	for i, child := range children {
		if name := childOf(child).Name(); name != fmt.Sprint("crew-", i) || childOf(child).Parent() != g {
			t.Errorf("G21: child %d is called %q with parent %v", i, name, childOf(child).Parent())
		}
	}
	coretest.OnLoop(t, g, func() {})
	if n := spawned.asked.Load(); n != 1 || g.State() != core.StateNotStarted {
		t.Errorf("G21: %d children started by one task, state %v; want 1, and NotStarted, the least", n, g.State())
	}
	for range g.All() {
		break // All stops when its consumer does
	}
}

func TestG21RoundRobinIsExactlyFair(t *testing.T) {
	const n, rounds = 3, 400
	g := coretest.NewExecutorGroup(t, n)
	all := slices.Collect(g.All())
	for i := range 2 * n {
		if got := g.Next(); got != all[i%n] {
			t.Fatalf("G21: Next number %d is child %d, want %d", i, slices.Index(all, got), i%n)
		}
	}
	var mu sync.Mutex
	counts := map[core.EventExecutor]int{}
	var wg sync.WaitGroup
	for _, calls := range []int{100, 200, 300, 600} { // unequal: equal callers in step could repeat turns and be fair
		wg.Go(func() {
			mine := map[core.EventExecutor]int{}
			for range calls {
				mine[g.Next()]++
			}
			mu.Lock()
			defer mu.Unlock()
			for child, k := range mine {
				counts[child] += k
			}
		})
	}
	wg.Wait()
	for i, child := range all {
		if counts[child] != rounds {
			t.Errorf("G21: child %d had %d turns, want %d", i, counts[child], rounds)
		}
	}
}

func TestG21ChildrenThatAreDownKeepTheirTurn(t *testing.T) {
	g := coretest.NewExecutorGroup(t, 2)
	down := g.Next()
	down.Shutdown()
	coretest.AwaitDone(t, down)
	if err := g.Execute(func() {}); err != nil {
		t.Errorf("G21: the turn of the child that is up: got %v, want nil", err)
	}
	if err := g.Execute(func() {}); !errors.Is(err, core.ErrShutdown) {
		t.Errorf("G21: the turn of the child that is down: got %v, want ErrShutdown", err)
	}
	if s := g.State(); s == core.StateTerminated {
		t.Error("G21: state Terminated with a child that is up")
	}
}

func TestG21TerminationComesAfterTheLastChildsAndSumsUp(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := coretest.NewExecutorGroup(t, 3)
		for i := range 6 {
			if err := g.Execute(func() { time.Sleep(time.Duration(i) * time.Second) }); err != nil {
				t.Fatal(err)
			}
		}
		mustSchedule(t, g, time.Hour, func() {})
		for child := range g.All() {
			mustHook(t, childOf(child), func() {})
		}
		coretest.MustShutdownGracefully(t, g, time.Second, time.Minute)
		if err := g.AwaitTermination(neverEnds); err != nil {
			t.Errorf("AwaitTermination: %v", err)
		}
		for child := range g.All() {
			if s := child.State(); s != core.StateTerminated {
				t.Errorf("G21: a child is %v at the group's done", s)
			}
		}
		report := g.Termination().Report()
		if report.Accepted != 6 || report.Ran != 6 || report.HooksRun != 3 || report.TimersCancelled != 1 ||
			report.Elapsed != 8*time.Second || report.Quiet != time.Second || report.Timeout != time.Minute {
			t.Errorf("G21: report %+v, want 6 accepted and run, 3 hooks, 1 timer cancelled, 8s, (1s, 1m)", report)
		}
		if s := g.Stats(); s.Accepted != 6 || s.Ran != 6 || s.State != core.StateTerminated || s.HooksRun != 3 {
			t.Errorf("G21: stats %+v, want the sum", s)
		}
	})
}

func TestG15AGroupIsTerminatedIfAndOnlyIfDoneIsClosed(t *testing.T) {
	isDone := func(g *core.Group) bool {
		select {
		case <-g.Termination().Done():
			return true
		default:
			return false
		}
	}
	for range 100 {
		g := coretest.NewExecutorGroup(t, 3)
		g.Shutdown()
		for {
			state, stats := g.State(), g.Stats().State
			done := isDone(g) // looked at last: it may only have become true meanwhile
			if !done && (state == core.StateTerminated || stats == core.StateTerminated) {
				t.Fatalf("G15: State %v, Stats().State %v before Done", state, stats)
			}
			if done {
				break
			}
		}
		if state, stats := g.State(), g.Stats().State; state != core.StateTerminated || stats != state {
			t.Fatalf("G15: State %v, Stats().State %v after Done, want Terminated", state, stats)
		}
	}
}

func TestG21ErrorsOfChildrenAreJoined(t *testing.T) {
	g := coretest.NewExecutorGroup(t, 3, core.WithSpawner(refuseIt))
	err := g.Close()
	if !errors.Is(err, errSpawn) || err != g.Termination().Err() {
		t.Errorf("G21: Close: got %v, want the spawner's error; Err is %v", err, g.Termination().Err())
	}
	want := "child 0: no goroutine left\nchild 1: no goroutine left\nchild 2: no goroutine left"
	if fmt.Sprint(err) != want {
		t.Errorf("G21: got %q, want %q", err, want)
	}
}

func TestG21ContextEndsWithTheLastChilds(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := coretest.NewExecutorGroup(t, 2)
		slow := g.Next()
		coretest.MustExecute(t, slow, func() { time.Sleep(10 * time.Second) })
		start := time.Now()
		coretest.MustShutdownGracefully(t, g, 0, 3*time.Second)
		synctest.Wait()
		if g.Context().Err() != nil {
			t.Error("G21: Context has ended before the last child's close")
		}
		coretest.Await(t, "the group's Context", g.Context().Done())
		if at, cause := time.Since(start), context.Cause(g.Context()); at != 3*time.Second || cause != core.ErrShutdownTimeout {
			t.Errorf("G21: Context ended at %v with %v, want 3s, the last child's ErrShutdownTimeout", at, cause)
		}
		if report := coretest.AwaitDone(t, g); !report.TimedOut || report.Running == "" {
			t.Errorf("G21: TimedOut %v, Running %q; want the slow child's", report.TimedOut, report.Running)
		}
	})
}

func TestG21CallsInAChild(t *testing.T) {
	g := coretest.NewExecutorGroup(t, 2)
	pending := core.NewPromise[int](g.Next())
	for child := range g.All() {
		coretest.OnLoop(t, child, func() {
			if current, ok := core.Current(); !g.InEventLoop() || !ok || current != child {
				t.Errorf("G21: in a child: InEventLoop %v, Current %v", g.InEventLoop(), current)
			}
			for name, call := range waits(g, pending.Future()) {
				if name == "Close" || name == "Future.Wait" {
					continue
				}
				if err := call(); err != core.ErrInEventLoop {
					t.Errorf("G18, G21: %s in a child: got %v, want ErrInEventLoop", name, err)
				}
			}
		})
	}
	if g.InEventLoop() {
		t.Error("G21: InEventLoop outside: got true")
	}
	coretest.OnLoop(t, g, func() {
		if err := g.Close(); err != core.ErrInEventLoop {
			t.Errorf("G18, G21: Close in a child: got %v, want ErrInEventLoop", err)
		}
	})
	coretest.AwaitDone(t, g)
}

// Every method that a group has for its children reaches them.
func TestG21TheGroupIsAnEventExecutor(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := coretest.NewExecutorGroup(t, 2)
		ran := make(chan struct{}, 8)
		body := func() { ran <- struct{}{} }
		if err := g.Execute(body); err != nil {
			t.Error(err)
		}
		if err := g.ExecuteLazy(body); err != nil {
			t.Error(err)
		}
		mustSchedule(t, g, time.Second, body)
		rate, err := g.ScheduleAtFixedRate(time.Second, time.Hour, body)
		if err != nil {
			t.Error(err)
		}
		delay, err := g.ScheduleWithFixedDelay(time.Second, time.Hour, body)
		if err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Second)
		if len(ran) != 5 {
			t.Errorf("G21: %d bodies ran, want 5", len(ran))
		}
		rate.Cancel()
		delay.Cancel()
		heard := make(chan error, 1)
		g.Termination().OnDone(func(_ core.Report, err error) { heard <- err })
		if g.Shutdown() != g.Termination() {
			t.Error("G15: Shutdown returned another Termination")
		}
		if err, listened := g.Close(), <-heard; err != nil || listened != nil {
			t.Errorf("Close: %v, the listener got %v; want nil, nil", err, listened)
		}
		if err := g.Execute(body); !errors.Is(err, core.ErrShutdown) {
			t.Errorf("G5: got %v, want ErrShutdown", err)
		}
	})
}
