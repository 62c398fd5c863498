package otelwatch_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/watch"
	"eventide/core/watch/otelwatch"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
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

	reader := sdk.NewManualReader() // in a service, a periodic reader with an exporter
	provider := sdk.NewMeterProvider(sdk.WithReader(reader))
	unregister, err := otelwatch.Register(provider.Meter("eventide"), w)
	if err != nil {
		panic(err)
	}
	for range 3 {
		if err := orders.Execute(func() {}); err != nil {
			panic(err)
		}
	}
	var text string
	for !strings.Contains(text, "eventide.tasks.ran {task} executor=orders 3\n") {
		var all metricdata.ResourceMetrics
		if err := reader.Collect(ctx, &all); err != nil {
			panic(err)
		}
		text = print(all)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "eventide.tasks") {
			fmt.Print(line)
		}
	}
	fmt.Println(unregister())
	stop()
	fmt.Println(<-watched, orders.Close())
	// Output:
	// eventide.tasks.accepted {task} executor=orders 3
	// eventide.tasks.ran {task} executor=orders 3
	// eventide.tasks.cancelled {task} executor=orders 0
	// eventide.tasks.rejected {task} executor=orders 0
	// eventide.tasks.pending {task} executor=orders 0
	// <nil>
	// <nil> <nil>
}

// print returns a line for each value.
func print(all metricdata.ResourceMetrics) string {
	var text strings.Builder
	line := func(m metricdata.Metrics, attributes attribute.Set, value any) {
		name, _ := attributes.Value("executor")
		fmt.Fprintf(&text, "%s %s executor=%s %v\n", m.Name, m.Unit, name.AsString(), value)
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[float64]:
				for _, p := range data.DataPoints {
					line(m, p.Attributes, p.Value)
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					line(m, p.Attributes, p.Value)
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					line(m, p.Attributes, fmt.Sprint(p.Count, " waits, ", p.Sum, " s"))
				}
			}
		}
	}
	return text.String()
}

func TestCollected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		orders, err := core.NewExecutor(core.WithName("orders"))
		if err != nil {
			t.Fatal(err)
		}
		w := &watch.Watcher{}
		if err := w.Watch(orders); err != nil {
			t.Fatal(err)
		}
		reader := sdk.NewManualReader()
		unregister, err := otelwatch.Register(sdk.NewMeterProvider(sdk.WithReader(reader)).Meter("eventide"), w)
		if err != nil {
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
		var all metricdata.ResourceMetrics
		if err := reader.Collect(ctx, &all); err != nil {
			t.Fatal(err)
		}
		text := print(all)
		for _, want := range []string{"eventide.lag s executor=orders 1 waits, 0.02 s\n", "eventide.busy.time s executor=orders 0.07\n", "eventide.state  executor=orders 1\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("collected\n%swant %q", text, want)
			}
		}
		if strings.Contains(text, "eventide.workers") {
			t.Errorf("collected\n%swant workers of pools alone", text)
		}
		if err := unregister(); err != nil {
			t.Error(err)
		}
		all = metricdata.ResourceMetrics{}
		if err := reader.Collect(ctx, &all); err != nil {
			t.Fatal(err)
		}
		if text := print(all); strings.Contains(text, "eventide.tasks") {
			t.Errorf("collected\n%safter the end, want nothing", text)
		}
		stop()
		if err := <-watched; err != nil {
			t.Error(err)
		}
		if err := orders.Close(); err != nil {
			t.Error(err)
		}
	})
}

// failingMeter refuses one instrument.
type failingMeter struct {
	metric.Meter
	refuses string
}

var errRefused = errors.New("refused")

func (f failingMeter) Float64ObservableGauge(name string, opts ...metric.Float64ObservableGaugeOption) (metric.Float64ObservableGauge, error) {
	if name == f.refuses {
		return nil, errRefused
	}
	return f.Meter.Float64ObservableGauge(name, opts...)
}

func TestRegisterRefuses(t *testing.T) {
	w := &watch.Watcher{}
	meter := noop.NewMeterProvider().Meter("eventide")
	for _, tc := range []struct {
		meter metric.Meter
		w     *watch.Watcher
		want  error
	}{{nil, w, nil}, {meter, nil, nil}, {failingMeter{meter, "eventide.tasks.pending"}, w, errRefused}} {
		if stop, err := otelwatch.Register(tc.meter, tc.w); err == nil || stop != nil || tc.want != nil && !errors.Is(err, tc.want) {
			t.Errorf("Register(%v, %v): %v, want an error (%v)", tc.meter, tc.w, err, tc.want)
		}
	}
}

// No number that is given to OpenTelemetry is infinite or not a number.
func TestNumbersAreFinite(t *testing.T) {
	for _, m := range watch.Metrics() {
		for kind := watch.KindExecutor; kind <= watch.KindListener; kind++ {
			if v, _ := m.Value(watch.Status{Kind: kind}); math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s is %v", m.Name, v)
			}
		}
	}
}
