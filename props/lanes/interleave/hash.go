package interleave

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"time"

	"eventide/props"
	"eventide/props/interleave/inprocess"
)

// hashSeed is the seed of historyHash.
var hashSeed = maphash.MakeSeed()

// historyHash is the same for recordings that differ only in the numbers of goroutines. Of a
// million histories of one scenario two others are the same with a chance of 3e-8.
func historyHash(r *inprocess.Result, out props.Recording) uint64 {
	var seen [64]int64
	var h maphash.Hash
	h.SetSeed(hashSeed)
	maphash.WriteComparable(&h, [2]int{int(r.Verdict), out.AlarmsLeft})
	if out.Events == nil {
		maphash.WriteComparable(&h, r.Class)
	}
	n := 0
	for _, e := range out.Events {
		e.G, n = renumbered(e.G, &seen, n)
		stats := e.Stats
		e.Stats = nil
		maphash.WriteComparable(&h, e)
		if stats != nil {
			maphash.WriteComparable(&h, *stats)
		}
	}
	hashAnswers(&h, out)
	return h.Sum64()
}

// hashAnswers adds the report, the counters and the other final answers of the executor.
// Report.Running has numbers of goroutines, so only whether it names a body is added.
func hashAnswers(h *maphash.Hash, out props.Recording) {
	maphash.WriteComparable(h, out.Wrong)
	for _, size := range out.Resized {
		maphash.WriteComparable(h, size)
	}
	f := out.Final
	if f == nil {
		return
	}
	report := f.Report
	if report.Running != "" {
		report.Running = "a body"
	}
	maphash.WriteComparable(h, report)
	maphash.WriteComparable(h, f.Stats)
	maphash.WriteComparable(h, [...]int{f.Early, f.Traced, f.Reports.Handled, f.Reports.HandlerPanics, f.Reopened, f.Kept})
	maphash.WriteComparable(h, f.Handler)
	maphash.WriteComparable(h, f.Plain)
	if len(f.Reports.Logged) > 0 {
		for _, message := range slices.Sorted(maps.Keys(f.Reports.Logged)) {
			maphash.WriteComparable(h, message)
			maphash.WriteComparable(h, f.Reports.Logged[message])
		}
	}
	if f.Metered != nil {
		maphash.WriteComparable(h, *f.Metered)
	}
	for _, r := range f.Reads {
		maphash.WriteComparable(h, [...]time.Duration{r.At, r.Oldest})
		for _, wait := range r.Waits {
			maphash.WriteComparable(h, wait)
		}
	}
	if f.Err != nil {
		maphash.WriteComparable(h, f.Err.Error())
	}
	if f.Faults != nil {
		maphash.WriteComparable(h, fmt.Sprint(*f.Faults)) // errors as text
	}
}

// renumbered returns the position of a goroutine in seen[:n], to which it is added if it is
// new, and the new n.
func renumbered(g int64, seen *[64]int64, n int) (int64, int) {
	at := slices.Index(seen[:n], g)
	if at < 0 {
		if at = n; n < len(seen) {
			seen[n] = g
			n++
		}
	}
	return int64(at), n
}
