package bench

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// Loads are the shares of the peak at which the latency is measured, in percent.
var Loads = []int{10, 50, 90}

// loadOps gives a percentile 99.9 that is not simply the maximum.
const loadOps = 4000

// loadCases measure how long a submitted task waits for its turn, at a share of the
// rate that a channel, with the same producers and tasks, reaches at full speed. The
// rate is the same for all: at a share of its own peak whoever is faster would be
// given more to do, and be the slower for it.
func loadCases(load, producers int) Group {
	var g Group
	for _, x := range withLoops() {
		g = append(g, Case{
			Workload: fmt.Sprintf("SubmitLatency/load=%d/producers=%d", load, producers),
			Impl:     x.impl, Against: "channel", Unit: "task", MinOps: loadOps, Tail: true,
			Open: func() (Runner, error) {
				ex, err := x.open()
				if err != nil {
					return nil, err
				}
				return &loadRunner{Executor: ex, load: load, producers: producers}, nil
			},
		})
	}
	return g
}

// loadRunner keeps the peak of a channel, measured before its first slice.
type loadRunner struct {
	Executor
	load, producers int
	peak            float64 // tasks per second
}

// peakOps is how many tasks the peak is measured with, and peakTries how often: the
// fastest counts, or a disturbance would lower the load of all that follows.
const (
	peakOps   = 20_000
	peakTries = 5
)

func (r *loadRunner) Run(n int) (Slice, error) {
	if r.peak == 0 {
		if err := r.measurePeak(); err != nil {
			return Slice{}, err
		}
	}
	return Offer(r.Executor, r.producers, n, r.peak*float64(r.load)/100)
}

func (r *loadRunner) measurePeak() error {
	channel, err := NewChannel()
	if err != nil {
		return err
	}
	defer channel.Close()
	for range peakTries {
		s, err := Offer(channel, r.producers, peakOps, 0)
		if err != nil {
			return err
		}
		r.peak = max(r.peak, 1e9/s.NsPerOp())
	}
	return nil
}

// lead is how long the producers have to come up before the first task is due.
const lead = 200 * time.Microsecond

// Offer has producers submit n tasks at a rate per second that they share evenly, or
// with 0 as fast as they can. The slice has each task's wait in Latency; its Elapsed
// ends when the last task begins.
//
// The load is open: a task is due at its time whatever became of those before it,
// and its latency counts from then. To count from the call of Execute instead would
// leave out the waiting of all the tasks that a stall keeps from being submitted
// (coordinated omission).
func Offer(x Executor, producers, n int, rate float64) (Slice, error) {
	share := max(1, n/producers)
	all := make([]*producer, producers)
	errs := make(chan error, producers)
	runtime.GC()
	began := time.Now()
	if rate > 0 {
		began = began.Add(lead)
	}
	for i := range all {
		all[i] = newProducer(x, share, began)
		if rate > 0 {
			all[i].every = float64(producers) * 1e9 / rate
			all[i].offset = float64(i) * 1e9 / rate
		}
	}
	for _, p := range all {
		go func() { errs <- p.produce() }()
	}
	for range all {
		if err := <-errs; err != nil {
			return Slice{}, err
		}
	}
	end := int64(0)
	samples := newLatencies()
	for _, p := range all {
		<-p.done
		end = max(end, slices.Max(p.begun))
		for i, began := range p.begun {
			if err := samples.add(time.Duration(max(0, began-p.due[i]))); err != nil {
				return Slice{}, err
			}
		}
	}
	s := samples.slice(0)
	s.Elapsed = time.Duration(end)
	return s, nil
}

// A producer submits its share of tasks. They begin in order (G4), so one func that
// counts serves for all, and submitting does not allocate.
type producer struct {
	x             Executor
	base          time.Time
	offset, every float64 // nanoseconds from base to the first task, and between two
	due, begun    []int64 // nanoseconds from base
	next          int     // of begun; touched by tasks alone
	done          chan struct{}
}

func newProducer(x Executor, n int, base time.Time) *producer {
	return &producer{x: x, base: base, due: make([]int64, n), begun: make([]int64, n), done: make(chan struct{})}
}

func (p *producer) produce() error {
	task := func() {
		p.begun[p.next] = int64(time.Since(p.base))
		if p.next++; p.next == len(p.begun) {
			close(p.done)
		}
	}
	for i := range p.due {
		p.due[i] = p.await(int64(p.offset + float64(i)*p.every))
		if err := p.x.Execute(task); err != nil {
			return err
		}
	}
	return nil
}

// await returns when it is time, and what time the task is due: now, if the rate is
// not given.
//
// It yields until then. It does not sleep: the next task is due in less than some
// microseconds, and a timer is late by more than what is measured. Nor does it spin
// without yielding: where goroutines share processors, a loop that the producer has
// woken is queued behind the producer itself, and what would be measured is how long
// the Go scheduler takes to move it to another processor.
func (p *producer) await(due int64) int64 {
	now := int64(time.Since(p.base))
	if p.every == 0 {
		return now
	}
	for now < due {
		runtime.Gosched()
		now = int64(time.Since(p.base))
	}
	return due
}
