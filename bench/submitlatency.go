package bench

import (
	"errors"
	"fmt"
	"time"
)

// Loads are the shares of the peak at which latencies are measured, in percent.
var Loads = []int{10, 50, 90}

const (
	// steadyTime is how long a slice of steady load lasts at least. Stalls of half a
	// millisecond come some hundred times a second: a shorter slice has its p99 from a
	// few of them.
	steadyTime = time.Second
	// warmShare is the number of measured tasks for each task of the warm-up.
	warmShare = 5
	// startTime is how much of a load SubmitStart measures.
	startTime = 5 * time.Millisecond
	// tailOps gives a percentile 99.9 that is not simply the maximum.
	tailOps = 4000
)

// latencyCases measure how long a submitted task waits for its turn in a steady load, at
// a share of the rate that a channel, with the same producers and tasks, reaches at full
// speed. The rate is the same for all: at a share of its own peak the fastest
// implementation would get the most tasks, and so look slower.
func latencyCases(load, producers int) Group {
	return loadCases("SubmitLatency", load, producers, steadyTime, steadySlice)
}

// startCases measure the first milliseconds of the same load on a new executor, which
// starts its goroutine, grows its queue and has threads to wake. They are measured apart
// from the steady load, because they would be its tail.
func startCases(load, producers int) Group {
	return loadCases("SubmitStart", load, producers, 0, startSlice)
}

func loadCases(what string, load, producers int, least time.Duration, run func(*loadRunner, int) (Slice, error)) Group {
	var g Group
	for _, x := range withLoops() {
		g = append(g, Case{
			Workload: fmt.Sprintf("%s/load=%d/producers=%d", what, load, producers),
			Impl:     x.impl, Against: "channel", Unit: "task", MinOps: tailOps, MinTime: least, Tail: true,
			Open: func() (Runner, error) {
				return &loadRunner{open: x.open, load: load, producers: producers, run: run}, nil
			},
		})
	}
	return g
}

// loadRunner keeps the peak of a channel, measured before its first slice.
type loadRunner struct {
	open            func() (Executor, error)
	load, producers int
	run             func(*loadRunner, int) (Slice, error)

	peak   float64  // tasks per second; 0: not measured yet
	steady Executor // of steadySlice; nil: not opened yet
}

func (r *loadRunner) Run(n int) (Slice, error) {
	if r.peak == 0 {
		if err := r.measurePeak(); err != nil {
			return Slice{}, err
		}
	}
	return r.run(r, n)
}

func (r *loadRunner) Close() error {
	if r.steady == nil {
		return nil
	}
	return r.steady.Close()
}

// rate is the load that the producers offer together, in tasks per second.
func (r *loadRunner) rate() float64 { return r.peak * float64(r.load) / 100 }

// steadySlice measures n tasks after a warm-up, on one executor for all slices.
func steadySlice(r *loadRunner, n int) (Slice, error) {
	if r.steady == nil {
		x, err := r.open()
		if err != nil {
			return Slice{}, err
		}
		r.steady = x
	}
	return Offer(r.steady, Load{Producers: r.producers, Rate: r.rate(), Warm: n / warmShare, Tasks: n})
}

// startSlice measures about n tasks, those of the first startTime of each executor.
func startSlice(r *loadRunner, n int) (Slice, error) {
	perStart := max(1, int(r.rate()*startTime.Seconds()))
	all := newLatencies()
	var elapsed time.Duration
	for all.count() < n {
		s, err := r.start(min(perStart, n))
		if err != nil {
			return Slice{}, err
		}
		elapsed += s.Elapsed
		if dropped := all.histogram.Merge(s.Latency); dropped > 0 {
			return Slice{}, fmt.Errorf("bench: %d of %d waits do not fit the histogram", dropped, s.Ops)
		}
	}
	s := all.slice(0)
	s.Elapsed = elapsed
	return s, nil
}

// start measures the first tasks of an executor.
func (r *loadRunner) start(tasks int) (_ Slice, err error) {
	x, err := r.open()
	if err != nil {
		return Slice{}, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	return Offer(x, Load{Producers: r.producers, Rate: r.rate(), Tasks: tasks})
}

// The peak is measured with peakOps tasks, peakTries times: the fastest counts, because a
// disturbance would lower the load of all slices that follow.
const (
	peakOps   = 20_000
	peakTries = 5
)

func (r *loadRunner) measurePeak() error {
	channel, err := NewChannel()
	if err != nil {
		return err
	}
	defer channel.Close()
	for range peakTries {
		s, err := Offer(channel, Load{Producers: r.producers, Rate: Unreachable, Tasks: peakOps})
		if err != nil {
			return err
		}
		r.peak = max(r.peak, 1e9/s.NsPerOp())
	}
	return nil
}
