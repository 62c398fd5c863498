package watch_test

import (
	"bytes"
	"runtime/trace"
	"slices"
	"testing"

	"eventide/core"
	"eventide/core/watch"

	"pgregory.net/rapid"
)

// events is a tracer that keeps what it gets.
type events []core.Event

func (e *events) Trace(ev core.Event) { *e = append(*e, ev) }

// TestPropRegions: whatever bodies begin and end, nested in each other or beside each other, while
// execution traces are recorded and while they are not, each trace has a region for the bodies that
// began while it was recorded, which ends with its body; no region is left open; and the next tracer gets
// every event.
func TestPropRegions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var next events
		tracer, hasNext := watch.Regions(&next), true
		if rapid.IntRange(1, 5).Draw(t, "no next") == 1 {
			tracer, hasNext = watch.Regions(nil), false
		}
		r := &recording{t: t, tracer: tracer, open: map[int64][]int{}}
		watch.SpyOnRegions(tracer, r.begins)
		defer r.stop()
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			ev := core.Event{Goroutine: rapid.Int64Range(1, 3).Draw(t, "goroutine"), Body: rapid.SampledFrom([]core.Body{core.BodyTask, core.BodyTimer, core.BodyHook}).Draw(t, "body")}
			switch rapid.SampledFrom([]string{"begin", "begin", "begin", "end", "end", "end", "wake", "record"}).Draw(t, "step") {
			case "begin":
				ev.Kind = core.EventBegin
			case "end":
				ev.Kind = core.EventEnd
			case "wake":
				ev.Kind = core.EventWake
			case "record":
				r.toggle()
				continue
			}
			r.trace(ev)
		}
		for goroutine, stack := range r.open {
			for range stack {
				r.trace(core.Event{Kind: core.EventEnd, Goroutine: goroutine})
			}
		}
		if n := watch.OpenRegions(tracer); n != 0 {
			t.Fatalf("every body has ended, and %d regions are open", n)
		}
		if n := watch.StacksOfRegions(tracer); n != 0 {
			t.Fatalf("G24: every body has ended, and regions of %d goroutines are kept", n)
		}
		if hasNext && !slices.Equal(next, r.sent) {
			t.Fatalf("the next tracer got %v, want %v", next, r.sent)
		}
	})
}

// recording is the specification of a tracer: which bodies run, and the region of each that began while a
// trace was recorded.
type recording struct {
	t      *rapid.T
	tracer core.Tracer
	sent   events
	open   map[int64][]int // regions by goroutine, the innermost last; 0: a body without one
	on     bool
	got    bytes.Buffer
	bodies []core.Body // that began since the trace began

	begun []string // the names of all regions
	ended []int    // regions, in order
}

// begins is called for each region that begins.
func (r *recording) begins(name string) (ended func()) {
	r.begun = append(r.begun, name)
	region := len(r.begun)
	return func() { r.ended = append(r.ended, region) }
}

func (r *recording) trace(ev core.Event) {
	stack := r.open[ev.Goroutine]
	region, begun, ended := 0, r.begun, r.ended
	switch {
	case ev.Kind == core.EventBegin:
		if r.on {
			r.bodies = append(r.bodies, ev.Body)
			begun = append(begun, "executor: "+ev.Body.String())
			region = len(begun)
		}
		r.open[ev.Goroutine] = append(stack, region)
	case ev.Kind == core.EventEnd && len(stack) == 0:
		return // no body runs there
	case ev.Kind == core.EventEnd:
		last := len(stack) - 1
		if region = stack[last]; region != 0 {
			ended = append(ended, region)
		}
		r.open[ev.Goroutine] = stack[:last]
	}
	r.sent = append(r.sent, ev)
	r.tracer.Trace(ev)
	if !slices.Equal(r.begun, begun) || !slices.Equal(r.ended, ended) {
		r.t.Fatalf("after %v the regions are %q, and %v have ended; want %q, %v", ev, r.begun, r.ended, begun, ended)
	}
	least, most := int64(0), int64(0)
	for _, stack := range r.open {
		first := slices.IndexFunc(stack, func(region int) bool { return region != 0 }) // what is nested in a region may have one of its own
		for i, region := range stack {
			if region != 0 {
				least++
			}
			if first >= 0 && i >= first {
				most++
			}
		}
	}
	if n := watch.OpenRegions(r.tracer); n < least || n > most {
		r.t.Fatalf("%d regions are open, want %d to %d: %v", n, least, most, r.open)
	}
}

// toggle begins a trace or ends it.
func (r *recording) toggle() {
	if r.on {
		r.stop()
		return
	}
	if err := trace.Start(&r.got); err != nil {
		r.t.Fatalf("no trace can be recorded: %v", err)
	}
	r.on, r.bodies = true, nil
}

func (r *recording) stop() {
	if !r.on {
		return
	}
	trace.Stop()
	r.on = false
	for _, body := range r.bodies {
		if !bytes.Contains(r.got.Bytes(), []byte("executor: "+body.String())) {
			r.t.Errorf("the trace has no region of a %v", body)
		}
	}
	r.got.Reset()
}
