package main

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// totals is the state of a soak.
type totals struct {
	Seed       uint64
	Rounds     int // that are over; the next one has this number
	Spent      time.Duration
	Lifecycles map[string]int // by kind
	Refused    int            // for want of descriptors, as they should be
	Found      []string       // violations and leaks

	Faults      map[string]int64 // injected, by kind
	FaultRounds int              // rounds in which they could be
}

// add adds a round that is over.
func (t *totals) add(o outcome) {
	for kind, n := range o.lifecycles {
		t.Lifecycles[kind] += n
	}
	t.Refused += o.refused
	if o.faults != nil {
		t.FaultRounds++
	}
	for kind, n := range o.faults {
		if t.Faults == nil {
			t.Faults = map[string]int64{}
		}
		t.Faults[kind] += n
	}
	t.Found = append(t.Found, o.found...)
	t.Rounds++
}

func (t *totals) all() int {
	sum := 0
	for _, n := range t.Lifecycles {
		sum += n
	}
	return sum
}

// usage is what the process holds when nothing runs.
type usage struct {
	goroutines, descriptors int
	heap                    uint64
}

// measure collects garbage, twice because an object with a cleanup goes in the second pass,
// and returns what is held.
func measure() usage {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{runtime.NumGoroutine(), descriptors(), m.HeapAlloc}
}

func descriptors() int {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(names) - 1 // one is that of ReadDir
}

// restPatience is how long goroutines and descriptors have to go after a round. It is no
// measure of speed: a goroutine that has closed Done only has to return.
const restPatience = time.Minute

// heapPerLifecycle is how many bytes the heap may have grown per lifecycle. The least that
// a lifecycle could leave, an entry of a map or a list, is 16 bytes.
const heapPerLifecycle = 16

// heapNoise is how much the heap may differ for reasons of the runtime: spare goroutines,
// pools of buffers, statistics.
const heapNoise = 4 << 20

// atRest compares what is held with base, and adds a finding if it is more. Goroutines and
// descriptors have patience to go.
func (t *totals) atRest(base usage, patience time.Duration) {
	now := measure()
	for end := time.Now().Add(patience); now.exceeds(base) && time.Now().Before(end); now = measure() {
		time.Sleep(time.Millisecond)
	}
	if now.exceeds(base) {
		t.Found = append(t.Found, fmt.Sprintf("G24: after round %d %d goroutines and %d descriptors are left, and %d and %d were before", t.Rounds-1, now.goroutines, now.descriptors, base.goroutines, base.descriptors))
	}
	if grown := int64(now.heap) - int64(base.heap); grown > heapNoise+int64(heapPerLifecycle*t.all()) {
		t.Found = append(t.Found, fmt.Sprintf("G24: the heap has grown by %d bytes in %d lifecycles", grown, t.all()))
	}
}

func (u usage) exceeds(base usage) bool {
	return u.goroutines > base.goroutines || u.descriptors > base.descriptors
}

// enoughRounds is after how many rounds every kind of fault must have been injected. The rarest
// of them is in every second round, in which it is injected some times.
const enoughRounds = 200

// exercised adds a finding for each kind of fault that was never injected, if there were enough
// rounds.
func (t *totals) exercised() {
	for _, kind := range slices.Sorted(maps.Keys(t.Faults)) {
		text := fmt.Sprintf("not exercised: %s was never injected in %d rounds", kind, t.FaultRounds)
		if t.FaultRounds >= enoughRounds && t.Faults[kind] == 0 {
			t.Found = append(t.Found, text)
		}
	}
}

// line is one line of progress.
func (t *totals) line(u usage) string {
	return fmt.Sprintf("soak: %v, %d rounds, %d lifecycles, %d goroutines, %d descriptors, heap %.1f MB, %d found",
		t.Spent.Round(time.Second), t.Rounds, t.all(), u.goroutines, u.descriptors, float64(u.heap)/(1<<20), len(t.Found))
}

// summary is what a soak prints at the end.
func (t *totals) summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%d rounds of seed %d in %v\n", t.Rounds, t.Seed, t.Spent.Round(time.Second))
	for _, kind := range slices.Sorted(maps.Keys(t.Lifecycles)) {
		fmt.Fprintf(&b, "%8d %s\n", t.Lifecycles[kind], kind)
	}
	fmt.Fprintf(&b, "%8d refused for want of descriptors\n", t.Refused)
	if t.FaultRounds == 0 {
		fmt.Fprintln(&b, "       0 faults of system calls: this program was built without them")
	}
	for _, kind := range slices.Sorted(maps.Keys(t.Faults)) {
		fmt.Fprintf(&b, "%8d times %s\n", t.Faults[kind], kind)
	}
	fmt.Fprintf(&b, "%8d found\n", len(t.Found))
	for _, text := range t.Found {
		fmt.Fprintln(&b, text)
	}
	return b.String()
}
