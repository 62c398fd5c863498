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
// began while it was recorded; no region is left open; and the next tracer gets every event.
func TestPropRegions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var next events
		tracer := watch.Regions(&next)
		if rapid.IntRange(1, 5).Draw(t, "no next") == 1 {
			tracer = watch.Regions(nil)
		}
		r := &recording{t: t, tracer: tracer, open: map[int64][]bool{}}
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
		if next != nil && !slices.Equal(next, r.sent) {
			t.Fatalf("the next tracer got %v, want %v", next, r.sent)
		}
	})
}

// recording is the specification of a tracer: which bodies run, and whether each of them began while a
// trace was recorded.
type recording struct {
	t      *rapid.T
	tracer core.Tracer
	sent   events
	open   map[int64][]bool // by goroutine, the innermost last
	on     bool
	got    bytes.Buffer
	bodies []core.Body // that began since the trace began
}

func (r *recording) trace(ev core.Event) {
	stack := r.open[ev.Goroutine]
	switch {
	case ev.Kind == core.EventBegin:
		r.open[ev.Goroutine] = append(stack, r.on)
		if r.on {
			r.bodies = append(r.bodies, ev.Body)
		}
	case ev.Kind == core.EventEnd && len(stack) == 0:
		return // no body runs there
	case ev.Kind == core.EventEnd:
		r.open[ev.Goroutine] = stack[:len(stack)-1]
	}
	r.sent = append(r.sent, ev)
	r.tracer.Trace(ev)
	least, most := int64(0), int64(0)
	for _, stack := range r.open {
		first := slices.Index(stack, true) // what is nested in a region may have one of its own
		for i, recorded := range stack {
			if recorded {
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
