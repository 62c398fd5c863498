package core_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// countingGroup embeds a group and counts the calls to it.
type countingGroup struct {
	*core.Group
	calls int
}

func (g *countingGroup) Execute(task func()) error { g.calls++; return g.Group.Execute(task) }

// wrappedGroups are the ways to make a type of one's own of a group.
var wrappedGroups = map[string]func(g *core.Group) core.EventExecutor{
	"embedded":              func(g *core.Group) core.EventExecutor { return struct{ *core.Group }{g} },
	"with its own Execute":  func(g *core.Group) core.EventExecutor { return &countingGroup{Group: g} },
	"behind the interface":  func(g *core.Group) core.EventExecutor { return foreign{g} },
	"embedded and embedded": func(g *core.Group) core.EventExecutor { return foreign{&countingGroup{Group: g}} },
}

func TestG21SubmitToAWrappedGroupTakesOneTurn(t *testing.T) {
	for how, wrap := range wrappedGroups {
		g := coretest.NewExecutorGroup(t, 2)
		ex := wrap(g)
		for range 10 {
			if _, err := core.Submit(ex, give(1)).Wait(neverEnds); err != nil {
				t.Fatal(err)
			}
		}
		for child := range g.All() {
			if n := child.Stats().Accepted; n != 5 {
				t.Errorf("G21: group %s: a child got %d of 10 functions, want 5", how, n)
			}
		}
		if c, ok := ex.(*countingGroup); ok && c.calls != 10 {
			t.Errorf("group %s: its Execute was called %d times, want 10", how, c.calls)
		}
	}
}

func TestG14G20SubmitToAWrappedGroup(t *testing.T) {
	for how, wrap := range wrappedGroups {
		var log panicLog
		g := coretest.NewExecutorGroup(t, 2, core.WithPanicHandler(log.handle))
		ex := wrap(g)
		_, err := core.Submit(ex, func() (int, error) { panic("planted") }).Wait(neverEnds)
		if !errors.As(err, new(*core.PanicError)) {
			t.Errorf("G14: group %s: the future got %v, want a *PanicError", how, err)
		}
		var releases []func()
		for child := range g.All() {
			releases = append(releases, occupy(t, childOf(child)))
		}
		if !core.Submit(ex, give(1)).Cancel() {
			t.Errorf("G8: group %s: Cancel of a function that has not begun: got false, want true", how)
		}
		for _, release := range releases {
			release()
		}
		g.Shutdown()
		report := coretest.AwaitDone(t, g)
		if n := len(log.all()); n != 1 || report.Panicked != 1 {
			t.Errorf("G14: group %s: %d panics reported, %d counted; want 1, 1", how, n, report.Panicked)
		}
		if report.Ran != 3 || report.Cancelled != 1 {
			t.Errorf("G20: group %s: ran %d, cancelled %d; want 3, 1", how, report.Ran, report.Cancelled)
		}
	}
}

func TestG18WaitInAChildOfAWrappedGroup(t *testing.T) {
	for how, wrap := range wrappedGroups {
		inBubble(t, func(t *testing.T) {
			ex := wrap(coretest.NewExecutorGroup(t, 2))
			ctx, cancel := context.WithTimeout(neverEnds, time.Second)
			defer cancel()
			inside := core.Submit(ex, func() (error, error) {
				waited := make(chan struct{}) // one that is complete has a result there too
				defer close(waited)
				_, err := core.Submit(ex, func() (int, error) { <-waited; return 1, nil }).Wait(ctx)
				return err, nil
			})
			if err, _ := inside.Wait(neverEnds); err != core.ErrInEventLoop {
				t.Errorf("G18: group %s: Wait inside the loop: got %v, want ErrInEventLoop", how, err)
			}
		})
	}
}

// A refused function of a group that is embedded: its listeners are the group's.
func TestG14AListenerOfAFunctionThatAWrappedGroupRefused(t *testing.T) {
	var log panicLog
	g := coretest.NewExecutorGroup(t, 2, core.WithPanicHandler(log.handle))
	g.Shutdown()
	coretest.AwaitDone(t, g)
	core.Submit(&countingGroup{Group: g}, give(1)).OnDone(func(int, error) { panics() })
	if n := len(log.all()); n != 1 || g.Stats().Panicked != 1 {
		t.Errorf("G14: %d panics reported, %d counted; want 1, 1", n, g.Stats().Panicked)
	}
}

// inline runs a task at once if Execute is called inside the loop.
type inline struct{ core.EventExecutor }

func (i inline) Execute(task func()) error {
	if !i.InEventLoop() {
		return i.EventExecutor.Execute(task)
	}
	task()
	return nil
}

// inlineEmbedded is inline, and embeds an executor of core.
type inlineEmbedded struct{ *core.Executor }

func (i inlineEmbedded) Execute(task func()) error { return inline{i.Executor}.Execute(task) }

var inlines = map[string]func(ex *core.Executor) core.EventExecutor{
	"behind the interface": func(ex *core.Executor) core.EventExecutor { return inline{ex} },
	"embedded":             func(ex *core.Executor) core.EventExecutor { return inlineEmbedded{ex} },
}

