// Package promwatch exports the readings of a watch.Watcher to Prometheus.
//
//	prometheus.MustRegister(promwatch.NewCollector(w))
//
// It is a module of its own, so that eventide does not depend on the Prometheus client.
// Each metric has the label executor. The names are those of watch.Metrics: tasks.accepted
// is eventide_tasks_accepted_total, and oldest.task.age is
// eventide_oldest_task_age_seconds.
package promwatch

import (
	"strings"
	"time"

	"eventide/core/watch"

	"github.com/prometheus/client_golang/prometheus"
)

// NewCollector returns a collector of the metrics of w. A scrape returns the last reading of
// w.Run; it reads no executor and waits for none.
func NewCollector(w *watch.Watcher) prometheus.Collector {
	c := &collector{watcher: w, lag: desc(watch.LagMetric())}
	for _, m := range watch.Metrics() {
		kind := prometheus.GaugeValue
		if m.Counter {
			kind = prometheus.CounterValue
		}
		c.metrics = append(c.metrics, metric{m, desc(m), kind})
	}
	return c
}

// collector is a prometheus.Collector. It does not change after NewCollector.
type collector struct {
	watcher *watch.Watcher
	metrics []metric
	lag     *prometheus.Desc
}

type metric struct {
	watch.Metric
	desc *prometheus.Desc
	kind prometheus.ValueType
}

func desc(m watch.Metric) *prometheus.Desc {
	name := "eventide_" + strings.ReplaceAll(m.Name, ".", "_")
	if m.Unit == "s" {
		name += "_seconds"
	}
	if m.Counter && m.Name != watch.LagMetric().Name {
		name += "_total"
	}
	return prometheus.NewDesc(name, m.Help, []string{"executor"}, nil)
}

// Describe sends the descriptions of all metrics.
func (c *collector) Describe(descs chan<- *prometheus.Desc) {
	for _, m := range c.metrics {
		descs <- m.desc
	}
	descs <- c.lag
}

// Collect sends the metrics of each executor.
func (c *collector) Collect(metrics chan<- prometheus.Metric) {
	bounds := watch.LagBounds()
	for _, s := range c.watcher.Statuses() {
		for _, m := range c.metrics {
			if v, ok := m.Value(s); ok {
				metrics <- prometheus.MustNewConstMetric(m.desc, m.kind, v, s.Name)
			}
		}
		if _, ok := watch.LagMetric().Value(s); ok {
			metrics <- prometheus.MustNewConstHistogram(c.lag, uint64(s.Lag.Count), s.Lag.Sum.Seconds(), buckets(bounds, s.Lag), s.Name)
		}
	}
}

func buckets(bounds []time.Duration, lag watch.Lag) map[float64]uint64 {
	all := make(map[float64]uint64, len(bounds))
	for i, bound := range bounds {
		all[bound.Seconds()] = uint64(lag.Buckets[i])
	}
	return all
}
