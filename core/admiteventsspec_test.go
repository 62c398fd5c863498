package core_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// admitOps are the steps of TestPropAdmitEvents. "block" queues a task that waits for "release", and
// "fill" queues tasks until one is refused.
var admitOps = []string{
	"execute", "lazy", "try", "tail", "schedule", "cancel", "reset", "hook", "remove", "hook", "remove",
	"block", "fill", "fill", "release", "graceful", "shutdown",
}

// TestPropAdmitEvents: the tracer gets one EventAdmit for each call and for each attempt of a call that is
// retried, with its result. A call that was refused because the queue was full, and returns after the end,
// was refused once more by the end. A shutdown call that changes nothing has no event.
func TestPropAdmitEvents(t *testing.T) {
	program := rapid.SliceOfN(rapid.SampledFrom(admitOps), 15, 50)
	rapid.Check(t, func(rt *rapid.T) {
		ops, pool, wrong := program.Draw(rt, "ops"), rapid.Bool().Draw(rt, "pool"), ""
		r := &admitRun{
			retries: rapid.IntRange(0, 2).Draw(rt, "retries"), ends: rapid.Bool().Draw(rt, "the handler ends the executor"),
			failures: rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(rt, "failed starts"),
		}
		synctest.Test(t, func(t *testing.T) {
			opts := []core.Option{core.WithTracer(r), core.WithMaxPendingTasks(16), core.WithRejectedHandler(r.refused), core.WithSpawner(r.spawn)}
			if pool {
				r.ex = coretest.NewPool(t, 1, opts...)
			} else {
				r.ex = coretest.NewExecutor(t, opts...)
			}
			wrong = r.run(ops)
			r.release()
			r.failures = 0
			r.ex.Shutdown()
			coretest.AwaitDone(t, r.ex)
		})
		if wrong != "" {
			rt.Fatalf("pool %v: %s", pool, wrong)
		}
	})
}

// admitRun is one run of the calls, which one goroutine makes.
type admitRun struct {
	ex interface {
		core.EventExecutor
		TryExecute(func()) error
		AddShutdownHook(func()) (func() bool, error)
	}
	retries  int  // of each call that is refused
	ends     bool // the handler lets the executor end then
	failures int  // starts that are still to fail

	mu     sync.Mutex
	events []string // EventAdmit since the last call

	want    []string
	gate    chan struct{} // for tasks that block; nil: there are none
	timers  []*core.Timer
	removes []func() bool
}

func (r *admitRun) Trace(ev core.Event) {
	if ev.Kind == core.EventAdmit {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, fmt.Sprint(ev.Op, ":", ev.Accepted))
	}
}

func (r *admitRun) spawn(loop func()) error {
	if r.failures > 0 {
		r.failures--
		return errors.New("no goroutine")
	}
	go loop()
	return nil
}

// refused is the handler of refused tasks. It adds what it lets happen to the events that are wanted.
func (r *admitRun) refused(attempt int, _ *core.RejectedError) (time.Duration, bool) {
	op := r.want[len(r.want)-1] // of the call, which is refused in this attempt
	if attempt <= r.retries {
		r.want = append(r.want, op)
		return time.Second, true
	}
	if r.ends {
		r.shut(core.OpShutdown, core.StateShutdown, func() { r.ex.Shutdown() })
		r.release()
		<-r.ex.Termination().Done()
		r.want = append(r.want, op)
	}
	return 0, false
}

func (r *admitRun) release() {
	if r.gate != nil {
		close(r.gate)
		r.gate = nil
	}
}

// run returns a description of the first difference, or "".
func (r *admitRun) run(ops []string) string {
	for i, op := range ops {
		r.do(op)
		synctest.Wait()
		r.mu.Lock()
		got, want := r.events, r.want
		r.events, r.want = nil, nil
		r.mu.Unlock()
		if !slices.Equal(got, want) {
			return fmt.Sprintf("step %d of %v, %s: the tracer has %v, want %v", i, ops, op, got, want)
		}
	}
	return ""
}

// do makes one step, and adds its events to those that are wanted.
func (r *admitRun) do(op string) {
	body := func() {}
	switch op {
	case "execute":
		r.task(core.OpExecute, r.ex.Execute, body)
	case "try":
		r.task(core.OpExecute, r.ex.TryExecute, body)
	case "lazy":
		r.task(core.OpExecuteLazy, r.ex.ExecuteLazy, body)
	case "tail":
		if ex, ok := r.ex.(*core.Executor); ok {
			r.task(core.OpExecuteAfterIteration, ex.ExecuteAfterIteration, body)
		}
	case "block":
		gate := r.gate
		if gate == nil {
			gate = make(chan struct{})
		}
		if r.task(core.OpExecute, r.ex.TryExecute, func() { <-gate }) {
			r.gate = gate
		}
		synctest.Wait() // it runs
	case "fill":
		for r.gate != nil && r.task(core.OpExecute, r.ex.Execute, body) {
		}
	case "release":
		r.release()
	case "schedule":
		timer, err := r.ex.Schedule(time.Duration(len(r.timers)%3)*time.Second, body)
		r.wants(core.OpSchedule, err == nil)
		if err == nil {
			r.timers = append(r.timers, timer)
		}
	case "cancel":
		if n := len(r.timers); n > 0 {
			r.wants(core.OpCancelTimer, r.timers[n/2].Cancel())
		}
	case "reset":
		if n := len(r.timers); n > 0 {
			r.wants(core.OpResetTimer, r.timers[n/2].Reset(time.Second))
		}
	case "hook":
		remove, err := r.ex.AddShutdownHook(body)
		r.wants(core.OpAddShutdownHook, err == nil)
		if err == nil {
			r.removes = append(r.removes, remove)
		}
	case "remove":
		if n := len(r.removes); n > 0 {
			r.wants(core.OpRemoveShutdownHook, r.removes[n/2]())
		}
	case "graceful":
		r.shut(core.OpShutdownGracefully, core.StateShuttingDown, func() { _, _ = r.ex.ShutdownGracefully(time.Minute, time.Hour) })
	case "shutdown":
		r.shut(core.OpShutdown, core.StateShutdown, func() { r.ex.Shutdown() })
	}
}

func (r *admitRun) wants(op core.Op, accepted bool) {
	r.want = append(r.want, fmt.Sprint(op, ":", accepted))
}

// task gives a task to submit, and reports whether that accepted it.
func (r *admitRun) task(op core.Op, submit func(func()) error, body func()) bool {
	r.wants(op, false) // the first attempt, for the handler
	err := submit(body)
	if err == nil {
		r.want = r.want[:len(r.want)-1]
		r.wants(op, true)
	}
	return err == nil
}

// shut makes a shutdown call, which has an effect before the state to.
func (r *admitRun) shut(op core.Op, to core.State, call func()) {
	if r.ex.State() < to {
		r.wants(op, true)
	}
	call()
}
