package watch_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"eventide/core/internal/coretest"
	"eventide/core/watch"

	"pgregory.net/rapid"
)

// besideAReading makes a reading while another goroutine calls Statuses. It returns the first difference, or "".
func besideAReading(t *testing.T, rt *rapid.T) string {
	w := &watch.Watcher{}
	var before, after []string // the names in the statuses before and after the reading
	var ends []func()
	for i := range rapid.SampledFrom([]int{1, 2, 30, 300}).Draw(rt, "groups") {
		g, name := quietGroup(), fmt.Sprint("jobs ", i)
		w.WatchFunctions(name, g)
		before = append(before, name)
		if rapid.IntRange(0, 2).Draw(rt, "ends") > 0 {
			ends = append(ends, func() { coretest.AwaitDone(t, g) })
			g.Shutdown()
		} else {
			defer g.Shutdown()
			after = append(after, name)
		}
	}
	for _, await := range ends {
		await()
	}
	var read atomic.Bool
	begun, wrong := make(chan struct{}), make(chan string, 1)
	go func() {
		for close(begun); ; runtime.Gosched() {
			over := read.Load()
			var names []string
			for _, s := range w.Statuses() {
				names = append(names, s.Name)
			}
			switch {
			case !slices.Equal(names, after) && (over || !slices.Equal(names, before)):
				wrong <- fmt.Sprintf("the statuses are those of %q, want those of %q, or before the reading of %q too", names, after, before)
				return
			case over:
				wrong <- ""
				return
			}
		}
	}()
	<-begun
	watch.Read(w)
	read.Store(true)
	return <-wrong
}

// TestPropStatusesBesideReadings: a reading drops all ended groups from the statuses at once. A concurrent call of
// Statuses returns the groups of before the reading or those of after it, and not a part of the change.
func TestPropStatusesBesideReadings(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		for range 5 {
			if wrong := besideAReading(t, rt); wrong != "" {
				rt.Fatal(wrong)
			}
		}
	})
}
