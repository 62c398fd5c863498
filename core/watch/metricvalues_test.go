package watch_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/watch"
)

// TestMetricValues: each metric is its number of the Status, in seconds if it is a time, and
// is missing for a kind that does not have it.
func TestMetricValues(t *testing.T) {
	s := watch.Status{
		Stats: core.Stats{
			State: core.StateShuttingDown, Accepted: 11, Ran: 12, Cancelled: 13, Rejected: 14, Pending: 15, Panicked: 16, Timers: 17, TimersRun: 18,
			TimersCancelled: 19, HooksRun: 20, Parks: 21, Spins: 22, Wakes: 23, Registrations: 24, Rebuilds: 25, Workers: 26, Busy: 27,
		},
		BusyTime: 28 * time.Second, Busy: 0.5, Lag: watch.Lag{Sum: 29 * time.Second}, RecentLag: 30 * time.Second, Oldest: 31 * time.Second,
		Running: []watch.Running{{For: 33 * time.Second}, {For: 32 * time.Second}}, Stalls: 34, Connections: 35, RefusedConnections: 36, Pauses: 37,
	}
	common := map[string]float64{
		"state": 2, "tasks.accepted": 11, "tasks.ran": 12, "tasks.cancelled": 13, "tasks.rejected": 14, "tasks.pending": 15, "bodies.panicked": 16,
		"running.body.age": 33,
	}
	loops := map[string]float64{
		"timers.pending": 17, "timers.run": 18, "timers.cancelled": 19, "hooks.run": 20, "sleeps": 43, "wakeups": 23, "busy.time": 28,
		"oldest.task.age": 31, "stalls": 34, "lag": 29,
	}
	for kind, wants := range map[watch.Kind][]map[string]float64{
		watch.KindExecutor:  {common, loops, {"registrations": 24, "poller.rebuilds": 25}},
		watch.KindPool:      {common, loops, {"workers": 26, "workers.busy": 27}},
		watch.KindFunctions: {common},
		watch.KindListener:  {{"connections.accepted": 35, "connections.refused": 36, "accept.pauses": 37}},
	} {
		want, got := map[string]float64{}, map[string]float64{}
		for _, some := range wants {
			maps.Copy(want, some)
		}
		s.Kind = kind
		for _, m := range append(watch.Metrics(), watch.LagMetric()) {
			if v, ok := m.Value(s); ok {
				got[m.Name] = v
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("kind %d: got %v, want %v", kind, got, want)
		}
	}
}

var unit = regexp.MustCompile(`^(s|\{[a-z]+\}|)$`)

// TestCountersGrow: a metric that is a counter never falls while work comes and ends; the
// gauges of waiting and running work do.
func TestCountersGrow(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex, pool := coretest.NewExecutor(t), coretest.NewPool(t, 2)
		w := &watch.Watcher{}
		stop := run(t, w, ex, pool)
		last, fell := map[string]float64{}, map[string]bool{}
		look := func() {
			for _, s := range w.Statuses() {
				for _, m := range append(watch.Metrics(), watch.LagMetric()) {
					if v, ok := m.Value(s); ok {
						key := s.Name + " " + m.Name
						fell[m.Name] = fell[m.Name] || v < last[key]
						last[key] = v
					}
				}
			}
		}
		for range 3 {
			for _, one := range []core.EventExecutor{ex, pool} {
				for range 4 {
					coretest.MustExecute(t, one, func() { time.Sleep(250 * time.Millisecond) })
				}
				if _, err := one.Schedule(100*time.Millisecond, func() {}); err != nil {
					t.Fatal(err)
				}
			}
			for range 20 {
				time.Sleep(70 * time.Millisecond)
				look()
			}
		}
		for _, m := range append(watch.Metrics(), watch.LagMetric()) {
			if !unit.MatchString(m.Unit) {
				t.Errorf("%s has the unit %q, want one of UCUM", m.Name, m.Unit)
			}
			if m.Counter && fell[m.Name] {
				t.Errorf("the counter %s has fallen", m.Name)
			}
		}
		for _, gauge := range []string{"tasks.pending", "timers.pending", "running.body.age", "oldest.task.age", "workers.busy"} {
			if !fell[gauge] {
				t.Errorf("%s never fell: the test shows nothing about it", gauge)
			}
		}
		stop()
	})
}

// TestStringHasBusyAndLag besides the metrics.
func TestStringHasBusyAndLag(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t, core.WithName("orders"))
		w := &watch.Watcher{}
		stop := run(t, w, ex)
		coretest.OnLoop(t, ex, func() { time.Sleep(250 * time.Millisecond) })
		time.Sleep(170 * time.Millisecond)
		var got map[string]map[string]float64
		if err := json.Unmarshal([]byte(w.String()), &got); err != nil {
			t.Fatal(err)
		}
		s := w.Statuses()[0]
		want := map[string]float64{"busy": s.Busy, "lag.recent": s.RecentLag.Seconds(), "lag.sum": s.Lag.Sum.Seconds(), "lag.count": float64(s.Lag.Count)}
		for name, v := range want {
			if v == 0 || got["orders"][name] != v {
				t.Errorf("%s is %v, want %v and not 0", name, got["orders"][name], v)
			}
		}
		stop()
	})
}
