package bench

import (
	"regexp"
	"slices"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// A Group is a set of cases that are worth comparing, and are interleaved.
type Group []Case

// A Case is one workload on one implementation.
type Case struct {
	Workload string // without the implementation, such as "Execute/producers=1"
	Impl     string
	Unit     string // what an operation is: "task", "trip", ...

	// Against names the implementation of the same workload that the time is
	// divided by; empty: none.
	Against string

	// MinOps is the least number of operations of a slice whose percentiles
	// mean something.
	MinOps int
	// MinTime is the least time that such a slice lasts; 0: any.
	MinTime time.Duration
	// Tail: p99.9 and the maximum matter too.
	Tail bool

	// Open prepares what Run needs. It is not measured.
	Open func() (Runner, error)
}

// A Runner measures, and may be run many times.
type Runner interface {
	// Run does about n operations and returns what they took: a slice.
	Run(n int) (Slice, error)

	// Close ends what Open began.
	Close() error
}

// A Slice is one measurement.
type Slice struct {
	Ops     int
	Elapsed time.Duration  // of all operations
	Latency *hdr.Histogram // of each, in nanoseconds; nil: not taken one by one
	Void    int            // operations that did not measure what they should, and do not count
	Short   int            // waits that ended early, which they must not
}

// NsPerOp is the mean.
func (s Slice) NsPerOp() float64 { return float64(s.Elapsed) / float64(s.Ops) }

// Quantile returns a percentile, such as 50 or 99, in nanoseconds. The slice must
// have a Latency.
func (s Slice) Quantile(percent float64) float64 {
	return float64(s.Latency.ValueAtQuantile(percent))
}

// Name is the benchmark's name without "Benchmark", the implementation being the
// first key: "Execute/impl=core/producers=1".
func (c Case) Name() string {
	return firstKey.ReplaceAllString(c.Workload, "${1}/impl="+c.Impl+"${2}")
}

var firstKey = regexp.MustCompile(`^([^/]*)(.*)$`)

// TimerCounts are the numbers of pending timers in the curves of ScheduleCancel, and of
// tasks, hooks, timers and registrations in the curves of Shutdown.
var TimerCounts = []int{100, 1_000, 10_000, 100_000, 1_000_000}

// The largest numbers of hooks and registrations in the curves, which a program may
// have.
const (
	mostHooks         = 100_000
	mostRegistrations = 1_000 // two descriptors each
)

// Producers are the numbers of producers in the curves.
var Producers = []int{1, 2, 4, 16, 64}

// Groups returns every workload; sizes are those of ScheduleCancel and Shutdown.
func Groups(sizes []int) []Group {
	var groups []Group
	for _, producers := range Producers {
		groups = append(groups, executeCases(producers))
	}
	for _, producers := range busyProducers {
		groups = append(groups, busyCases(producers))
	}
	for _, load := range Loads {
		for _, producers := range Producers {
			groups = append(groups, latencyCases(load, producers), startCases(load, producers))
		}
	}
	groups = append(groups,
		inLoopCases(), lazyCases(), roundTripCases(), busyTripCases(), readinessCases(), latenessCases(),
		scheduleCancelCases("loop", sizes), scheduleCancelCases("outside", sizes),
		shutdownCases(), quietPeriodCases(), submitCases(), statsCases(),
	)
	return slices.DeleteFunc(append(groups, curves(sizes)...), func(g Group) bool { return len(g) == 0 })
}

// curves returns the shutdowns by the numbers of tasks, timers, hooks and
// registrations.
func curves(sizes []int) []Group {
	groups := []Group{backlogCases(0)}
	for _, n := range sizes {
		groups = append(groups, backlogCases(n), pendingTimerCases(n))
		if n <= mostHooks {
			groups = append(groups, hookCases(n))
		}
		if n <= mostRegistrations {
			groups = append(groups, registrationCases(n))
		}
	}
	return groups
}

// openExecutor adapts the opener of an executor and a measurement on it.
func openExecutor(open func() (Executor, error), run func(Executor, int) (Slice, error)) func() (Runner, error) {
	return func() (Runner, error) {
		x, err := open()
		if err != nil {
			return nil, err
		}
		return onExecutor{x, run}, nil
	}
}

type onExecutor struct {
	Executor
	run func(Executor, int) (Slice, error)
}

func (o onExecutor) Run(n int) (Slice, error) { return o.run(o.Executor, n) }

// runFunc is a Runner that keeps nothing between slices.
type runFunc func(n int) (Slice, error)

func (run runFunc) Run(n int) (Slice, error) { return run(n) }
func (run runFunc) Close() error             { return nil }

func (run runFunc) open() (Runner, error) { return run, nil }

// latencies collects the samples of a slice.
type latencies struct {
	histogram *hdr.Histogram
	total     time.Duration
}

// Histograms reach from one nanosecond to an hour, with three digits.
func newLatencies() latencies {
	return latencies{histogram: hdr.New(1, int64(time.Hour), 3)}
}

func (l *latencies) add(d time.Duration) error {
	l.total += d
	return l.histogram.RecordValue(int64(d))
}

func (l *latencies) count() int { return int(l.histogram.TotalCount()) }

func (l *latencies) slice(void int) Slice {
	return Slice{Ops: l.count(), Elapsed: l.total, Latency: l.histogram, Void: void}
}
