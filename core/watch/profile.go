package watch

import (
	"context"
	"runtime/pprof"

	"eventide/core"
)

// Label is the key of the label that Labels sets. Its value is the name of the executor.
const Label = "eventide"

// Labels returns an option that gives the goroutines of the executor the label
// eventide=<its name>, and the labels of ctx, in profiles:
//
//	go tool pprof -tagfocus eventide=orders http://localhost:6060/debug/pprof/profile
//
// Without it a loop inherits the labels of the goroutine that started it. A nil ctx has no
// labels. Labels is implemented by core.WithGoroutineStart: if both options are given, the
// later one wins.
//
// A body may set labels of its own by pprof.Do. When pprof.Do returns, it sets the labels of
// the goroutine to those of its context argument, so pass a context from LabelContext.
func Labels(ctx context.Context) core.Option {
	if ctx == nil {
		ctx = context.Background()
	}
	return core.WithGoroutineStart(func(name string) {
		pprof.SetGoroutineLabels(labelled(ctx, name))
	})
}

func labelled(ctx context.Context, name string) context.Context {
	return pprof.WithLabels(ctx, pprof.Labels(Label, name))
}

// LabelContext returns ctx with the label of the executor that runs the calling body. Outside
// a body it returns ctx.
//
//	pprof.Do(watch.LabelContext(ctx), pprof.Labels("request", id), handle)
func LabelContext(ctx context.Context) context.Context {
	ex, _ := core.Current()
	if named, ok := ex.(interface{ Name() string }); ok {
		return labelled(ctx, named.Name())
	}
	return ctx
}
