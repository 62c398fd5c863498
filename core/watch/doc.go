// Package watch reports which executor is stuck, since when, in which body, with its stack;
// how long accepted tasks wait; and how busy each loop is.
//
//	w := &watch.Watcher{}
//	if err := w.Watch(orders, workers); err != nil { // executors, event loops, pools, groups
//		return err
//	}
//	go w.Run(ctx)                 // until ctx ends
//	expvar.Publish("eventide", w) // as JSON; or promwatch, otelwatch
//
// While Run runs, a body that takes longer than a second is logged once, with the stack of
// its goroutine, and once more when it has ended.
//
// A Watcher costs its executors little: it holds the lock of Execute for less than a
// microsecond in each interval, and the loop reads the clock when it sleeps and wakes (see
// core.Meter). A Watcher submits no task, so it does not start or wake a loop, takes no room
// in a queue, and does not prolong a quiet period (G10, G12, G17, G20).
//
// Labels gives the goroutines of a loop a label in profiles, and Regions shows bodies in
// execution traces. Modules below this package have the metrics for Prometheus
// (core/watch/promwatch) and OpenTelemetry (core/watch/otelwatch).
package watch
