package interleave

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"time"

	"eventide/props"
	"eventide/props/history"
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
		maphash.WriteComparable(&h, words(&e))
		if e.Note != "" {
			maphash.WriteComparable(&h, e.Note)
		}
		if e.Stats != nil {
			maphash.WriteComparable(&h, *e.Stats)
		}
	}
	hashAnswers(&h, out)
	return h.Sum64()
}

// words packs the fields of an event, except Note and Stats, into an array, which is plain
// memory: the hash of the struct takes its fields one by one.
func words(e *history.Event) [17]uint64 {
	kinds := uint64(e.Kind) | uint64(e.Op)<<8 | uint64(e.Body)<<16 | uint64(e.Outcome)<<24 | uint64(e.Cause)<<32
	if e.InLoop {
		kinds |= 1 << 40
	}
	if e.Token {
		kinds |= 1 << 41
	}
	return [...]uint64{
		kinds, uint64(uint32(e.From)) | uint64(e.To)<<32,
		uint64(e.N), uint64(e.At), uint64(e.G), uint64(e.ID), uint64(e.Call), uint64(e.Run),
		uint64(e.Delay), uint64(e.Period), uint64(e.Quiet), uint64(e.Timeout), uint64(e.Deadline), uint64(e.Next), uint64(e.Until),
		uint64(e.Bytes), uint64(e.Queued)<<32 | uint64(uint32(e.Lazy)),
	}
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
