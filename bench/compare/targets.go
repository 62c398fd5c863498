package compare

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"eventide/bench"
	"eventide/core"
)

// A Target is a limit that the project has set itself, and what was measured.
type Target struct {
	Name  string  `json:"name"`
	Ratio float64 `json:"ratio"`         // or a count, if the name says so
	Low   float64 `json:"low,omitempty"` // 95 % confidence interval of a ratio
	High  float64 `json:"high,omitempty"`
	Limit float64 `json:"limit"`
	Met   bool    `json:"met"`
}

func newTarget(name string, ratio, limit float64) Target {
	return Target{Name: name, Ratio: ratio, Limit: limit, Met: ratio <= limit}
}

// A limit is the most that a ratio may be.
type limit struct {
	workload, unit string
	most           float64
	remark         string
}

// limits are on ratios of core. A bounded core with all the rest of the contract
// has to keep within the same ones.
var limits = []limit{
	{"Execute/producers=1", "ns/task", 0.35, "of the channel"},
	{"Execute/producers=2", "ns/task", 0.6, "of the channel"},
	{"Execute/producers=4", "ns/task", 0.7, "of the channel"},
	{"Execute/producers=64", "ns/task", 1.0, "of the channel, goal 0.6"},
	{"ExecuteBusy/producers=1", "ns/task", 2.0, "of the channel"},
	{"ExecuteBusy/producers=4", "ns/task", 2.0, "of the channel"},
	{"RoundTrip", "p50 ns/trip", 2, "of an unbuffered channel's, parked"},
	{"ShutdownIdle", "p50 ns/stop", 20, "of an unbuffered channel's round trip"},
}

// loopLimits are on ratios of event loops, and of the executor where both serve.
var loopLimits = append([]limit{
	{"RoundTrip", "p50 ns/trip", 3, "of an unbuffered channel's, parked"},
	{"TimerLateness", "p50 ns/timer", 0.2, "of time.AfterFunc"},
	{"TimerLateness", "p99 ns/timer", 0.5, "of time.AfterFunc"},
}, loadLimits()...)

// loadLimits: at every load the median half, and the tail no worse.
func loadLimits() []limit {
	var all []limit
	for _, load := range bench.Loads {
		for _, producers := range bench.Producers {
			workload := fmt.Sprintf("SubmitLatency/load=%d/producers=%d", load, producers)
			all = append(all,
				limit{workload, "p50 ns/task", 0.5, "of the channel"},
				limit{workload, "p99 ns/task", 1, "of the channel"},
				limit{workload, "p99.9 ns/task", 1, "of the channel"})
		}
	}
	return all
}

// RatioTargets judges the rows that have a limit.
func RatioTargets(rows []Row) []Target {
	targets := judge(rows, limits, "core", "core-bounded")
	targets = append(targets, judge(rows, loopLimits, "loop")...)
	return append(targets, judge(rows, loadLimits(), "core")...)
}

func judge(rows []Row, limits []limit, impls ...string) []Target {
	var targets []Target
	for _, l := range limits {
		for _, r := range rows {
			if slices.Contains(impls, r.Impl) && r.Workload == l.workload && r.Unit == l.unit {
				t := newTarget(fmt.Sprintf("%s impl=%s %s, %s", r.Workload, r.Impl, r.Unit, l.remark), r.Ratio, l.most)
				t.Low, t.High = r.Low, r.High
				targets = append(targets, t)
			}
		}
	}
	return targets
}

// ShortTargets counts the quiet periods that were short (G10) and the timers that
// were early (G7).
func (r Results) ShortTargets() []Target {
	var targets []Target
	for _, s := range r {
		what := "short periods"
		switch {
		case !strings.HasPrefix(s.Impl, "core") && !strings.HasPrefix(s.Impl, "loop"):
			continue // a rival's
		case s.Workload == "TimerLateness":
			what = "early timers of " + s.Impl
		case !strings.HasPrefix(s.Workload, "QuietPeriod/"):
			continue
		}
		short := 0
		for _, slice := range s.slices {
			short += slice.Short
		}
		targets = append(targets, newTarget(what+" in "+s.Workload, float64(short), 0))
	}
	return targets
}

// AllocTargets counts allocations, which are exact and need no rounds.
func AllocTargets() ([]Target, error) {
	plain, err := bench.NewCore()
	if err != nil {
		return nil, err
	}
	defer plain.Close()
	execute, err := bench.ExecuteAllocs(plain)
	if err != nil {
		return nil, err
	}
	schedule, err := bench.ScheduleAllocs(plain.(core.EventExecutor))
	if err != nil {
		return nil, err
	}
	return []Target{
		newTarget("allocations per Execute of an existing func", execute, 0),
		newTarget("allocations per Schedule and Cancel", schedule, 1),
	}, nil
}

// curveKey matches a workload of a curve: the curve, and n.
var curveKey = regexp.MustCompile(`^(ScheduleCancel/[^/]*|Shutdown)/(?:tasks|hooks|timers|registrations)=(\d+)$`)

// Growths fits the curves of core's timers and, for executors, event loops and pools, those of
// shutdowns.
func Growths(rows []Row) []Growth {
	points := map[string][]point{}
	var names []string
	for _, r := range rows {
		curve, n := curveOf(r)
		if n == 0 {
			continue
		}
		if points[curve] == nil {
			names = append(names, curve)
		}
		points[curve] = append(points[curve], point{n, r.Median})
	}
	var growths []Growth
	for _, name := range names {
		if len(points[name]) > 1 {
			growths = append(growths, grow(name, points[name]))
		}
	}
	return growths
}

// curveOf returns the name of the curve to which a row belongs, and its n; or 0, if there is none.
func curveOf(r Row) (curve string, n int) {
	m := curveKey.FindStringSubmatch(r.Workload)
	if m == nil || !slices.Contains([]string{"core", "loop", "pool"}, r.Impl) {
		return "", 0
	}
	n, _ = strconv.Atoi(m[2]) // 0: more digits than an int has
	if m[1] != shutdownCurve {
		return m[1], n
	}
	if !strings.HasPrefix(r.Unit, "p50") {
		return "", 0
	}
	curve, _, _ = strings.Cut(r.Workload, "=")
	return curve + " on " + r.Impl, n
}

const shutdownCurve = "Shutdown"

// mostExponent is the greatest power of n with which a shutdown may grow. A linear one has a little
// more than 1, because a million timers do not fit into the caches; a quadratic one has 1.6 or more,
// because the smallest shutdowns have a constant part.
const mostExponent = 1.4

// GrowthTargets: what is O(log n) grows no more than log n does, and a shutdown is linear.
func GrowthTargets(growths []Growth) []Target {
	var targets []Target
	for _, g := range growths {
		if strings.HasPrefix(g.Workload, shutdownCurve) {
			name := fmt.Sprintf("%s from %d to %d, as a power of n", g.Workload, g.Least, g.Most)
			targets = append(targets, newTarget(name, g.Exponent, mostExponent))
			continue
		}
		name := fmt.Sprintf("%s, time at %d / time at %d: no more than log n grows", g.Workload, g.Most, g.Least)
		targets = append(targets, newTarget(name, g.Times, math.Log(float64(g.Most))/math.Log(float64(g.Least))))
	}
	return targets
}
