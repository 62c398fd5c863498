package watch_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/watch"
)

func TestStringIsJSON(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := &watch.Watcher{}
		if got := w.String(); got != "{}" {
			t.Errorf("an empty watcher is %s, want {}", got)
		}
		ex, pool := coretest.NewExecutor(t, core.WithName("orders")), coretest.NewPool(t, 1, core.WithName("files"))
		stop := run(t, w, ex, pool)
		coretest.OnLoop(t, ex, func() { time.Sleep(250 * time.Millisecond) })
		time.Sleep(150 * time.Millisecond)
		var got map[string]map[string]float64
		if err := json.Unmarshal([]byte(w.String()), &got); err != nil {
			t.Fatal(err)
		}
		one := got["orders"]
		if len(got) != 2 || one["tasks.ran"] != 1 || one["busy.time"] != 0.25 || one["lag.count"] != 2 || one["state"] != 1 {
			t.Errorf("got %v", got)
		}
		if _, ok := one["workers"]; ok || len(got["files"]) == 0 {
			t.Errorf("got %v, want workers of the pool alone", got)
		}
		stop()
	})
}

// Names must be valid in OpenTelemetry and Prometheus, and unique.
func TestMetricNames(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range append(watch.Metrics(), watch.LagMetric()) {
		if seen[m.Name] || strings.Trim(m.Name, "abcdefghijklmnopqrstuvwxyz.") != "" || m.Help == "" {
			t.Errorf("bad name or help: %+v", m)
		}
		seen[m.Name] = true
		has := 0
		for kind := watch.KindExecutor; kind <= watch.KindListener; kind++ {
			if _, ok := m.Value(watch.Status{Kind: kind}); ok {
				has++
			}
		}
		if has == 0 {
			t.Errorf("no kind has %s", m.Name)
		}
	}
}

// TestMetricKinds: a metric system shows a counter and a gauge in different ways, so what each metric
// is must not change unnoticed.
func TestMetricKinds(t *testing.T) {
	kinds := map[bool][]string{}
	for _, m := range watch.Metrics() {
		kinds[m.Counter] = append(kinds[m.Counter], strings.TrimSpace(m.Name+" "+m.Unit))
	}
	want := map[bool][]string{
		false: {
			"state", "tasks.pending {task}", "oldest.task.age s", "running.body.age s", "timers.pending {timer}",
			"registrations {registration}", "workers {worker}", "workers.busy {worker}",
		},
		true: {
			"tasks.accepted {task}", "tasks.ran {task}", "tasks.cancelled {task}", "tasks.rejected {task}", "stalls {stall}",
			"busy.time s", "bodies.panicked {body}", "timers.run {run}", "timers.cancelled {timer}", "hooks.run {hook}",
			"sleeps {sleep}", "wakeups {wakeup}", "poller.rebuilds {rebuild}", "connections.accepted {connection}",
			"connections.refused {connection}", "accept.pauses {pause}",
		},
	}
	if !maps.EqualFunc(kinds, want, slices.Equal) {
		t.Errorf("the gauges and the counters are %v, want %v", kinds, want)
	}
}
