package gate

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"eventide/bench/gate/measure"
	"eventide/bench/gate/stats"
)

// TestAffordable: what is left fits in the time that is left, the slowest benchmarks are left out, and each says why.
func TestAffordable(t *testing.T) {
	now := time.Now()
	g := gate{Options: Default(), report: &Report{}}
	g.now = func() time.Time { return now }
	all := func() (all []*series) {
		for _, took := range []time.Duration{3, 1, 4, 2} {
			all = append(all, &series{target: &target{pkg: measure.Package{ImportPath: "p"}}, benchmark: benchmark{name: took.String()}, leg: took * time.Second})
		}
		return all
	}
	require.Len(t, g.affordable(all(), 0, now.Add(time.Hour)), 4)
	require.Empty(t, g.report.Findings)

	const n, each = 15, 2 * time.Second // rounds that make a suspect although some are disturbed, of two legs
	kept := g.affordable(all(), 0, now.Add(n*3*each))
	require.Len(t, kept, 2)
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second}, []time.Duration{kept[0].leg, kept[1].leg})
	require.Len(t, g.report.Findings, 2)
	require.Equal(t, NotRun, g.report.Findings[0].Verdict)
	require.Equal(t, measure.Time, g.report.Findings[0].Figure)
	require.Equal(t, []string{"ns/op: the budget of 9m0s sufficed for the 2 quickest of 4 benchmarks (2 benchmarks)"}, g.report.missing())

	require.Len(t, g.affordable(all(), n-1, now.Add(3*each)), 2, "one round is left")
	require.Empty(t, g.affordable(all(), 0, now.Add(-time.Second)))
}

// TestReopened: of the suspects that are open, those that may be worse come first, and one of them although no time is
// left. A package is linked once. A benchmark that missed a stage has no later one.
func TestReopened(t *testing.T) {
	now := time.Now()
	g := gate{Options: Default(), began: now}
	g.now = func() time.Time { return now }
	of := &target{pkg: measure.Package{ImportPath: "p"}, linking: 10 * time.Second}
	var all []*series
	var found []Finding
	for _, f := range []Finding{
		{Benchmark: "Pass", P: 0.5}, {Benchmark: "Better", P: 1e-6, open: true, leaning: -1}, {Benchmark: "Likely", P: 0.05, open: true, leaning: 1},
		{Benchmark: "Likeliest", P: 0.001, open: true, leaning: 1}, {Benchmark: "Found", P: 1e-9, leaning: 1},
	} {
		f.Package = "p"
		found = append(found, f)
		all = append(all, &series{target: of, benchmark: benchmark{name: f.Benchmark}, leg: time.Second})
	}
	again := func(left time.Duration) (names []string) {
		g.Budget = left
		for _, s := range g.reopened(all, found, 1) {
			names = append(names, s.benchmark.name)
		}
		return names
	}
	each := time.Duration(3*g.fewestLater(3)) * time.Second
	require.Equal(t, []string{"Likeliest"}, again(0))
	require.Equal(t, []string{"Likeliest", "Likely"}, again(of.linking+2*each))
	require.Equal(t, []string{"Likeliest", "Likely", "Better"}, again(of.linking+3*each))
	require.Empty(t, g.reopened(all, found, 2), "none had the first of the later stages")
	found[2].open, found[3].open = false, false
	require.Empty(t, again(each), "there is no time to link")
}

// TestStagesOf: a benchmark that is no suspect would have had as many stages as fit in the time that is left.
func TestStagesOf(t *testing.T) {
	now := time.Now()
	g := gate{Options: Default(), began: now}
	g.now = func() time.Time { return now }
	s := &series{target: &target{linking: 10 * time.Second}, leg: time.Second}
	each := s.cost(g.Rounds)
	require.Equal(t, 10*time.Second+20*3*time.Second, each)
	for _, c := range []struct {
		had, left, want int
	}{{0, 0, 0}, {0, 1, 1}, {0, 2, 2}, {0, 9, 3}, {1, 1, 2}, {3, 9, 3}} {
		s.stage, g.Budget = c.had, time.Duration(c.left)*each
		require.Equal(t, c.want, g.stagesOf(s), "%+v", c)
	}
}

