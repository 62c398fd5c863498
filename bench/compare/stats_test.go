package compare

import (
	"fmt"
	"maps"
	"math"
	"testing"
	"time"

	"eventide/bench"
)

// constant returns a series whose rounds take the given times per operation.
func constant(impl string, nanos ...int) series {
	s := series{Case: bench.Case{Workload: "W", Impl: impl, Against: "channel", Unit: "op"}}
	for _, ns := range nanos {
		s.slices = append(s.slices, bench.Slice{Ops: 1, Elapsed: time.Duration(ns)})
	}
	return s
}

// TestRatioIsTakenRoundByRound: the machine is slow in every other round, and the
// ratio is 1/2 all the same. The ratio of the medians would be 1/4.
func TestRatioIsTakenRoundByRound(t *testing.T) {
	r := Results{
		constant("core", 10, 40, 10, 40, 10, 40, 10, 40, 10, 40, 10),
		constant("channel", 20, 80, 20, 80, 20, 80, 20, 80, 20, 80, 20),
	}
	row := r.Rows()[0]
	if row.Ratio != 0.5 || row.Low != 0.5 || row.High != 0.5 {
		t.Errorf("got %v in %v..%v, want 0.5 in 0.5..0.5", row.Ratio, row.Low, row.High)
	}
	if row.Median != 10 {
		t.Errorf("got median %v, want 10", row.Median)
	}
}

// TestInterval: of 10 values the 2nd and the 9th enclose the median with a
// probability of 1 - 2*(C(10,0)+C(10,1))/2^10 = 97.9 %, the 3rd and the 8th with
// only 89.1 %.
func TestInterval(t *testing.T) {
	r := Results{
		constant("core", 7, 3, 1, 9, 5, 2, 10, 4, 8, 6),
		constant("channel", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
	}
	row := r.Rows()[0]
	if row.Ratio != 5.5 || row.Low != 2 || row.High != 9 {
		t.Errorf("got %v in %v..%v, want 5.5 in 2..9", row.Ratio, row.Low, row.High)
	}
}

func TestGrow(t *testing.T) {
	curve := func(f func(n float64) float64) Growth {
		var points []point
		for _, n := range bench.TimerCounts {
			points = append(points, point{n, f(float64(n))})
		}
		return grow("W", points)
	}
	for _, c := range []struct {
		name                  string
		cost                  func(n float64) float64
		times, slope, r2, exp float64
		met                   bool
	}{
		{"flat", func(float64) float64 { return 7 }, 1, 0, 1, 0, true},
		{"1 + log n", func(n float64) float64 { return 1 + math.Log2(n) }, 2.738352, 1, 1, 0.108069, true},
		{"5 + 2 log n", func(n float64) float64 { return 5 + 2*math.Log2(n) }, 2.453185, 2, 1, 0.096499, true},
		{"square root of n", math.Sqrt, 100, 68.171403, 0.747548, 0.5, false},
		{"n", func(n float64) float64 { return n }, 10_000, 63_180.1755, 0.577176, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := curve(c.cost)
			near := func(what string, got, want float64) {
				t.Helper()
				if math.Abs(got-want) > 1e-6*max(1, math.Abs(want)) {
					t.Errorf("%s: got %v, want %v", what, got, want)
				}
			}
			near("times", g.Times, c.times)
			near("slope", g.Slope, c.slope)
			near("R²", g.R2, c.r2)
			near("exponent", g.Exponent, c.exp)
			if target := GrowthTargets([]Growth{g})[0]; target.Met != c.met {
				t.Errorf("got met %v, want %v: %+v", target.Met, c.met, target)
			}
		})
	}
}

// TestShutdownsAreLinear: a shutdown that takes time quadratic in the number of hooks misses its
// target. The quadratic one was measured.
func TestShutdownsAreLinear(t *testing.T) {
	rows := []Row{{Workload: "Shutdown/tasks=0", Impl: "core", Unit: "p50 ns/stop", Median: 1}}
	add := func(what, impl string, medians ...float64) {
		for i, m := range medians {
			workload := fmt.Sprintf("Shutdown/%s=%d", what, bench.TimerCounts[i])
			rows = append(rows,
				Row{Workload: workload, Impl: impl, Unit: "p50 ns/stop", Median: m},
				Row{Workload: workload, Impl: impl, Unit: "p99 ns/stop", Median: m * m})
		}
	}
	add("hooks", "core", 8_851, 140_415, 6_635_519, 519_831_551)
	add("hooks", "loop", 9_466, 60_194, 604_260, 16_716_337)
	add("tasks", "channel", 1, 1e6, 1e12)
	met := map[string]bool{}
	for _, target := range GrowthTargets(Growths(rows)) {
		met[target.Name] = target.Met
	}
	want := map[string]bool{
		"Shutdown/hooks on core from 100 to 100000, as a power of n": false,
		"Shutdown/hooks on loop from 100 to 100000, as a power of n": true,
	}
	if !maps.Equal(met, want) {
		t.Errorf("got %v, want %v", met, want)
	}
}
