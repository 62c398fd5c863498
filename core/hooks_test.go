package core_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

func TestG6HooksRunOnceInOrderAfterTheTasksBeforeTheCall(t *testing.T) {
	ex := coretest.NewExecutor(t)
	release := occupy(t, ex)
	var j coretest.Journal
	for i := range 3 {
		mustHook(t, ex, func() {
			if s := ex.State(); s < core.StateShuttingDown {
				t.Errorf("G6: hook %d ran in state %v, want ShuttingDown or later", i, s)
			}
			j.Add(fmt.Sprintf("hook%d", i))
		})
	}
	for i := range 2 {
		coretest.MustExecute(t, ex, j.Adds(fmt.Sprintf("task%d", i)))
	}
	coretest.MustShutdownGracefully(t, ex, 0, time.Hour)
	release()
	report := coretest.AwaitDone(t, ex)
	j.Want(t, "G6", "task0 task1 hook0 hook1 hook2")
	if report.HooksRun != 3 {
		t.Errorf("G6: HooksRun is %d, want 3", report.HooksRun)
	}
}

// More marked tasks than a turn runs, and later ones behind them, in the same
// segment and in others.
func TestG6HooksRunBeforeLaterTasks(t *testing.T) {
	for _, marked := range []int{0, 1, 63, 64, 65, 300} {
		t.Run(fmt.Sprint("marked=", marked), func(t *testing.T) {
			ex := coretest.NewExecutor(t)
			release := occupy(t, ex)
			before, after, hookAt := 0, 0, -1
			mustHook(t, ex, func() { hookAt = before; before -= after })
			for range marked {
				coretest.MustExecute(t, ex, func() { before++ })
			}
			coretest.MustShutdownGracefully(t, ex, 0, time.Hour)
			for range 500 {
				coretest.MustExecute(t, ex, func() { after++ })
			}
			release()
			coretest.AwaitDone(t, ex)
			if hookAt != marked || before != marked || after != 500 {
				t.Errorf("G6: %d of %d marked and %d later tasks ran before the hook, want all and 0", hookAt, marked, hookAt-before)
			}
		})
	}
}

func TestG6HooksRunBeforeLaterTailTasks(t *testing.T) {
	ex := coretest.NewExecutor(t)
	release := occupy(t, ex)
	var j coretest.Journal
	mustHook(t, ex, j.Adds("hook"))
	mustTail(t, ex, j.Adds("tail"))
	coretest.MustShutdownGracefully(t, ex, 0, time.Hour)
	mustTail(t, ex, j.Adds("later"))
	release()
	coretest.AwaitDone(t, ex)
	j.Want(t, "G6: later work does not hold hooks back", "tail hook later")
}

func mustTail(t testing.TB, ex *core.Executor, task func()) {
	t.Helper()
	if err := ex.ExecuteAfterIteration(task); err != nil {
		t.Fatalf("ExecuteAfterIteration: %v", err)
	}
}

// A stream that never ends during the quiet period must not postpone the hook.
func TestG6AResubmittingTaskDoesNotHoldHooksBack(t *testing.T) {
	ex := coretest.NewExecutor(t)
	hookRan := make(chan struct{})
	var again func()
	again = func() {
		select {
		case <-hookRan:
		default:
			_ = ex.Execute(again)
		}
	}
	coretest.MustExecute(t, ex, again)
	mustHook(t, ex, func() { close(hookRan) })
	coretest.MustShutdownGracefully(t, ex, 0, time.Hour)
	coretest.Await(t, "the hook (G6, G13)", hookRan)
	coretest.AwaitDone(t, ex)
}

func TestG6HooksAddedDuringShuttingDownRunOnTheNextTurn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		var j coretest.Journal
		coretest.MustShutdownGracefully(t, ex, time.Second, time.Hour)
		time.Sleep(500 * time.Millisecond)
		start := time.Now()
		coretest.OnLoop(t, ex, func() {
			mustHook(t, ex, func() {
				j.Add("a")
				mustHook(t, ex, j.Adds("c"))
			})
			mustHook(t, ex, j.Adds("b"))
		})
		coretest.OnLoop(t, ex, func() {})
		coretest.OnLoop(t, ex, func() {})
		if d := time.Since(start); d != 0 {
			t.Errorf("G6: two turns took %v, want 0", d)
		}
		j.Want(t, "G6", "a b c")
	})
}

// The next turn, and not one of the later chances of this one: a tail task of this turn
// comes first. And not in the place of a hook that was taken back.
func TestG6AHookAddedByAHookWaitsForTheNextTurn(t *testing.T) {
	for name, want := range map[string]string{
		"removes nothing":       "a b tail d",
		"removes another":       "a tail d",
		"removes what it added": "a b tail d",
	} {
		t.Run(name, func(t *testing.T) {
			ex := coretest.NewExecutor(t)
			var j coretest.Journal
			var removeB func() bool
			mustHook(t, ex, func() {
				j.Add("a")
				mustHook(t, ex, j.Adds("d"))
				mustTail(t, ex, j.Adds("tail"))
				remove := func() bool { return true }
				switch name {
				case "removes another":
					remove = removeB
				case "removes what it added":
					remove = mustHook(t, ex, j.Adds("e"))
				}
				if !remove() {
					t.Error("G6: remove of a hook that has not begun: got false, want true")
				}
			})
			removeB = mustHook(t, ex, j.Adds("b"))
			coretest.MustShutdownGracefully(t, ex, 0, time.Hour)
			coretest.AwaitDone(t, ex)
			j.Want(t, "G6", want)
		})
	}
}

