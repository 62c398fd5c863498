package watch

import (
	"context"
	"runtime/pprof"

	"eventide/core"
)

// Label is the key of the label that Labels sets. Its value is the name of the executor.
const Label = "eventide"

// Labels returns an option: the goroutines of the executor have the label
// eventide=<its name>, and those of ctx, in profiles:
//
//	go tool pprof -tagfocus eventide=orders http://localhost:6060/debug/pprof/profile
//
// Without it a loop keeps the labels of the caller that happened to start it. A nil ctx has
// no labels. The option includes core.WithGoroutineStart: the later one of the two wins.
//
// A body may set labels of its own by pprof.Do. When pprof.Do returns, the goroutine has the
// labels of the context that was given to it, so give it one from LabelContext.
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

// LabelContext returns ctx with the label of the executor that runs the calling body. If the
// caller is no body, it returns ctx.
//
//	pprof.Do(watch.LabelContext(ctx), pprof.Labels("request", id), handle)
func LabelContext(ctx context.Context) context.Context {
	ex, _ := core.Current()
	if named, ok := ex.(interface{ Name() string }); ok {
		return labelled(ctx, named.Name())
	}
	return ctx
}
