package bench

import (
	"runtime"
	"time"
)

// A Load is what producers offer to an executor.
type Load struct {
	Producers int
	Rate      float64 // tasks per second, shared evenly; 0: as fast as the producers can
	Warm      int     // tasks that are submitted first and not measured
	Tasks     int     // tasks that are measured
}

// Unreachable is a rate at which every task is late: the producers submit as fast as producers can that
// have a rate, and so read the clock for each task. The peak of a load without a rate is about twice as
// high here, and half of it is all that the producers of a steady load can offer.
const Unreachable = 1e12

// lead is the time that the producers have to start before the first task is due.
const lead = 200 * time.Microsecond

// Offer has producers submit the load. It returns when the last task has begun.
//
// The slice counts the measured tasks. Its Elapsed reaches from the time at which the
// first of them is due until the last begins. With a Rate, Latency has the wait of each:
// the load is open, which means that a task is due at its time even if earlier tasks are
// late, and that its wait counts from then. To count from the call of Execute instead
// would leave out the waits of all tasks that a stall keeps from being submitted
// (coordinated omission). Without a Rate tasks have no due times, and Latency is nil.
func Offer(x Executor, l Load) (Slice, error) {
	all := make([]*producer, l.Producers)
	for i := range all {
		all[i] = newProducer(x, l, i)
	}
	runtime.GC()
	base := time.Now()
	if l.Rate > 0 {
		base = base.Add(lead)
	}
	errs := make(chan error, l.Producers)
	for _, p := range all {
		go func() { errs <- p.produce(base) }()
	}
	for range all {
		if err := <-errs; err != nil {
			return Slice{}, err
		}
	}
	return collect(all)
}

// collect waits for the last tasks, and makes a slice of what they measured.
func collect(all []*producer) (Slice, error) {
	s := Slice{}
	began, end := all[0].due(all[0].warm), int64(0)
	samples := newLatencies()
	for _, p := range all {
		<-p.done
		end = max(end, p.end)
		s.Ops += p.total - p.warm
		for _, wait := range p.waits {
			if err := samples.add(time.Duration(max(0, wait))); err != nil {
				return Slice{}, err
			}
		}
	}
	s.Elapsed = time.Duration(end - began)
	if samples.count() > 0 {
		s.Latency = samples.histogram
	}
	return s, nil
}

// A producer submits its share of tasks. They begin in order (G4), so one func that
// counts serves for all, and submitting does not allocate.
type producer struct {
	x             Executor
	base          time.Time
	offset, every float64 // nanoseconds from base to the first task, and between two; 0: no rate
	warm, total   int     // tasks: not measured, and all
	done          chan struct{}

	// Written by tasks alone, and read when done is closed.
	next  int     // number of the next task
	end   int64   // when the last began, in nanoseconds from base
	waits []int64 // of the measured tasks, if there is a rate
}

// newProducer returns producer i of the load. It writes to every page of waits: a page
// fault in the middle of the load, at which the kernel clears up to 2 MB, would be
// measured as a stall of the executor.
func newProducer(x Executor, l Load, i int) *producer {
	p := &producer{x: x, warm: l.Warm / l.Producers, done: make(chan struct{})}
	p.total = p.warm + max(1, l.Tasks/l.Producers)
	if l.Rate > 0 {
		p.every = float64(l.Producers) * 1e9 / l.Rate
		p.offset = float64(i) * 1e9 / l.Rate
		p.waits = make([]int64, p.total-p.warm)
		clear(p.waits)
	}
	return p
}

func (p *producer) produce(base time.Time) error {
	p.base = base
	task := p.measure // one func for all calls
	for i := range p.total {
		p.await(p.due(i))
		if err := p.x.Execute(task); err != nil {
			return err
		}
	}
	return nil
}

// measure is the task.
func (p *producer) measure() {
	now := int64(time.Since(p.base))
	if i := p.next - p.warm; i >= 0 && p.waits != nil {
		p.waits[i] = now - p.due(p.next)
	}
	if p.next++; p.next == p.total {
		p.end = now
		close(p.done)
	}
}

// due returns the time of task i, in nanoseconds from base; without a rate it is 0.
func (p *producer) due(i int) int64 { return int64(p.offset + float64(i)*p.every) }

// await returns at the time due.
//
// It yields until then. It does not sleep: the next task is due in less than some
// microseconds, and a timer is late by more than what is measured. Nor does it spin
// without yielding: where goroutines share processors, a loop that the producer has
// woken is queued behind the producer itself, and the result would be the time that the
// Go scheduler takes to move the loop to another processor.
func (p *producer) await(due int64) {
	if p.every == 0 {
		return
	}
	for int64(time.Since(p.base)) < due {
		runtime.Gosched()
	}
}