// A panic inside a body is the body's only if it ends it.
func TestG7APanicSubmittedInsideATimerDoesNotEndIt(t *testing.T) {
	for how, wrap := range inlines {
		inBubble(t, func(t *testing.T) {
			var log panicLog
			ex := coretest.NewExecutor(t, core.WithPanicHandler(log.handle))
			runs := 0
			timer, err := ex.ScheduleAtFixedRate(0, time.Second, func() {
				runs++
				core.Submit(wrap(ex), func() (int, error) { panic("planted") })
			})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(3500 * time.Millisecond)
			coretest.OnLoop(t, ex, func() {})
			if runs != 4 || timer.Err() != nil {
				t.Errorf("G7: inline, %s: %d runs, Err %v; want 4, nil: the timer never panicked", how, runs, timer.Err())
			}
			if n := len(log.all()); n != 4 || ex.Stats().Panicked != 4 {
				t.Errorf("G14: inline, %s: %d panics reported, %d counted; want 4, 4", how, n, ex.Stats().Panicked)
			}
		})
	}
}

// Whatever is submitted inside a task, the task has the outcome that is its own.
func TestG14AnOutcomeIsOfTheBodyItself(t *testing.T) {
	for how, wrap := range inlines {
		for end, body := range map[string]func(){"returns": func() {}, "panics": panics} {
			rec := new(recorder)
			ex := coretest.NewExecutor(t, core.WithTracer(rec), core.WithPanicHandler(func(*core.PanicError) {}))
			in := wrap(ex)
			core.Submit(in, func() (int, error) {
				core.Submit(in, func() (int, error) { panic("planted") })
				body()
				return 0, nil
			})
			ex.Shutdown()
			coretest.AwaitDone(t, ex)
			want := core.OutcomeNormal
			if end == "panics" {
				want = core.OutcomePanicked
			}
			if got := taskOutcomes(rec); len(got) != 1 || got[0] != want {
				t.Errorf("G14: inline, %s: a task that %s has the outcomes %v, want one %v", how, end, got, want)
			}
		}
	}
}

func taskOutcomes(rec *recorder) (outcomes []core.Outcome) {
	for _, ev := range rec.all() {
		if ev.Kind == core.EventEnd && ev.Body == core.BodyTask {
			outcomes = append(outcomes, ev.Outcome)
		}
	}
	return outcomes
}

// batching collects tasks, to run them in one task.
type batching struct {
	core.EventExecutor
	tasks *[]func()
}

func (b batching) Execute(task func()) error { *b.tasks = append(*b.tasks, task); return nil }

func TestG20ATaskThatSkipsAFunctionRan(t *testing.T) {
	ex := coretest.NewExecutor(t)
	var tasks []func()
	core.Submit(batching{ex, &tasks}, give(1)).Cancel()
	coretest.OnLoop(t, ex, func() { tasks[0]() })
	ex.Shutdown()
	if r := coretest.AwaitDone(t, ex); r.Ran != 1 || r.Cancelled != 0 {
		t.Errorf("G20: ran %d, cancelled %d; want 1, 0: the only task ran", r.Ran, r.Cancelled)
	}
}

// embedding has an Execute of its own, and is ours in everything else.
type embedding struct {
	*core.Executor
	calls int
}

func (e *embedding) Execute(task func()) error { e.calls++; return e.Executor.Execute(task) }

// For a type that embeds an executor, listeners are internal tasks, not tasks.
func TestG9ListenersOfAnEmbeddedExecutorAreInternalTasks(t *testing.T) {
	ex := coretest.NewExecutor(t)
	release := occupy(t, ex)
	w := &embedding{Executor: ex}
	f := core.Submit(w, give(1))
	cancelled := core.Submit(w, give(2))
	cancelled.Cancel()
	heard := make(chan struct{})
	f.OnDone(func(int, error) { close(heard) })
	release()
	coretest.Await(t, "the listener", heard)
	ex.Shutdown()
	if r := coretest.AwaitDone(t, ex); r.Accepted != 3 || r.Ran != 2 || r.Cancelled != 1 || w.calls != 2 {
		t.Errorf("G9, G20: accepted %d, ran %d, cancelled %d, calls of Execute %d; want 3, 2, 1, 2",
			r.Accepted, r.Ran, r.Cancelled, w.calls)
	}
}

// asking calls before at each call of Execute.
type asking struct {
	core.EventExecutor
	before func()
}

func (a asking) Execute(task func()) error { a.before(); return a.EventExecutor.Execute(task) }

// TestG20APanicIsCountedBeforeItsFutureCompletes: code that learns of the panic through the future finds it in the counters. Here the
// code is the Execute of a wrapper, which gets the listeners.
func TestG20APanicIsCountedBeforeItsFutureCompletes(t *testing.T) {
	ex := coretest.NewExecutor(t, core.WithPanicHandler(func(*core.PanicError) {}))
	counted := int64(-1)
	wrapper := asking{ex, func() { counted = ex.Stats().Panicked }}
	held, heard := make(chan struct{}), make(chan struct{})
	f := core.Submit(wrapper, func() (int, error) { <-held; panic("planted") })
	f.OnDone(func(int, error) { close(heard) })
	close(held)
	coretest.Await(t, "the listener", heard)
	coretest.Want(t, "G20: panics that are counted as the future passes on its listeners", counted, 1)
}
