package stress

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Race is a few things done at the same time to one fresh state, thousands of
// times.
//
//	Race[*counter]{
//		Setup:   func() *counter { return new(counter) },
//		Actors:  []func(*counter){(*counter).inc, (*counter).inc},
//		Outcome: func(c *counter) string { return strconv.Itoa(c.n) },
//	}.Run(10_000, table)
type Race[S any] struct {
	// Setup makes the state of one run.
	Setup func() S

	// Actors run on a goroutine each, released together by a barrier that
	// spins: to wake them would cost more than the race takes.
	Actors []func(S)

	// Outcome is called after all actors of the run, and some more runs, have
	// returned. What they wrote is visible to it.
	Outcome func(S) string
}

// stride is how many runs are set up, raced and judged together, so that actors
// go from one race to the next without a pause in which they would fall out of
// step.
const stride = 64

// Run runs the race n times, rounded up to whole strides, and counts the outcomes
// in table. It ends early, after a whole stride, once something forbidden or
// unforeseen was seen: what comes later says nothing new and may hang.
func (r Race[S]) Run(n int, table *Table) {
	for first := 0; first < n; first += stride {
		for _, state := range r.stride(first) {
			table.Add(r.Outcome(state))
		}
		if table.Check() != nil {
			return
		}
	}
}

// stride sets up and races one stride and returns its states.
func (r Race[S]) stride(first int) []S {
	states := make([]S, stride)
	for i := range states {
		states[i] = r.Setup()
	}
	start := barrier{parties: int64(len(r.Actors))}
	var running sync.WaitGroup
	for a, act := range r.Actors {
		running.Go(func() {
			for i, state := range states {
				start.wait()
				if run := first + i; run%len(r.Actors) == a {
					stagger(run / len(r.Actors))
				}
				act(state)
			}
		})
	}
	running.Wait()
	return states
}

// barrier lets all parties go when the last has come. It can be used again at
// once.
type barrier struct {
	parties int64
	arrived atomic.Int64
}

// spinsBeforeYield bounds the spinning for those who share a processor with the
// one they wait for.
const spinsBeforeYield = 256

func (b *barrier) wait() {
	n := b.arrived.Add(1)
	all := (n + b.parties - 1) / b.parties * b.parties
	spinUntil(func() bool { return b.arrived.Load() >= all })
}

// spinUntil spins, and now and then yields, until cond is true.
func spinUntil(cond func() bool) { spinOrYield(spinsBeforeYield, cond) }

func spinOrYield(each int, cond func() bool) {
	for spins := 1; !cond(); spins++ {
		if spins%each == 0 {
			runtime.Gosched()
		}
	}
}

// meeting brings a body that runs on a loop and an actor to the same point: both
// go on from it at the same time, on a processor each if there are two.
type meeting struct{ begun, over atomic.Bool }

// spinsBeforeMeeting is how long each side keeps its processor to itself, so that
// the other is picked up by another one. Were they to yield at once, they would
// take turns on one processor.
const spinsBeforeMeeting = 1 << 14

// attend is the body's side.
func (m *meeting) attend() {
	m.begun.Store(true)
	spinOrYield(spinsBeforeMeeting, m.over.Load)
}

// meet is the actor's side.
func (m *meeting) meet() {
	spinOrYield(spinsBeforeMeeting, m.begun.Load)
	m.over.Store(true)
}

// Staggering delays one side by a little, another little in each run, so that every
// order occurs and not only the one that the machine prefers: up to maxStagger
// steps of some nanoseconds, and every yieldEach-th run a yield, which is what makes
// a difference on one processor.
const (
	maxStagger = 2048
	yieldEach  = 16
)

// staggerStep is loaded to pass the time: the compiler keeps atomic loads.
var staggerStep atomic.Int64

// stagger is the delay of a run.
func stagger(run int) {
	if run%yieldEach == 0 {
		runtime.Gosched()
		return
	}
	for range run * 101 % maxStagger {
		staggerStep.Load()
	}
}
