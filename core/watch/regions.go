package watch

import (
	"context"
	"runtime/trace"
	"sync"
	"sync/atomic"

	"eventide/core"
)

// Regions returns a tracer for core.WithTracer. While an execution trace is being recorded,
// it shows each body as a region of runtime/trace, for example "orders: task". It passes
// every event to next, unless next is nil. Many executors may share one tracer.
//
// A tracer costs time for each event even while nothing is recorded: see core.Tracer and
// BenchmarkRegions. Use it only in a program of which you record execution traces.
func Regions(next core.Tracer) core.Tracer { return &regions{next: next, start: startRegion} }

type regions struct {
	next  core.Tracer
	start func(name string) openRegion // startRegion, or the replacement of a test

	open   atomic.Int64 // regions that have not ended
	stacks sync.Map     // goroutine id -> []openRegion; only that goroutine reads or writes its entry
}

// openRegion is a *trace.Region, except in tests.
type openRegion interface{ End() }

func startRegion(name string) openRegion { return trace.StartRegion(context.Background(), name) }

func (r *regions) Trace(ev core.Event) {
	switch {
	case ev.Kind == core.EventBegin && (trace.IsEnabled() || r.open.Load() > 0):
		r.begin(ev)
	case ev.Kind == core.EventEnd && r.open.Load() > 0:
		r.end(ev)
	}
	if r.next != nil {
		r.next.Trace(ev)
	}
}

// begin opens a region. A spawner may run one loop inside a body of another, so the
// regions of a goroutine may be nested.
func (r *regions) begin(ev core.Event) {
	var region openRegion
	if trace.IsEnabled() {
		name := "executor"
		ex, _ := core.Current()
		if named, ok := ex.(interface{ Name() string }); ok {
			name = named.Name()
		}
		region = r.start(name + ": " + ev.Body.String())
	}
	stack := r.stack(ev.Goroutine)
	if region == nil && len(stack) == 0 {
		return
	}
	r.open.Add(1)
	r.stacks.Store(ev.Goroutine, append(stack, region))
}

// end ends the innermost region of the goroutine. The region is nil if its body began while
// nothing was recorded.
func (r *regions) end(ev core.Event) {
	stack := r.stack(ev.Goroutine)
	if len(stack) == 0 {
		return
	}
	last := len(stack) - 1
	if stack[last] != nil {
		stack[last].End()
	}
	r.open.Add(-1)
	if last == 0 {
		r.stacks.Delete(ev.Goroutine)
		return
	}
	r.stacks.Store(ev.Goroutine, stack[:last])
}

func (r *regions) stack(goroutine int64) []openRegion {
	v, _ := r.stacks.Load(goroutine)
	stack, _ := v.([]openRegion)
	return stack
}
