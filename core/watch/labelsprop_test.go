package watch_test

import (
	"context"
	"runtime/pprof"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/watch"

	"pgregory.net/rapid"
)

// TestPropLabelContext: inside a body of an executor LabelContext adds its name to the labels and values of the context. Outside
// a body, and in a nested goroutine, it returns the context itself.
func TestPropLabelContext(t *testing.T) {
	coretest.CheckLeaks(t)
	names := []string{"orders", "files"}
	executors := map[string]core.EventExecutor{}
	for _, name := range names {
		executors[name] = coretest.NewExecutor(t, core.WithName(name))
	}
	rapid.Check(t, func(r *rapid.T) {
		ctx := context.WithValue(t.Context(), key{}, rapid.String().Draw(r, "value"))
		own := rapid.SampledFrom([]string{"", "request", watch.Label}).Draw(r, "a label of the context")
		if own != "" {
			ctx = pprof.WithLabels(ctx, pprof.Labels(own, "1"))
		}
		name := rapid.SampledFrom(append(names, "")).Draw(r, "executor")
		var got context.Context
		call := func() { got = watch.LabelContext(ctx) }
		inBody := name != ""
		switch {
		case !inBody:
			call()
		case rapid.Bool().Draw(r, "in a goroutine of the body"):
			inBody = false
			coretest.OnLoop(t, executors[name], func() {
				over := make(chan struct{})
				go func() { defer close(over); call() }()
				<-over
			})
		default:
			coretest.OnLoop(t, executors[name], call)
		}
		if !inBody {
			if got != ctx {
				r.Fatalf("LabelContext returned %v outside of a body, want the context itself", got)
			}
			return
		}
		if label, _ := pprof.Label(got, watch.Label); label != name || got.Value(key{}) != ctx.Value(key{}) {
			r.Fatalf("the label is %q and the value %v, want %q and %v", label, got.Value(key{}), name, ctx.Value(key{}))
		}
		if label, _ := pprof.Label(got, "request"); (label == "1") != (own == "request") {
			r.Fatalf("the label of the request is %q", label)
		}
	})
}

// key is the key of a value of a context.
type key struct{}
