package core_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"eventide/core"
)

// The shutdown comes while main submits. Each accepted task has run at the end.
func ExampleExecutor() {
	ex, err := core.NewExecutor()
	if err != nil {
		panic(err)
	}
	time.AfterFunc(time.Millisecond, func() { ex.Shutdown() })
	ran, accepted := 0, 0
	for ex.Execute(func() { ran++ }) == nil {
		accepted++
	}
	<-ex.Termination().Done()
	fmt.Println("lost:", accepted-ran)
	// Output: lost: 0
}

func ExampleNewExecutor() {
	ex, err := core.NewExecutor(core.WithName("printer"))
	if err != nil {
		panic(err)
	}
	for _, word := range []string{"accepted", "work", "runs"} {
		if err := ex.Execute(func() { fmt.Println(word) }); err != nil {
			panic(err)
		}
	}
	if err := ex.Close(); err != nil {
		panic(err)
	}
	fmt.Println(ex.Execute(func() { fmt.Println("never") }))
	// Output:
	// accepted
	// work
	// runs
	// core: rejected in state Terminated: core: executor is shut down
}

// One task blocks, and the others run beside it.
func ExampleNewPool() {
	pool, err := core.NewPool(2)
	if err != nil {
		panic(err)
	}
	unblock := make(chan struct{})
	_ = pool.Execute(func() { <-unblock })
	_ = pool.Execute(func() { fmt.Println("held up by nobody") })
	_ = pool.Execute(func() { close(unblock) })
	if err := pool.Close(); err != nil {
		panic(err)
	}
	fmt.Println(pool.Stats().Ran, "ran")
	// Output:
	// held up by nobody
	// 3 ran
}

func ExamplePool_Resize() {
	pool, _ := core.NewPool(1)
	fmt.Println(pool.Resize(0))
	_ = pool.Resize(8)
	fmt.Println("size:", pool.Size())
	_ = pool.Close()
	// Output:
	// core: Resize: size is 0, want at least 1
	// size: 8
}

func ExampleExecutor_AddShutdownHook() {
	ex, _ := core.NewExecutor()
	_, _ = ex.AddShutdownHook(func() { fmt.Println("flush the log") })
	remove, _ := ex.AddShutdownHook(func() { fmt.Println("not needed") })
	fmt.Println("removed:", remove())
	_ = ex.Execute(func() { fmt.Println("work") })
	_ = ex.Close()
	// Output:
	// removed: true
	// work
	// flush the log
}

func ExampleExecutor_ShutdownGracefully() {
	ex, _ := core.NewExecutor()
	_ = ex.Execute(func() { fmt.Println("before the call") })
	term, err := ex.ShutdownGracefully(10*time.Millisecond, time.Second)
	if err != nil {
		panic(err)
	}
	_ = ex.Execute(func() { fmt.Println("in the quiet period") })
	report, err := term.Wait(context.Background())
	fmt.Println(report.Ran, "ran,", report.Rejected, "rejected, timed out:", report.TimedOut, err)
	// Output:
	// before the call
	// in the quiet period
	// 2 ran, 0 rejected, timed out: false <nil>
}

func ExampleExecutor_Shutdown() {
	ex, _ := core.NewExecutor()
	_ = ex.Execute(func() { fmt.Println("accepted before") })
	ex.Shutdown()
	err := ex.Execute(func() { fmt.Println("never") })
	fmt.Println(errors.Is(err, core.ErrRejected), errors.Is(err, core.ErrShutdown))
	_ = ex.AwaitTermination(context.Background())
	// Unordered output:
	// accepted before
	// true true
}

func ExampleExecutor_Schedule() {
	ex, _ := core.NewExecutor()
	late, _ := ex.Schedule(2*time.Millisecond, func() { fmt.Println("second") })
	_, _ = ex.Schedule(0, func() { fmt.Println("first") })
	never, _ := ex.Schedule(time.Hour, func() { fmt.Println("never") })
	fmt.Println("cancelled:", never.Cancel(), never.Err())
	<-late.Done()
	_ = ex.Close()
	// Unordered output:
	// cancelled: true core: cancelled
	// first
	// second
}

func ExampleExecutor_ScheduleAtFixedRate() {
	ex, _ := core.NewExecutor()
	ticks := 0
	var ticker *core.Timer
	_ = ex.Execute(func() {
		ticker, _ = ex.ScheduleAtFixedRate(0, time.Millisecond, func() {
			if ticks++; ticks == 3 {
				ticker.Cancel()
				ex.Shutdown()
			}
		})
	})
	<-ex.Termination().Done()
	fmt.Println(ticks, "ticks")
	// Output: 3 ticks
}

func ExampleExecutor_ExecuteAfterIteration() {
	ex, _ := core.NewExecutor()
	_ = ex.Execute(func() {
		_ = ex.ExecuteAfterIteration(func() { fmt.Println("flush once, after the batch") })
		fmt.Println("write")
	})
	_ = ex.Close()
	// Output:
	// write
	// flush once, after the batch
}

// A body that takes long watches its executor's Context.
func ExampleExecutor_Context() {
	ex, _ := core.NewExecutor()
	began := make(chan struct{})
	_ = ex.Execute(func() {
		close(began)
		<-ex.Context().Done() // or a select with the work
		fmt.Println(context.Cause(ex.Context()))
	})
	<-began
	term, _ := ex.ShutdownGracefully(0, time.Millisecond)
	report, err := term.Wait(context.Background())
	fmt.Println("timed out:", report.TimedOut, "error:", err)
	// Output:
	// core: executor is shut down: timeout of the graceful shutdown passed
	// timed out: true error: <nil>
}

