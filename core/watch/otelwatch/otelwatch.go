// Package otelwatch exports the readings of a watch.Watcher to OpenTelemetry.
//
//	stop, err := otelwatch.Register(otel.Meter("eventide"), w)
//
// It is a module of its own, so that eventide does not depend on OpenTelemetry. Each metric
// has the attribute executor. The names are those of watch.Metrics with the prefix
// "eventide.": eventide.tasks.accepted, eventide.oldest.task.age in seconds.
package otelwatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"eventide/core/watch"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Register makes the instruments with meter, and fills them from w until stop is called. A
// collection reports the last reading of w.Run; it reads no executor. The histogram
// eventide.lag is recorded on the goroutine of w.Run. Register returns an error if meter or w
// is nil, or if meter refuses an instrument; then it fills none.
func Register(meter metric.Meter, w *watch.Watcher) (stop func() error, err error) {
	if meter == nil || w == nil {
		return nil, errors.New("otelwatch: Register: meter or w is nil, want both")
	}
	lag, err := newLag(meter)
	if err != nil {
		return nil, fmt.Errorf("otelwatch: Register: %w", err)
	}
	var all []instrument
	var observables []metric.Observable
	for _, m := range watch.Metrics() {
		o, err := observable(meter, m)
		if err != nil {
			return nil, fmt.Errorf("otelwatch: Register: %w", err)
		}
		all = append(all, instrument{m, o})
		observables = append(observables, o)
	}
	registration, err := meter.RegisterCallback(func(_ context.Context, to metric.Observer) error {
		observe(to, w.Statuses(), all)
		return nil
	}, observables...)
	if err != nil {
		return nil, fmt.Errorf("otelwatch: Register: %w", err)
	}
	forget := w.OnWait(func(name string, wait time.Duration) {
		lag.Record(context.Background(), wait.Seconds(), executor(name))
	})
	return func() error { forget(); return registration.Unregister() }, nil
}

// instrument is one observed metric.
type instrument struct {
	watch.Metric
	observable metric.Float64Observable
}

func observable(meter metric.Meter, m watch.Metric) (metric.Float64Observable, error) {
	name, unit, help := "eventide."+m.Name, metric.WithUnit(m.Unit), metric.WithDescription(m.Help)
	if m.Counter {
		return meter.Float64ObservableCounter(name, unit, help)
	}
	return meter.Float64ObservableGauge(name, unit, help)
}

func newLag(meter metric.Meter) (metric.Float64Histogram, error) {
	m := watch.LagMetric()
	var bounds []float64
	for _, bound := range watch.LagBounds() {
		bounds = append(bounds, bound.Seconds())
	}
	return meter.Float64Histogram("eventide."+m.Name, metric.WithUnit(m.Unit), metric.WithDescription(m.Help),
		metric.WithExplicitBucketBoundaries(bounds...))
}

func observe(to metric.Observer, statuses []watch.Status, all []instrument) {
	for _, s := range statuses {
		for _, m := range all {
			if v, ok := m.Value(s); ok {
				to.ObserveFloat64(m.observable, v, executor(s.Name))
			}
		}
	}
}

func executor(name string) metric.MeasurementOption {
	return metric.WithAttributes(attribute.String("executor", name))
}
