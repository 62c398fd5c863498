package watch

import (
	"time"

	"eventide/core"
)

// OpenRegions returns how many regions of a tracer made by Regions have not ended.
func OpenRegions(t core.Tracer) int64 { return t.(*regions).open.Load() }

// StacksOfRegions returns the number of goroutines for which a tracer made by Regions keeps a stack of regions.
func StacksOfRegions(t core.Tracer) (n int) {
	for range t.(*regions).stacks.Range {
		n++
	}
	return n
}

// Read makes w read its executors now.
func Read(w *Watcher) { w.read(time.Now(), 0) }

// ReadAfter makes w read its executors at now, with the last reading passed before.
func ReadAfter(w *Watcher, now time.Time, passed time.Duration) { w.read(now, passed) }

// SpyOnRegions changes a tracer made by Regions: it calls began for each region that it begins, and calls the result
// of began when it ends that region.
func SpyOnRegions(t core.Tracer, began func(name string) (ended func())) {
	r := t.(*regions)
	start := r.start
	r.start = func(name string) openRegion { return spiedRegion{start(name), began(name)} }
}

type spiedRegion struct {
	openRegion
	ended func()
}

func (s spiedRegion) End() {
	s.ended()
	s.openRegion.End()
}
