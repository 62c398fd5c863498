package release

import (
	"regexp"
	"strings"

	"eventide/bench"
)

// A Benchmark is one that the gate runs on both sides.
type Benchmark struct {
	Name      string // as bench.Case.Name gives it
	Benchtime string // of a round of the time tier
	ExactOps  int    // the lesser number of operations of a slope; 0: not in the exact tier
}

// ours are the implementations of this project. The gate does not judge rivals.
var ours = regexp.MustCompile(`/impl=(core|core-bounded|loop)(/|$)`)

// leftOut are cases that the gate skips. The cases of Shutdown with 0 or 100 are
// represented by those with 10,000. The preparation of SubmitLatency and SubmitStart alone
// would take longer than a round, and their times depend on the load generator as much as
// on the loop. Those of ExecuteBusy depend on which process the kernel runs next.
var leftOut = regexp.MustCompile(`^(SubmitLatency|SubmitStart|ExecuteBusy)/|^Shutdown/.*=(0|100)$`)

// plans give the benchmarks of a workload their lengths: about a millisecond for each slice,
// and for percentiles as many operations as they need.
var plans = []struct {
	workload  *regexp.Regexp
	benchtime string
	exactOps  int
}{
	{regexp.MustCompile(`^Execute/.*producers=1$`), "30000x", 20_000},
	{regexp.MustCompile(`^Execute/`), "30000x", 0}, // how many producers meet differs each time
	{regexp.MustCompile(`^ExecuteInLoop/`), "60000x", 13_000},
	{regexp.MustCompile(`^ExecuteLazy/`), "30000x", 20_000},
	{regexp.MustCompile(`^RoundTrip/`), "200x", 200},
	{regexp.MustCompile(`^RoundTripBusy/`), "3000x", 1000},
	{regexp.MustCompile(`^ScheduleCancel/`), "6400x", 3200},
	{regexp.MustCompile(`^ShutdownIdle/`), "60x", 100},
	{regexp.MustCompile(`^QuietPeriod/`), "2x", 0},
	{regexp.MustCompile(`^Submit/`), "6000x", 3000},
	{regexp.MustCompile(`^Stats/`), "30000x", 20_000},
	{regexp.MustCompile(`^Readiness/`), "200x", 200},
	{regexp.MustCompile(`^TimerLateness/`), "100x", 0},
	{regexp.MustCompile(`^Shutdown/`), "2x", 4},
}

// Benchmarks returns the benchmarks that the gate compares: every workload of package
// bench that has a plan, in the project's own implementations.
func Benchmarks() []Benchmark {
	var all []Benchmark
	for _, g := range bench.Groups([]int{100, 10_000}) {
		for _, c := range g {
			if b, ok := planned(c.Name()); ok {
				all = append(all, b)
			}
		}
	}
	return all
}

func planned(name string) (Benchmark, bool) {
	if !ours.MatchString(name) || leftOut.MatchString(name) {
		return Benchmark{}, false
	}
	workload := strings.Replace(ours.ReplaceAllString(name, "$2"), "//", "/", 1)
	if !strings.Contains(workload, "/") {
		workload += "/"
	}
	for _, p := range plans {
		if p.workload.MatchString(workload) {
			return Benchmark{Name: name, Benchtime: p.benchtime, ExactOps: p.exactOps}, true
		}
	}
	return Benchmark{}, false
}
