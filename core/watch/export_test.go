package watch

import (
	"time"

	"eventide/core"
)

// OpenRegions returns how many regions of a tracer made by Regions have not ended.
func OpenRegions(t core.Tracer) int64 { return t.(*regions).open.Load() }

// Read makes w read its executors now.
func Read(w *Watcher) { w.read(time.Now(), 0) }

// ReadAfter makes w read its executors at now, with the last reading passed before.
func ReadAfter(w *Watcher, now time.Time, passed time.Duration) { w.read(now, passed) }