// After the close: a hook accepted before it may add hooks, those may not.
func TestG6TheChainOfLateHooksEnds(t *testing.T) {
	ex := coretest.NewExecutor(t)
	var j coretest.Journal
	mustHook(t, ex, func() {
		j.Add("accepted")
		for i := range 2 {
			mustHook(t, ex, func() {
				j.Add(fmt.Sprint("late", i))
				if _, err := ex.AddShutdownHook(j.Adds("toolate")); !errors.Is(err, core.ErrShutdown) {
					t.Errorf("G6: a late hook adds one: got %v, want ErrShutdown", err)
				}
			})
		}
		if err := ex.Execute(j.Adds("task")); !errors.Is(err, core.ErrShutdown) {
			t.Errorf("G5: a hook executes a task after the close: got %v, want ErrShutdown", err)
		}
	})
	mustHook(t, ex, j.Adds("second"))
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	j.Want(t, "G6", "accepted second late0 late1")
}

// Only hooks may: a task, a timer and a listener that run after the close may not.
func TestG6OnlyAHookMayAddOneAfterTheClose(t *testing.T) {
	ex := coretest.NewExecutor(t)
	release := occupy(t, ex)
	try := func(kind string) func() {
		return func() {
			if _, err := ex.AddShutdownHook(func() { t.Errorf("G6: the hook of a %s ran", kind) }); !errors.Is(err, core.ErrShutdown) {
				t.Errorf("G6: a %s adds a hook after the close: got %v, want ErrShutdown", kind, err)
			}
		}
	}
	coretest.MustExecute(t, ex, try("task"))
	mustTail(t, ex, try("tail task"))
	core.Submit(ex, func() (int, error) { return 0, nil }).OnDone(func(int, error) { try("listener")() })
	ex.Shutdown()
	release()
	coretest.AwaitDone(t, ex)
}

func TestG6RemoveIsTrueIfAndOnlyIfTheHookNeverStarts(t *testing.T) {
	ex := coretest.NewExecutor(t)
	var j coretest.Journal
	var removes []func() bool
	for i := range 4 {
		removes = append(removes, mustHook(t, ex, func() {
			j.Add(fmt.Sprint(i))
			if i == 1 {
				j.Add(fmt.Sprintf("self:%v next:%v", removes[1](), removes[2]()))
			}
		}))
	}
	if !removes[0]() || removes[0]() {
		t.Error("G6: remove before the shutdown: want true, then false")
	}
	ex.Shutdown()
	report := coretest.AwaitDone(t, ex)
	j.Want(t, "G6", "1 self:false next:true 3")
	for i, remove := range removes {
		if remove() {
			t.Errorf("G6: remove of hook %d after done: got true, want false", i)
		}
	}
	if report.HooksRun != 2 {
		t.Errorf("G6: HooksRun is %d, want 2", report.HooksRun)
	}
}

func TestG6RemoveRacesTheShutdown(t *testing.T) {
	for range 100 {
		ex := coretest.NewExecutor(t)
		const n = 8
		var ran [n]atomic.Int32
		var removed [n]bool
		var wg sync.WaitGroup
		begin := make(chan struct{})
		for i := range n {
			remove := mustHook(t, ex, func() { ran[i].Add(1) })
			wg.Go(func() {
				<-begin
				for range i {
					runtime.Gosched()
				}
				removed[i] = remove()
			})
		}
		wg.Go(func() { <-begin; ex.Shutdown() })
		close(begin)
		wg.Wait()
		coretest.AwaitDone(t, ex)
		for i := range n {
			if got := ran[i].Load(); (got == 1) == removed[i] || got > 1 {
				t.Fatalf("G6: hook %d ran %d times, remove said %v; want exactly one of them", i, got, removed[i])
			}
		}
	}
}

// A function cannot be compared: two registrations of one are two hooks.
func TestG6RemovalIsByRegistration(t *testing.T) {
	ex := coretest.NewExecutor(t)
	runs := 0
	hook := func() { runs++ }
	mustHook(t, ex, hook)
	remove := mustHook(t, ex, hook)
	if !remove() || remove() {
		t.Error("G6: remove: want true, then false")
	}
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	if runs != 1 {
		t.Errorf("G6: the hook that was not removed ran %d times, want 1", runs)
	}
}

func TestG6APanickingHookStopsNoOther(t *testing.T) {
	var panics panicLog
	ex := coretest.NewExecutor(t, core.WithPanicHandler(panics.handle))
	var j coretest.Journal
	mustHook(t, ex, func() { j.Add("a"); panic("boom") })
	mustHook(t, ex, func() { j.Add("b"); runtime.Goexit() })
	mustHook(t, ex, j.Adds("c"))
	ex.Shutdown()
	report := coretest.AwaitDone(t, ex)
	j.Want(t, "G6", "a b c")
	if n := len(panics.all()); n != 1 || report.HooksRun != 3 {
		t.Errorf("G14: %d panics reported, %d hooks counted; want 1, 3", n, report.HooksRun)
	}
}
