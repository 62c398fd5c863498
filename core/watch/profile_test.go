package watch_test

import (
	"bytes"
	"context"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"sync"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/watch"
)

// labels returns the labels of the goroutine that runs function, as a profile shows them.
func labels(t *testing.T, function string) string {
	t.Helper()
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		t.Fatal(err)
	}
	for record := range strings.SplitSeq(profile.String(), "\n\n") {
		if strings.Contains(record, function) {
			_, after, _ := strings.Cut(record, "# labels: ")
			text, _, _ := strings.Cut(after, "\n")
			return text
		}
	}
	t.Fatalf("the profile has no %s:\n%s", function, &profile)
	return ""
}

//go:noinline
func blocksInABody(began chan<- struct{}, end <-chan struct{}) {
	close(began)
	<-end
}

// labelsInABody returns the labels of a body of ex.
func labelsInABody(t *testing.T, ex core.EventExecutor) string {
	t.Helper()
	began, end, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	coretest.MustExecute(t, ex, func() { defer close(ended); blocksInABody(began, end) })
	coretest.Await(t, "the body", began)
	got := labels(t, "blocksInABody")
	close(end)
	coretest.Await(t, "the end of the body", ended)
	return got
}

func TestLabelsOfALoop(t *testing.T) {
	coretest.CheckLeaks(t)
	tier := pprof.WithLabels(context.Background(), pprof.Labels("tier", "front"))
	request := pprof.Labels("request", "17")
	for _, tc := range []struct {
		name string
		ctx  context.Context
		want string
	}{
		{"alone", context.Background(), `{"eventide":"orders"}`},
		{"with the user's", tier, `{"eventide":"orders", "tier":"front"}`},
		{"without a context", nil, `{"eventide":"orders"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ex := coretest.NewExecutor(t, core.WithName("orders"), watch.Labels(tc.ctx))
			// The caller that starts the loop has a label, which the loop must not keep.
			pprof.Do(context.Background(), request, func(context.Context) {
				coretest.OnLoop(t, ex, func() {})
			})
			if got := labelsInABody(t, ex); got != tc.want {
				t.Errorf("labels %s, want %s", got, tc.want)
			}
			coretest.MustExecute(t, ex, runtime.Goexit)
			if got := labelsInABody(t, ex); got != tc.want {
				t.Errorf("after Goexit labels %s, want %s", got, tc.want)
			}
			coretest.OnLoop(t, ex, func() {
				pprof.Do(watch.LabelContext(context.Background()), request, func(context.Context) {})
			})
			if got := labelsInABody(t, ex); !strings.Contains(got, `"eventide":"orders"`) || strings.Contains(got, "request") {
				t.Errorf("after a body with a label of its own labels %s, want those of the loop", got)
			}
		})
	}
}

func TestLabelsOfChildrenAndWorkers(t *testing.T) {
	coretest.CheckLeaks(t)
	group := coretest.NewExecutorGroup(t, 2, core.WithName("orders"), watch.Labels(context.Background()))
	pool := coretest.NewPool(t, 1, core.WithName("files"), watch.Labels(context.Background()))
	for _, want := range []string{"orders-0", "orders-1"} {
		if got := labelsInABody(t, group); got != `{"eventide":"`+want+`"}` {
			t.Errorf("labels %s, want %s", got, want)
		}
	}
	if got := labelsInABody(t, pool); got != `{"eventide":"files"}` {
		t.Errorf("labels %s, want files", got)
	}
}

func TestLabelContextOutsideOfABody(t *testing.T) {
	ctx := context.Background()
	if got := watch.LabelContext(ctx); got != ctx {
		t.Errorf("got %v, want the context itself", got)
	}
}

// TestLabelsAndGoroutineStart are one option: the later one wins.
func TestLabelsAndGoroutineStart(t *testing.T) {
	coretest.CheckLeaks(t)
	started := make(chan string, 2)
	own := core.WithGoroutineStart(func(name string) { started <- name })
	labels := watch.Labels(context.Background())
	ex := coretest.NewExecutor(t, core.WithName("orders"), labels, own)
	if got := labelsInABody(t, ex); got != "" || len(started) != 1 {
		t.Errorf("labels %s, %d calls, want none and one call", got, len(started))
	}
	ex = coretest.NewExecutor(t, core.WithName("files"), own, labels)
	if got := labelsInABody(t, ex); got != `{"eventide":"files"}` || len(started) != 1 {
		t.Errorf("labels %s, %d calls, want those of files and no further call", got, len(started))
	}
}

// countingTracer counts events.
type countingTracer struct {
	mu   sync.Mutex
	seen map[core.EventKind]int
}

func (c *countingTracer) Trace(ev core.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[ev.Kind]++
}

func TestRegions(t *testing.T) {
	coretest.CheckLeaks(t)
	next := &countingTracer{seen: map[core.EventKind]int{}}
	tracer := watch.Regions(next)
	ex, err := core.NewExecutor(core.WithName("orders"), core.WithTracer(tracer))
	coretest.EndWithTest(t, ex, err)
	coretest.OnLoop(t, ex, func() {}) // nothing is recorded yet

	var record bytes.Buffer
	inBody, recording := make(chan struct{}), make(chan struct{})
	coretest.MustExecute(t, ex, func() { close(inBody); <-recording }) // ends while recorded
	<-inBody
	if err := trace.Start(&record); err != nil {
		t.Fatal(err)
	}
	close(recording)
	coretest.MustExecute(t, ex, runtime.Goexit)
	coretest.MustExecute(t, ex, func() { panic("recorded") })
	coretest.OnLoop(t, ex, func() {})
	done := make(chan struct{})
	if _, err := ex.Schedule(0, func() { close(done) }); err != nil {
		t.Fatal(err)
	}
	<-done
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	trace.Stop()
	for _, region := range []string{"orders: task", "orders: timer"} {
		if !bytes.Contains(record.Bytes(), []byte(region)) {
			t.Errorf("the trace has no region %q", region)
		}
	}
	if next.seen[core.EventBegin] != 7 || next.seen[core.EventEnd] != 7 || next.seen[core.EventDone] != 1 {
		t.Errorf("the next tracer has seen %v, want 7 bodies, one of them the panic handler, and the end", next.seen)
	}
	if open := watch.OpenRegions(tracer); open != 0 {
		t.Errorf("%d regions are open, want none", open)
	}
}

// TestRegionsOfManyExecutors: many may share one tracer, which needs no next one.
func TestRegionsOfManyExecutors(t *testing.T) {
	coretest.CheckLeaks(t)
	tracer := watch.Regions(nil)
	tracer.Trace(core.Event{Kind: core.EventAdmit})
	one := coretest.NewExecutor(t, core.WithName("one"), core.WithTracer(tracer))
	two := coretest.NewExecutor(t, core.WithName("two"), core.WithTracer(tracer))
	var record bytes.Buffer
	if err := trace.Start(&record); err != nil {
		t.Fatal(err)
	}
	// The bodies overlap: that of the first begins first and ends last.
	began, end := make(chan struct{}), make(chan struct{})
	coretest.MustExecute(t, one, func() { close(began); <-end })
	coretest.Await(t, "the first body", began)
	coretest.OnLoop(t, two, func() {})
	close(end)
	coretest.OnLoop(t, one, func() {})
	for _, ex := range []*core.Executor{one, two} {
		ex.Shutdown()
		coretest.AwaitDone(t, ex)
	}
	trace.Stop()
	for _, region := range []string{"one: task", "two: task"} {
		if !bytes.Contains(record.Bytes(), []byte(region)) {
			t.Errorf("the trace has no region %q", region)
		}
	}
	coretest.Want(t, "open regions", watch.OpenRegions(tracer), 0)
}

// BenchmarkRegions is a task with and without the tracer, while nothing is recorded.
func BenchmarkRegions(b *testing.B) {
	for _, bc := range []struct {
		name string
		opts []core.Option
	}{{"tracer=none", nil}, {"tracer=regions", []core.Option{core.WithTracer(watch.Regions(nil))}}} {
		b.Run(bc.name, func(b *testing.B) {
			ex := coretest.NewExecutor(b, bc.opts...)
			b.ReportAllocs()
			for range b.N {
				coretest.MustExecute(b, ex, func() {})
			}
			coretest.OnLoop(b, ex, func() {})
		})
	}
}
