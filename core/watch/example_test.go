package watch_test

import (
	"context"
	"encoding/json"
	"expvar"
	"fmt"
	"runtime/pprof"
	"time"

	"eventide/core"
	"eventide/core/watch"
)

// watched returns an executor and a Watcher that reads it until stop is called.
func watched(w *watch.Watcher, opts ...core.Option) (ex *core.Executor, stop func()) {
	ex, err := core.NewExecutor(append(opts, core.WithName("orders"))...)
	if err != nil {
		panic(err)
	}
	if err := w.Watch(ex); err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()
	return ex, func() {
		cancel()
		<-done
		_ = ex.Close()
	}
}

// A watchdog: a task that takes longer than the limit is reported once, with its stack, and
// once more when it has ended. OnStall takes the place of the log.
func ExampleWatcher() {
	stalls := make(chan watch.Stall)
	ex, stop := watched(&watch.Watcher{
		Interval: time.Millisecond, Limit: 5 * time.Millisecond,
		OnStall: func(s watch.Stall) { stalls <- s },
	})
	defer stop()
	answer := make(chan struct{})
	_ = ex.Execute(func() { <-answer })
	s := <-stalls
	fmt.Println(s.Name, "is stuck in a", s.Body, "and has a stack:", s.Stack != "")
	close(answer)
	fmt.Println("it has ended:", (<-stalls).Over)
	// Output:
	// orders is stuck in a task and has a stack: true
	// it has ended: true
}

// A Watcher is an expvar.Var.
func ExampleWatcher_String() {
	w := &watch.Watcher{Interval: time.Millisecond}
	_, stop := watched(w)
	defer stop()
	expvar.Publish("eventide", w)
	var all map[string]map[string]float64
	err := json.Unmarshal([]byte(expvar.Get("eventide").String()), &all)
	fmt.Println(len(all), all["orders"]["tasks.pending"], err)
	// Output: 1 0 <nil>
}

// For a metric system of your own: Metrics has names, units and values of each Status.
func ExampleMetrics() {
	w := &watch.Watcher{}
	_, stop := watched(w)
	defer stop()
	status := w.Statuses()[0]
	for _, m := range watch.Metrics() {
		if v, ok := m.Value(status); ok && m.Name == "tasks.accepted" {
			fmt.Println(status.Name, m.Name, m.Unit, v)
		}
	}
	lag := watch.LagMetric()
	fmt.Println(status.Name, lag.Name, lag.Unit, "in", len(watch.LagBounds()), "buckets")
	// Output:
	// orders tasks.accepted {task} 0
	// orders lag s in 14 buckets
}

// The loop's goroutine has a label in profiles. A body adds labels of its own to it.
func ExampleLabels() {
	ex, stop := watched(&watch.Watcher{}, watch.Labels(context.Background()))
	defer stop()
	done := make(chan struct{})
	_ = ex.Execute(func() {
		defer close(done)
		pprof.Do(watch.LabelContext(context.Background()), pprof.Labels("request", "7"), func(ctx context.Context) {
			loop, _ := pprof.Label(ctx, watch.Label)
			request, _ := pprof.Label(ctx, "request")
			fmt.Println(loop, request)
		})
	})
	<-done
	// Output: orders 7
}

// While an execution trace is recorded, each body is a region of it, such as "orders: task".
func ExampleRegions() {
	ex, err := core.NewExecutor(core.WithName("orders"), core.WithTracer(watch.Regions(nil)))
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = ex.Execute(func() { fmt.Println("a region") })
	fmt.Println(ex.Close())
	// Output:
	// a region
	// <nil>
}
