package gate

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"eventide/bench/gate/measure"
)

// A restless side counts numbers that chance chooses.
type restless struct {
	random *rand.Rand
	more   float64
}

func (r restless) count() float64 {
	return 100 + float64(r.random.IntN(100)) + r.more
}

func (r restless) Run(context.Context, string, int, int) (measure.Line, error) {
	return measure.Line{Values: map[string]float64{measure.Allocs: r.count(), measure.Bytes: r.count()}}, nil
}

func (r restless) CountSyscalls(_ context.Context, _ string, ops int) (float64, error) {
	return float64(ops) * r.count(), nil
}

func (r restless) CountInstructions(context.Context, string, int) (float64, error) { return 0, nil }

// TestRestlessCountsRaiseNoAlarm: in 50 runs of 375 benchmarks that have not changed, and whose counts vary
// by half, no figure is a regression; one count more than any of base is one.
func TestRestlessCountsRaiseNoAlarm(t *testing.T) {
	const runs, benchmarks = 50, 375
	side := restless{random: rand.New(rand.NewPCG(1, 2))}
	c := counter{missing: map[string]string{instructions: "left out"}, figures: 4 * benchmarks}
	for range runs * benchmarks {
		found, err := c.compare(t.Context(), "p", "B", 10, side, side)
		require.NoError(t, err)
		require.Len(t, found, 4)
		for _, f := range found {
			require.Contains(t, []Verdict{Pass, Better, NotRun}, f.Verdict, "%+v", f)
		}
	}
	worse := side
	worse.more = 100
	found, err := c.compare(t.Context(), "p", "B", 10, side, worse)
	require.NoError(t, err)
	require.Equal(t, Regression, found[0].Verdict, "%+v", found)
}

// TestFewestCounts: the chance that all counts of one side exceed all of the other is below the level, and
// with one count fewer it is not.
func TestFewestCounts(t *testing.T) {
	for figures, want := range map[int]int{0: 2, 1: 5, 20: 7, 400: 9, 1500: 10} {
		require.Equal(t, want, fewestCounts(figures), "%d figures", figures)
	}
}
