package core_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// The order in which one worker takes bodies: a ready hook first; after a task a listener or a
// due timer; after any other body a task.
func TestPoolG13OrderOfBodies(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := coretest.NewPool(t, 1)
		var j coretest.Journal
		for i := range 2 {
			_, err := p.AddShutdownHook(j.Adds(fmt.Sprint("hook", i)))
			coretest.Must(t, err)
		}
		release := block(t, p)
		for i := range 2 {
			coretest.MustExecute(t, p, j.Adds(fmt.Sprint("task", i)))
			promise := core.NewPromise[int](p)
			promise.Future().OnDone(func(int, error) { j.Add(fmt.Sprint("listener", i)) })
			promise.TrySuccess(1)
		}
		release()
		synctest.Wait()
		j.Want(t, "G13: after a task a listener, and after a listener a task", "listener0 task0 listener1 task1")

		release = block(t, p)
		for i := range 2 {
			coretest.MustExecute(t, p, j.Adds(fmt.Sprint("late", i)))
			mustSchedule(t, p, 0, j.Adds(fmt.Sprint("timer", i)))
		}
		release()
		synctest.Wait()
		j.Want(t, "G13: after a task a timer", "listener0 task0 listener1 task1 timer0 late0 timer1 late1")

		release = block(t, p)
		coretest.MustExecute(t, p, j.Adds("early"))
		coretest.MustShutdownGracefully(t, p, 0, time.Hour)
		coretest.MustExecute(t, p, j.Adds("later"))
		release()
		coretest.AwaitDone(t, p)
		j.Want(t, "G13: hooks go first, once the earlier tasks have ended",
			"listener0 task0 listener1 task1 timer0 late0 timer1 late1 early hook0 hook1 later")
	})
}

// Tasks that panic do not starve timers: a call of the panic handler does not count as the body
// after which a task comes.
func TestPoolG13TimersRunBetweenTasksThatPanic(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var j coretest.Journal
		p := coretest.NewPool(t, 1, core.WithPanicHandler(func(*core.PanicError) {}))
		release := block(t, p)
		for i := range 3 {
			coretest.MustExecute(t, p, func() {
				j.Add(fmt.Sprint("task", i))
				panic("as planned")
			})
			mustSchedule(t, p, 0, j.Adds(fmt.Sprint("timer", i)))
		}
		release()
		synctest.Wait()
		j.Want(t, "G13: after a task a timer", "timer0 task0 timer1 task1 timer2 task2")
	})
}

// Hooks that add hooks do not starve the tasks: between two rounds of hooks one runs.
func TestPoolG13ATaskRunsBetweenRoundsOfHooks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := coretest.NewPool(t, 1)
		var j coretest.Journal
		round := 0
		var hook func()
		hook = func() {
			j.Add(fmt.Sprint("hook", round))
			if round++; round < 3 {
				_, err := p.AddShutdownHook(hook)
				coretest.Must(t, err)
			}
		}
		_, err := p.AddShutdownHook(hook)
		coretest.Must(t, err)
		release := block(t, p)
		coretest.MustShutdownGracefully(t, p, 0, time.Hour)
		for i := range 3 {
			coretest.MustExecute(t, p, j.Adds(fmt.Sprint("task", i)))
		}
		release()
		coretest.AwaitDone(t, p)
		j.Want(t, "G13", "hook0 task0 hook1 task1 hook2 task2")
	})
}

// A hook that is added during the shutdown runs after the earlier ones. After the close a hook
// that was accepted before may add one, which may not, and no other body may.
func TestPoolG6HooksOfHooks(t *testing.T) {
	p := coretest.NewPool(t, 2)
	var j coretest.Journal
	release, release2 := block(t, p), block(t, p) // each worker
	add := func(what string, f func(), want ...error) {
		t.Helper()
		_, err := p.AddShutdownHook(f)
		coretest.WantErr(t, what, err, append(want, nil)[0])
	}
	add("before", func() {
		j.Add("first")
		add("in a hook", func() {
			j.Add("late")
			add("in a late hook", j.Adds("too late"), core.ErrShutdown)
		}, nil)
	}, nil)
	add("before", j.Adds("second"), nil)
	coretest.MustExecute(t, p, func() { add("in a task, after the close", j.Adds("of a task"), core.ErrShutdown) })
	p.Shutdown()
	add("after the close", j.Adds("of nobody"), core.ErrShutdown)
	release()
	release2()
	report := coretest.AwaitDone(t, p)
	j.Want(t, "G6", "first second late")
	coretest.Want(t, "HooksRun", report.HooksRun, 3)
}

// remove is true if and only if the hook never begins.
func TestPoolG6Remove(t *testing.T) {
	p := coretest.NewPool(t, 1)
	var j coretest.Journal
	var removes [4]func() bool
	for i := range removes {
		remove, err := p.AddShutdownHook(func() {
			j.Add(fmt.Sprint(i))
			if i == 1 {
				j.Add(fmt.Sprintf("self:%v next:%v", removes[1](), removes[2]()))
			}
		})
		coretest.Must(t, err)
		removes[i] = remove
	}
	if !removes[0]() || removes[0]() {
		t.Error("G6: remove before the shutdown: want true, then false")
	}
	p.Shutdown()
	coretest.AwaitDone(t, p)
	j.Want(t, "G6", "1 self:false next:true 3")
	for i, remove := range removes {
		coretest.Want(t, fmt.Sprintf("G6: remove of hook %d after Done", i), remove(), false)
	}
}
