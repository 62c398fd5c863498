package promwatch_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/watch"
	"eventide/core/watch/promwatch"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

func Example() {
	orders, err := core.NewExecutor(core.WithName("orders"))
	if err != nil {
		panic(err)
	}
	w := &watch.Watcher{Interval: time.Millisecond}
	if err := w.Watch(orders); err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	watched := make(chan error, 1)
	go func() { watched <- w.Run(ctx) }()

	registry := prometheus.NewRegistry()
	registry.MustRegister(promwatch.NewCollector(w))
	handler := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})

	for range 3 {
		if err := orders.Execute(func() {}); err != nil {
			panic(err)
		}
	}
	var page string
	for !strings.Contains(page, `eventide_tasks_ran_total{executor="orders"} 3`) {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
		page = answer.Body.String()
	}
	for line := range strings.Lines(page) {
		if strings.Contains(line, "eventide_tasks") {
			fmt.Print(line)
		}
	}
	stop()
	fmt.Println(<-watched, orders.Close())
	// Output:
	// # HELP eventide_tasks_accepted_total Tasks accepted.
	// # TYPE eventide_tasks_accepted_total counter
	// eventide_tasks_accepted_total{executor="orders"} 3
	// # HELP eventide_tasks_cancelled_total Submitted functions skipped because their future was cancelled.
	// # TYPE eventide_tasks_cancelled_total counter
	// eventide_tasks_cancelled_total{executor="orders"} 0
	// # HELP eventide_tasks_pending Tasks accepted and not ended, including running ones.
	// # TYPE eventide_tasks_pending gauge
	// eventide_tasks_pending{executor="orders"} 0
	// # HELP eventide_tasks_ran_total Tasks that ran, including those that panicked.
	// # TYPE eventide_tasks_ran_total counter
	// eventide_tasks_ran_total{executor="orders"} 3
	// # HELP eventide_tasks_rejected_total Tasks refused.
	// # TYPE eventide_tasks_rejected_total counter
	// eventide_tasks_rejected_total{executor="orders"} 0
	// <nil> <nil>
}

// watchTwo watches an executor that is late by 20 ms once, and a pool, in virtual time, and
// calls f with them.
func watchTwo(t *testing.T, f func(c prometheus.Collector)) {
	synctest.Test(t, func(t *testing.T) {
		orders, err := core.NewExecutor(core.WithName("orders"))
		if err != nil {
			t.Fatal(err)
		}
		files, err := core.NewPool(2, core.WithName("files"))
		if err != nil {
			t.Fatal(err)
		}
		w := &watch.Watcher{}
		if err := w.Watch(orders, files); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		watched := make(chan error, 1)
		go func() { watched <- w.Run(ctx) }()
		time.Sleep(50 * time.Millisecond)
		if err := orders.Execute(func() { time.Sleep(70 * time.Millisecond) }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
		f(promwatch.NewCollector(w))
		stop()
		for _, err := range []error{<-watched, orders.Close(), files.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	})
}

func TestLagIsAHistogram(t *testing.T) {
	watchTwo(t, func(c prometheus.Collector) {
		want := `
# HELP eventide_busy_time_seconds_total Time in which the loop did not sleep, poll or spin; for a pool, time in bodies, summed over the workers.
# TYPE eventide_busy_time_seconds_total counter
eventide_busy_time_seconds_total{executor="files"} 0
eventide_busy_time_seconds_total{executor="orders"} 0.07
# HELP eventide_lag_seconds How long work waited before it began: samples of tasks, wake-ups and timers.
# TYPE eventide_lag_seconds histogram
` + histogram("files", 0, 0) + histogram("orders", 0.02, 1)
		if err := testutil.CollectAndCompare(c, strings.NewReader(want), "eventide_busy_time_seconds_total", "eventide_lag_seconds"); err != nil {
			t.Error(err)
		}
	})
}

// histogram is count waits of d seconds each.
func histogram(name string, d float64, count int) string {
	var text strings.Builder
	for _, bound := range watch.LagBounds() {
		n := 0
		if d <= bound.Seconds() {
			n = count
		}
		fmt.Fprintf(&text, "eventide_lag_seconds_bucket{executor=%q,le=\"%v\"} %d\n", name, bound.Seconds(), n)
	}
	fmt.Fprintf(&text, "eventide_lag_seconds_bucket{executor=%q,le=\"+Inf\"} %d\n", name, count)
	fmt.Fprintf(&text, "eventide_lag_seconds_sum{executor=%q} %v\neventide_lag_seconds_count{executor=%q} %d\n", name, d*float64(count), name, count)
	return text.String()
}

// The names, units and helps keep the rules of Prometheus, and all are described.
func TestNamesKeepTheRules(t *testing.T) {
	watchTwo(t, func(c prometheus.Collector) {
		problems, err := testutil.CollectAndLint(c)
		if err != nil {
			t.Fatal(err)
		}
		if len(problems) > 0 {
			t.Errorf("promlint: %v, want %v", problems, []promlint.Problem{})
		}
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(c)
		if _, err := registry.Gather(); err != nil {
			t.Error(err)
		}
	})
}