// TestSight: what a figure could see depends on the later stages that it had or could have had, and on the suspects.
func TestSight(t *testing.T) {
	now := time.Now()
	g := gate{Options: Default(), began: now}
	g.now = func() time.Time { return now }
	g.Least = 0.001 // so that the rank test decides
	seen := func(budget time.Duration, suspects int) Finding {
		g.Budget = budget
		all := []*series{{target: &target{}, benchmark: benchmark{name: "steady"}, leg: time.Second, rounds: map[string]*rounds{}}}
		steady := &rounds{benchmark: "steady", figure: measure.Time}
		for i := range 20 {
			steady.base, steady.head = append(steady.base, 100), append(steady.head, 100*(1+0.03*math.Sin(float64(i*i))))
		}
		all[0].rounds[measure.Time] = steady
		for k := range suspects {
			slow := &rounds{benchmark: strconv.Itoa(k), figure: measure.Time}
			stretch(slow, 20, 1.3, 1)
			stretch(slow, 20, 1.3, 1)
			all = append(all, &series{target: &target{}, benchmark: benchmark{name: slow.benchmark}, stage: 1, rounds: map[string]*rounds{measure.Time: slow}})
		}
		found, err := g.judgeSeries(all)
		require.NoError(t, err)
		for _, f := range g.sight(all, found) {
			if f.Benchmark == "steady" {
				return f
			}
		}
		return Finding{}
	}
	none, one, three := seen(0, 0), seen(time.Minute, 0), seen(time.Hour, 0)
	require.Equal(t, Inconclusive, none.Verdict, "no time was left for a later stage: %+v", none)
	require.Negative(t, none.Visible)
	require.Equal(t, Pass, one.Verdict, "%+v", one)
	require.Greater(t, one.Visible, three.Visible)
	require.Greater(t, seen(time.Minute, 30).Visible, one.Visible)
}

// TestLaterStages: what was measured before the second stage is the first, however many stages follow.
func TestLaterStages(t *testing.T) {
	r := &rounds{base: make([]float64, 3), head: make([]float64, 3)}
	s := &series{rounds: map[string]*rounds{measure.Time: r}}
	for stage := 1; stage < stages; stage++ {
		s.begin(stage, layouts{})
		require.Equal(t, 3, r.later)
		r.base, r.head = append(r.base, 1), append(r.head, 1)
		require.Len(t, r.first().base, 3)
		require.Len(t, r.fresh().base, stage)
	}
}

// TestNoise: pairs of a quiet machine, of which each differs by a percent, are no reason to leave out
// times. Those of the recorded busy machine are one for each stretch of it.
func TestNoise(t *testing.T) {
	g := gate{Options: Default()}
	var quiet []float64
	random := rand.New(rand.NewPCG(3, 4))
	for range 12 {
		quiet = append(quiet, 0.01*random.NormFloat64())
	}
	require.Empty(t, g.noise(quiet))
	values := recorded(t)
	const stretch = 24
	tooNoisy := 0
	for ; len(values) >= stretch; values = values[stretch:] {
		var sides [2][]float64
		for i, v := range values[:stretch] {
			sides[i%2] = append(sides[i%2], v)
		}
		if why := g.noise(stats.Pair(sides[0], sides[1])); why != "" {
			require.Contains(t, why, "with twice 20 rounds, work that is always the same would have to be +")
			require.Contains(t, why, "want +10.0 % or less")
			tooNoisy++
		}
	}
	t.Logf("too noisy: %d of %d", tooNoisy, 1500/stretch)
	require.Greater(t, 2*tooNoisy, 1500/stretch)
}
