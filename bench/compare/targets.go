package compare

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"eventide/bench"
	"eventide/core"
)

// A Target is a limit that the project has set itself, and what was measured.
type Target struct {
	Name  string  `json:"name"`
	Ratio float64 `json:"ratio"` // or a count, if the name says so
	Limit float64 `json:"limit"`
	Met   bool    `json:"met"`
}

func newTarget(name string, ratio, limit float64) Target {
	return Target{Name: name, Ratio: ratio, Limit: limit, Met: ratio <= limit}
}

// limits are on ratios of core. A bounded core with all the rest of the contract
// has to keep within the same ones.
var limits = []struct {
	workload, unit string
	limit          float64
	remark         string
}{
	{"Execute/producers=1", "ns/task", 0.6, "of the channel"},
	{"Execute/producers=2", "ns/task", 0.6, "of the channel"},
	{"Execute/producers=4", "ns/task", 0.7, "of the channel"},
	{"Execute/producers=64", "ns/task", 1.0, "of the channel, goal 0.6"},
	{"RoundTrip", "p50 ns/trip", 2, "of an unbuffered channel's, parked"},
	{"ShutdownIdle", "p50 ns/stop", 20, "of an unbuffered channel's round trip"},
}

// RatioTargets judges the rows that have a limit.
func RatioTargets(rows []Row) []Target {
	var targets []Target
	for _, l := range limits {
		for _, r := range rows {
			ours := r.Impl == "core" || r.Impl == "core-bounded"
			if ours && r.Workload == l.workload && r.Unit == l.unit {
				targets = append(targets, newTarget(fmt.Sprintf("%s impl=%s %s, %s", r.Workload, r.Impl, r.Unit, l.remark), r.Ratio, l.limit))
			}
		}
	}
	return targets
}

// ShortTargets counts the quiet periods that were short (G10).
func (r Results) ShortTargets() []Target {
	var targets []Target
	for _, s := range r {
		if s.Impl != "core" || !strings.HasPrefix(s.Workload, "QuietPeriod/") {
			continue
		}
		short := 0
		for _, slice := range s.slices {
			short += slice.Short
		}
		targets = append(targets, newTarget("short periods in "+s.Workload, float64(short), 0))
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

var timersKey = regexp.MustCompile(`^(ScheduleCancel/.*)/timers=(\d+)$`)

// Growths fits the curves of core's timers.
func Growths(rows []Row) []Growth {
	points := map[string][]point{}
	var names []string
	for _, r := range rows {
		m := timersKey.FindStringSubmatch(r.Workload)
		if m == nil || r.Impl != "core" {
			continue
		}
		n, err := strconv.Atoi(m[2])
		if err != nil {
			continue // more digits than an int has
		}
		if points[m[1]] == nil {
			names = append(names, m[1])
		}
		points[m[1]] = append(points[m[1]], point{n, r.Median})
	}
	var growths []Growth
	for _, name := range names {
		if len(points[name]) > 1 {
			growths = append(growths, grow(name, points[name]))
		}
	}
	return growths
}

// GrowthTargets: what is O(log n) grows no more than log n does.
func GrowthTargets(growths []Growth) []Target {
	var targets []Target
	for _, g := range growths {
		name := fmt.Sprintf("%s, time at %d / time at %d: no more than log n grows", g.Workload, g.Most, g.Least)
		targets = append(targets, newTarget(name, g.Times, math.Log(float64(g.Most))/math.Log(float64(g.Least))))
	}
	return targets
}