func ExampleSubmit() {
	ex, _ := core.NewExecutor()
	defer ex.Close()
	f := core.Submit(ex, func() (int, error) { return 6 * 7, nil })
	fmt.Println(f.Wait(context.Background()))
	bad := core.Submit(ex, func() (int, error) { panic("contained") })
	_, err := bad.Wait(context.Background())
	fmt.Println(err)
	// Output:
	// 42 <nil>
	// core: panic: contained
}

func ExampleFuture_OnDone() {
	ex, _ := core.NewExecutor()
	f := core.Submit(ex, func() (string, error) { return "result", nil })
	f.OnDone(func(v string, err error) { fmt.Println(v, err, "in the loop:", ex.InEventLoop()) })
	_ = ex.Close()
	// Output: result <nil> in the loop: true
}

func ExampleInvokeAll() {
	ex, _ := core.NewExecutor()
	defer ex.Close()
	futures, err := core.InvokeAll(context.Background(), ex,
		func() (int, error) { return 1, nil },
		func() (int, error) { return 2, nil },
	)
	for _, f := range futures {
		v, _ := f.Wait(context.Background())
		fmt.Println(v)
	}
	fmt.Println(err)
	// Output:
	// 1
	// 2
	// <nil>
}

func ExampleInvokeAny() {
	ex, _ := core.NewExecutor()
	defer ex.Close()
	fmt.Println(core.InvokeAny(context.Background(), ex,
		func() (string, error) { return "", errors.New("mirror is down") },
		func() (string, error) { return "from the second mirror", nil },
	))
	// Output: from the second mirror <nil>
}

func ExampleNewPromise() {
	ex, _ := core.NewExecutor()
	defer ex.Close()
	p := core.NewPromise[string](ex)
	go p.TrySuccess("answer")
	fmt.Println(p.Future().Wait(context.Background()))
	fmt.Println(p.TrySuccess("another"), p.Future().Cancel())
	// Output:
	// answer <nil>
	// false false
}

func ExampleNewExecutorGroup() {
	g, err := core.NewExecutorGroup(3, core.WithName("worker"))
	if err != nil {
		panic(err)
	}
	var perChild [3]int // each child writes its own
	for i := range 9 {
		_ = g.Execute(func() { perChild[i%3]++ })
	}
	_ = g.Close()
	fmt.Println(perChild, g.Termination().Report().Ran)
	// Output: [3 3 3] 9
}

func ExampleCurrent() {
	ex, _ := core.NewExecutor(core.WithName("here"))
	_ = ex.Execute(func() {
		current, ok := core.Current()
		fmt.Println(current == core.EventExecutor(ex), ok)
	})
	_ = ex.Close()
	fmt.Println(core.Current())
	// Output:
	// true true
	// <nil> false
}

func ExampleNewLocal() {
	ex, _ := core.NewExecutor()
	buffer := core.NewLocal(func() []byte { return make([]byte, 0, 1024) })
	for range 2 {
		_ = ex.Execute(func() {
			b, _ := buffer.Get() // no lock: the value belongs to the loop
			b = append(b, 'x')
			fmt.Println(len(b), cap(b))
			_ = buffer.Set(b)
		})
	}
	_ = ex.Close()
	_, err := buffer.Get()
	fmt.Println(err)
	// Output:
	// 1 1024
	// 2 1024
	// core: not called from inside a loop
}

// A bounded queue has room for tasks that have not begun; the running one takes
// none.
func ExampleWithMaxPendingTasks() {
	ex, _ := core.NewExecutor(core.WithMaxPendingTasks(16))
	_ = ex.Execute(func() {
		accepted := 0
		var err error
		for err = ex.Execute(func() {}); err == nil; err = ex.Execute(func() {}) {
			accepted++
		}
		fmt.Println(accepted, errors.Is(err, core.ErrQueueFull))
	})
	_ = ex.Close()
	// Output: 16 true
}

// With BackOff a producer that finds the queue full waits and tries again.
func ExampleBackOff() {
	ex, _ := core.NewExecutor(core.WithMaxPendingTasks(16), core.WithRejectedHandler(core.BackOff(10_000, time.Millisecond)))
	ran := 0
	for range 1000 {
		if err := ex.Execute(func() { ran++ }); err != nil {
			panic(err)
		}
	}
	_ = ex.Close()
	fmt.Println(ran)
	// Output: 1000
}

// A session has memory for its idle timer, and uses it again each time: no call allocates.
func ExampleExecutor_ScheduleTimer() {
	ex, _ := core.NewExecutor()
	var session struct {
		idle   core.Timer
		closed chan struct{}
	}
	session.closed = make(chan struct{})
	closeIt := func() { close(session.closed) }

	_ = ex.ScheduleTimer(&session.idle, time.Hour, closeIt) // a request has ended
	fmt.Println(session.idle.Cancel())                      // the next one has come
	_ = ex.ScheduleTimer(&session.idle, time.Millisecond, closeIt)
	<-session.closed
	<-session.idle.Done()
	fmt.Println(session.idle.Err(), session.idle.Cancel())
	_ = ex.Close()
	// Output:
	// true
	// <nil> false
}
