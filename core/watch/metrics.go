package watch

import "encoding/json"

// Metric describes a number of a Status for a metric system.
type Metric struct {
	Name    string // without a prefix and a unit, "tasks.accepted"
	Unit    string // of UCUM, as in OpenTelemetry: "s", "{task}", or "" for a number without a unit
	Help    string
	Counter bool // true: the value only grows while the executor is watched; false: a gauge

	// Value returns the number. ok is false if a Status of that Kind has no such number.
	Value func(Status) (value float64, ok bool)
}

// Metrics returns the metrics of a Status except Lag, which is a histogram. A change of a
// name is recorded in the changelog.
func Metrics() []Metric {
	return []Metric{
		{"state", "", "Life of the executor: 0 not started, 1 started, 2 shutting down, 3 shut down, 4 terminated.", false, tasks(func(s Status) float64 { return float64(s.Stats.State) })},
		{"tasks.accepted", "{task}", "Tasks accepted.", true, tasks(func(s Status) float64 { return float64(s.Stats.Accepted) })},
		{"tasks.ran", "{task}", "Tasks that ran, including those that panicked.", true, tasks(func(s Status) float64 { return float64(s.Stats.Ran) })},
		{"tasks.cancelled", "{task}", "Submitted functions skipped because their future was cancelled.", true, tasks(func(s Status) float64 { return float64(s.Stats.Cancelled) })},
		{"tasks.rejected", "{task}", "Tasks refused.", true, tasks(func(s Status) float64 { return float64(s.Stats.Rejected) })},
		{"tasks.pending", "{task}", "Tasks accepted and not ended, including running ones.", false, tasks(func(s Status) float64 { return float64(s.Stats.Pending) })},
		{"oldest.task.age", "s", "Lower bound of the wait of the oldest accepted task that has not begun.", false, loops(func(s Status) float64 { return s.Oldest.Seconds() })},
		{"running.body.age", "s", "Lower bound of the run time of the longest running body.", false, tasks(func(s Status) float64 { return s.Longest().Seconds() })},
		{"stalls", "{stall}", "Bodies that ran for longer than the limit.", true, loops(func(s Status) float64 { return float64(s.Stalls) })},
		{"busy.time", "s", "Time in which the loop did not sleep, poll or spin; for a pool, time in bodies, summed over the workers.", true, loops(func(s Status) float64 { return s.BusyTime.Seconds() })},
		{"bodies.panicked", "{body}", "Bodies that panicked.", true, tasks(func(s Status) float64 { return float64(s.Stats.Panicked) })},
		{"timers.pending", "{timer}", "Timers that wait or run.", false, loops(func(s Status) float64 { return float64(s.Stats.Timers) })},
		{"timers.run", "{run}", "Runs of timers.", true, loops(func(s Status) float64 { return float64(s.Stats.TimersRun) })},
		{"timers.cancelled", "{timer}", "Timers cancelled.", true, loops(func(s Status) float64 { return float64(s.Stats.TimersCancelled) })},
		{"hooks.run", "{hook}", "Shutdown hooks run.", true, loops(func(s Status) float64 { return float64(s.Stats.HooksRun) })},
		{"sleeps", "{sleep}", "Sleeps of the loop, including those that ended while it spun.", true, loops(func(s Status) float64 { return float64(s.Stats.Parks + s.Stats.Spins) })},
		{"wakeups", "{wakeup}", "Calls that woke the loop.", true, loops(func(s Status) float64 { return float64(s.Stats.Wakes) })},
		{"registrations", "{registration}", "Open registrations of descriptors.", false, of(KindExecutor, func(s Status) float64 { return float64(s.Stats.Registrations) })},
		{"poller.rebuilds", "{rebuild}", "Times the poller was rebuilt.", true, of(KindExecutor, func(s Status) float64 { return float64(s.Stats.Rebuilds) })},
		{"workers", "{worker}", "Workers of a pool that have started.", false, of(KindPool, func(s Status) float64 { return float64(s.Stats.Workers) })},
		{"workers.busy", "{worker}", "Workers of a pool that run a body.", false, of(KindPool, func(s Status) float64 { return float64(s.Stats.Busy) })},
		{"connections.accepted", "{connection}", "Connections taken from the kernel by a listener.", true, of(KindListener, func(s Status) float64 { return float64(s.Connections) })},
		{"connections.refused", "{connection}", "Accepted connections closed because no worker or handler took them.", true, of(KindListener, func(s Status) float64 { return float64(s.RefusedConnections) })},
		{"accept.pauses", "{pause}", "Times a listener stopped accepting for a while.", true, of(KindListener, func(s Status) float64 { return float64(s.Pauses) })},
	}
}

// LagMetric describes Lag. Value returns the sum of the waits; Prometheus and
// OpenTelemetry export a histogram.
func LagMetric() Metric {
	return Metric{"lag", "s", "How long work waited before it began: samples of tasks, wake-ups and timers.", true, loops(func(s Status) float64 { return s.Lag.Sum.Seconds() })}
}

// when returns a Value function for the kinds for which has is true.
func when(has func(Kind) bool, value func(Status) float64) func(Status) (float64, bool) {
	return func(s Status) (float64, bool) {
		if !has(s.Kind) {
			return 0, false
		}
		return value(s), true
	}
}

// of returns a Value function for one kind.
func of(kind Kind, value func(Status) float64) func(Status) (float64, bool) {
	return when(func(k Kind) bool { return k == kind }, value)
}

// loops returns a Value function for executors and pools.
func loops(value func(Status) float64) func(Status) (float64, bool) {
	return when(func(k Kind) bool { return k <= KindPool }, value)
}

// tasks returns a Value function for every kind except a listener.
func tasks(value func(Status) float64) func(Status) (float64, bool) {
	return when(func(k Kind) bool { return k != KindListener }, value)
}

// String returns the metrics of each executor as a JSON object of objects, so that a
// Watcher is an expvar.Var:
//
//	expvar.Publish("eventide", w)
//
// Times are in seconds. Besides Metrics, each loop has "busy" (Status.Busy), "lag.recent"
// (Status.RecentLag), "lag.sum" and "lag.count".
func (w *Watcher) String() string {
	all := map[string]map[string]float64{}
	for _, s := range w.Statuses() {
		one := map[string]float64{}
		for _, m := range Metrics() {
			if v, ok := m.Value(s); ok {
				one[m.Name] = v
			}
		}
		if sum, ok := LagMetric().Value(s); ok {
			one["busy"], one["lag.recent"] = s.Busy, s.RecentLag.Seconds()
			one["lag.sum"], one["lag.count"] = sum, float64(s.Lag.Count)
		}
		all[s.Name] = one
	}
	text, _ := json.Marshal(all) // does not fail: every number is finite
	return string(text)
}
