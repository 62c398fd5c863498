package docs

import (
	"context"
	"expvar"

	"eventide/core"
	"eventide/core/tcp"
	"eventide/core/tracked"
	"eventide/core/watch"
)

// The functions below have the fragments of docs/watching.md.
var (
	_ = watched
	_ = labelled
)

func watched(orders *core.Executor, files *core.Pool, loops *core.Group, l *tcp.Listener, jobs *tracked.Group) error {
	w := &watch.Watcher{}
	if err := w.Watch(orders, files, loops); err != nil { // and each child of a group
		return err
	}
	w.WatchListener("http", l)
	w.WatchFunctions("jobs", jobs)
	expvar.Publish("eventide", w)
	return jobs.Go("watch", func(context.Context) error { return w.Run(jobs.ShutdownContext()) })
}

func labelled(ctx context.Context) (*core.Executor, error) {
	ex, err := core.NewExecutor(core.WithName("orders"),
		watch.Labels(ctx),                   // goroutines have the label eventide=orders
		core.WithTracer(watch.Regions(nil))) // each body is a region "orders: task"
	return ex, err
}
