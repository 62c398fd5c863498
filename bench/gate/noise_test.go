package gate

import (
	"math/rand/v2"
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
			all = append(all, &series{target: &target{pkg: measure.Package{ImportPath: "p"}}, benchmark: benchmark{name: took.String()}, took: took * time.Second})
		}
		return all
	}
	require.Len(t, g.affordable(all(), 0, now.Add(time.Hour)), 4)
	require.Empty(t, g.report.Findings)

	n := time.Duration(fewestRounds(4)) // of two benchmarks, with a figure beside the time
	kept := g.affordable(all(), 0, now.Add(n*3*time.Second))
	require.Len(t, kept, 2)
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second}, []time.Duration{kept[0].took, kept[1].took})
	require.Len(t, g.report.Findings, 2)
	require.Equal(t, NotRun, g.report.Findings[0].Verdict)
	require.Equal(t, measure.Time, g.report.Findings[0].Figure)
	require.Contains(t, g.report.Findings[0].Note, "of it and of the 3 quicker benchmarks")
	require.Contains(t, g.report.Findings[0].Note, "of the budget of 9m0s there is")

	require.Len(t, g.affordable(all(), int(n)-1, now.Add(3*time.Second)), 2, "one round is left")
	require.Empty(t, g.affordable(all(), 0, now.Add(-time.Second)))
}

// TestReopened: a suspect is measured again although no time is left, the others that are open as long as it lasts,
// the most likely to be worse first, and a package is linked once.
func TestReopened(t *testing.T) {
	now := time.Now()
	g := gate{Options: Default()}
	g.now = func() time.Time { return now }
	of := &target{pkg: measure.Package{ImportPath: "p"}, linking: 10 * time.Second}
	var all []*series
	var found []Finding
	for _, f := range []Finding{
		{Benchmark: "Done"}, {Benchmark: "Likely", P: 0.1, open: true}, {Benchmark: "Suspect", P: 0.001, open: true, suspect: true},
		{Benchmark: "Unlikely", P: 0.9, open: true},
	} {
		f.Package = "p"
		found = append(found, f)
		all = append(all, &series{target: of, benchmark: benchmark{name: f.Benchmark}, took: time.Second})
	}
	again := func(left time.Duration) (names []string) {
		for _, s := range g.reopened(all, found, now.Add(left)) {
			names = append(names, s.benchmark.name)
		}
		return names
	}
	each := time.Duration(g.Rounds) * time.Second
	require.Equal(t, []string{"Suspect"}, again(-time.Second))
	require.Equal(t, []string{"Suspect", "Likely"}, again(of.linking+2*each))
	require.Equal(t, []string{"Suspect", "Likely", "Unlikely"}, again(of.linking+3*each))
	found[2].open, found[2].suspect = false, false
	require.Empty(t, again(each), "there is no time to link")
}

// TestNoise: pairs of a quiet machine, of which each differs by a percent, are no reason to leave out times, even for a
// thousand figures. Those of the recorded busy machine are one for each stretch of it.
func TestNoise(t *testing.T) {
	g := gate{Options: Default()}
	var quiet []float64
	random := rand.New(rand.NewPCG(3, 4))
	for range 12 {
		quiet = append(quiet, 0.01*random.NormFloat64())
	}
	require.Empty(t, g.noise(quiet, 1000))
	values := recorded(t)
	const stretch = 24
	tooNoisy := 0
	for ; len(values) >= stretch; values = values[stretch:] {
		var sides [2][]float64
		for i, v := range values[:stretch] {
			sides[i%2] = append(sides[i%2], v)
		}
		if why := g.noise(stats.Pair(sides[0], sides[1]), 100); why != "" {
			require.Contains(t, why, "with twice 20 rounds, work that is always the same would have to be +")
			require.Contains(t, why, "want +10.0 % or less")
			tooNoisy++
		}
	}
	t.Logf("too noisy: %d of %d", tooNoisy, 1500/stretch)
	require.Greater(t, 2*tooNoisy, 1500/stretch)
}
