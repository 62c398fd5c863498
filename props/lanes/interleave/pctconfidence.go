package interleave

import (
	"maps"
	"math"
	"slices"
	"strings"

	"eventide/props/interleave/inprocess"
	"eventide/props/lane"
)

// PCTs has, by depth and by scenario, a sum from which follows the chance that the
// schedules of PCT would have found a bug of that depth: the sum of -ln(1-p) over the
// schedules, in units of 1e-12, where p is the chance that the theorem grants to one
// schedule (Burckhardt et al., 2010). The sums are integers, so that shards add up to
// exactly the sum of one run. Generated programs are left out, because each is a
// different program.
type PCTs map[int]map[string]int64

const pctUnit = 1e-12

// chancer knows the chance that the theorem grants to its last schedule, see
// inprocess.Strategy.
type chancer interface {
	Chance(goroutines int) (depth int, chance float64)
}

// add enters the last schedule of the strategy.
func (p PCTs) add(sc Scenario, st chancer, r *inprocess.Result) {
	if isGenerated(sc) {
		return
	}
	n := r.Goroutines
	if sc.Time != inprocess.Idle {
		n++ // the clock has a priority too
	}
	depth, chance := st.Chance(n)
	if depth == 0 {
		return
	}
	if p[depth] == nil {
		p[depth] = make(map[string]int64)
	}
	p[depth][sc.Name] += int64(math.Round(-math.Log1p(-chance) / pctUnit))
}

func isGenerated(sc Scenario) bool { return strings.HasPrefix(sc.Name, "generated ") }

func (p PCTs) merge(q PCTs) {
	for depth, of := range q {
		if p[depth] == nil {
			p[depth] = make(map[string]int64)
		}
		addCounts(p[depth], of)
	}
}

func (p PCTs) confidence() []lane.PCTConfidence {
	all := make([]lane.PCTConfidence, 0, len(p))
	for _, depth := range slices.Sorted(maps.Keys(p)) {
		sums := slices.Sorted(maps.Values(p[depth]))
		of := func(i int) float64 { return -math.Expm1(-float64(sums[i]) * pctUnit) }
		last := len(sums) - 1
		all = append(all, lane.PCTConfidence{Depth: depth, Scenarios: len(sums), Least: of(0), Median: of(len(sums) / 2), Most: of(last)})
	}
	return all
}
