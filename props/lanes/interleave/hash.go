package interleave

import (
	"fmt"
	"hash/maphash"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"time"

	"eventide/props"
	"eventide/props/history"
	"eventide/props/interleave/inprocess"
)

// hashSeed is the seed of historyHash.
var hashSeed = maphash.MakeSeed()

// hashMasks are secret numbers for mixer.
var hashMasks = [2]uint64{rand.Uint64(), rand.Uint64()}

// mixer is a hash of words, in a fifth of the time of maphash.WriteComparable, which
// reads the 260 bytes of an event one field at a time.
type mixer uint64

// add adds two words: the product of both, masked, has 128 bits, which are folded.
func (m *mixer) add(a, b uint64) {
	high, low := bits.Mul64(a^hashMasks[0]^uint64(*m), b^hashMasks[1])
	*m = mixer(bits.RotateLeft64(uint64(*m), 23) ^ high ^ low)
}

// event adds an event of goroutine g, without the text of its Note and the counters in Stats.
func (m *mixer) event(e *history.Event, g int64) {
	m.add(uint64(e.Kind)|uint64(e.Op)<<8|uint64(e.Body)<<16|uint64(e.Outcome)<<24|uint64(e.From)<<32|uint64(e.To)<<40|
		uint64(e.Cause)<<48|bit(e.InLoop)<<56|bit(e.Token)<<57|bit(e.Note != "")<<58|bit(e.Stats != nil)<<59, uint64(e.N))
	m.add(uint64(e.At), uint64(g))
	m.add(uint64(e.ID), uint64(e.Call))
	m.add(uint64(e.Run), uint64(e.Delay))
	m.add(uint64(e.Period), uint64(e.Quiet))
	m.add(uint64(e.Timeout), uint64(e.Deadline))
	m.add(uint64(e.Next), uint64(e.Until))
	m.add(uint64(e.Bytes), uint64(e.Queued)|uint64(e.Lazy)<<32) // lengths of queues, which have 32 bits
}

// sample adds a sample.
func (m *mixer) sample(s *props.Sample) {
	c := &s.Stats
	m.add(uint64(s.After), uint64(s.N))
	m.add(uint64(s.Cancelled[0]), uint64(s.Cancelled[1]))
	m.add(uint64(s.Rebuilt[0]), uint64(s.Rebuilt[1]))
	m.add(uint64(c.State), uint64(c.Accepted))
	m.add(uint64(c.Ran), uint64(c.Cancelled))
	m.add(uint64(c.Pending), uint64(c.Rejected))
	m.add(uint64(c.Panicked), uint64(c.Timers))
	m.add(uint64(c.TimersScheduled), uint64(c.TimersEnded))
	m.add(uint64(c.TimersCancelled), uint64(c.TimersRun))
	m.add(uint64(c.Hooks), uint64(c.HooksRun))
	m.add(uint64(c.Parks), uint64(c.Spins))
	m.add(uint64(c.Wakes), uint64(c.Workers))
	m.add(uint64(c.Busy), uint64(c.Registrations))
	m.add(uint64(c.Rebuilds), 0)
}

// bit is 1 for true.
func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

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
	n, sum := 0, mixer(hashMasks[0])
	for i := range out.Events {
		var g int64
		e := &out.Events[i]
		g, n = renumbered(e.G, &seen, n)
		sum.event(e, g)
		if e.Note != "" {
			maphash.WriteComparable(&h, e.Note)
		}
		if e.Stats != nil && e.Kind != history.Sample { // its counters are in a Sample of the recording
			maphash.WriteComparable(&h, *e.Stats)
		}
	}
	for i := range out.Samples {
		sum.sample(&out.Samples[i])
	}
	maphash.WriteComparable(&h, sum)
	for i := range out.Reports {
		maphash.WriteComparable(&h, out.Reports[i])
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
