package strategy_test

import (
	"testing"

	"eventide/props/lanes/interleave/det"
	"eventide/props/lanes/interleave/det/atomic"
	"eventide/props/lanes/interleave/det/sync"
	"eventide/props/lanes/interleave/strategy"

	"github.com/stretchr/testify/require"
)

// program is two goroutines with two operations each on two objects.
func program(out *[2]int32) func() {
	return func() {
		var a, b atomic.Int32
		var both sync.WaitGroup
		both.Go(func() { a.Store(1); out[0] = b.Load() })
		both.Go(func() { b.Store(1); out[1] = a.Load() })
		both.Wait()
	}
}

// all is every schedule: depth first, without bound or pruning.
type all struct {
	levels []struct{ pick, n int }
	at     int
}

func (s *all) begin() bool {
	s.at = 0
	for i := len(s.levels) - 1; i >= 0; i-- {
		if s.levels[i].pick+1 < s.levels[i].n {
			s.levels = s.levels[:i+1]
			s.levels[i].pick++
			return true
		}
	}
	return false
}

func (s *all) Next(d *det.Decision) int {
	if s.at == len(s.levels) {
		s.levels = append(s.levels, struct{ pick, n int }{0, len(d.Runnable)})
	}
	s.at++
	return s.levels[s.at-1].pick
}

// TestExhaustiveMissesNothing compares it, pruning and all, with the plain search: the
// same outcomes, of far fewer schedules.
func TestExhaustiveMissesNothing(t *testing.T) {
	want, classes, plain := map[[2]int32]bool{}, map[uint64]bool{}, 0
	s := &all{}
	for more := true; more; more = s.begin() {
		var out [2]int32
		r := det.Run(s, det.Options{}, program(&out))
		require.Equal(t, det.Finished, r.Verdict)
		want[out], classes[r.Class] = true, true
		plain++
	}
	got, seen, pruned := map[[2]int32]bool{}, map[uint64]bool{}, 0
	e := strategy.NewExhaustive(20)
	for e.Begin() {
		var out [2]int32
		r := det.Run(e, det.Options{}, program(&out))
		e.End(r, false)
		pruned++
		if r.Verdict == det.Finished {
			got[out], seen[r.Class] = true, true
		}
	}
	require.True(t, e.All())
	require.Equal(t, want, got)
	require.Equal(t, len(classes), len(seen), "happens-before classes")
	require.Len(t, want, 3, "both may see the other, but not neither")
	t.Logf("%d schedules, %d classes; exhaustive ran %d, up to %d preemptions", plain, len(classes), pruned, e.Bound())
}

// lostUpdate reports whether one of two updates is lost in the next schedule.
func lostUpdate(st strategy.Strategy) (r *det.Result, lost bool) {
	var n int32
	r = det.Run(st, det.Options{}, func() {
		var v atomic.Int32
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() { v.Store(v.Load() + 1) })
		}
		both.Wait()
		n = v.Load()
	})
	st.End(r, true)
	return r, n == 1
}

// TestEachStrategyFindsALostUpdate, and replaying its switches finds it again.
func TestEachStrategyFindsALostUpdate(t *testing.T) {
	for _, name := range strategy.Names() {
		t.Run(name, func(t *testing.T) {
			st, err := strategy.New(name, 1)
			require.NoError(t, err)
			for n := 1; n <= 1000; n++ {
				require.True(t, st.Begin())
				r, lost := lostUpdate(st)
				if !lost {
					continue
				}
				switches := append([]det.Switch(nil), r.Switches...)
				again := strategy.NewReplay(switches)
				require.True(t, again.Begin())
				_, lost = lostUpdate(again)
				require.True(t, lost)
				require.Zero(t, again.Unused())
				t.Logf("schedule %d, %d switches", n, len(switches))
				return
			}
			t.Fatal("not found in 1000 schedules")
		})
	}
}

func TestUnknownStrategy(t *testing.T) {
	_, err := strategy.New("luck", 1)
	require.ErrorContains(t, err, `"luck"`)
}

// TestAClassHasOneOutcome: what two goroutines do is the same whichever goes first, and
// only the value that is left tells their orders apart. Runs of one class must leave the
// same, or the exhaustive search takes one for the other and leaves it out.
func TestAClassHasOneOutcome(t *testing.T) {
	st, err := strategy.New("walk", 1)
	require.NoError(t, err)
	left, values := map[uint64]int32{}, map[int32]bool{}
	for range 500 {
		require.True(t, st.Begin())
		var last int32
		r := det.Run(st, det.Options{}, func() {
			var v atomic.Int32
			var both sync.WaitGroup
			both.Go(func() { v.Store(1) })
			both.Go(func() { v.Store(2) })
			both.Wait()
			last = v.Load()
		})
		st.End(r, true)
		require.Equal(t, det.Finished, r.Verdict)
		if before, seen := left[r.Class]; seen {
			require.Equal(t, before, last, "two runs of class %x", r.Class)
		}
		left[r.Class], values[last] = last, true
	}
	require.Len(t, values, 2, "both orders were run")
}

// TestPCTKeepsItsPromise: a lost update needs one change of the order, a bug of depth 2,
// and is found at least as often as the theorem says of that depth and of greater ones.
func TestPCTKeepsItsPromise(t *testing.T) {
	const rounds = 20000
	for _, name := range []string{"pct2", "pct3"} {
		st, err := strategy.New(name, 1)
		require.NoError(t, err)
		found, expected, promised := 0, 0.0, 0
		for range rounds {
			require.True(t, st.Begin())
			r, lost := lostUpdate(st)
			depth, chance := st.(strategy.Bounded).Bound(r.Goroutines)
			require.Equal(t, int(name[3]-'0'), depth)
			require.LessOrEqual(t, chance, 1/float64(r.Goroutines))
			if chance > 0 {
				promised++
			}
			expected += chance
			if lost {
				found++
			}
		}
		require.Greater(t, promised, rounds*9/10)
		require.Greater(t, float64(found), expected)
		t.Logf("%s: found %d times in %d, promised %.0f", name, found, rounds, expected)
	}
}

func TestPCTPromisesNothingPastItsLength(t *testing.T) {
	st, err := strategy.New("pct2", 1)
	require.NoError(t, err)
	long := func() {
		var n atomic.Int32
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				for range 50 {
					n.Add(1)
				}
			})
		}
		both.Wait()
	}
	chances := []float64{}
	for range 3 {
		st.Begin()
		r := det.Run(st, det.Options{}, long)
		st.End(r, false)
		_, chance := st.(strategy.Bounded).Bound(r.Goroutines)
		chances = append(chances, chance)
	}
	require.Zero(t, chances[0], "a change may come in the first 16 decisions only")
	require.NotZero(t, chances[2])
	_, chance := st.(strategy.Bounded).Bound(1000)
	require.Zero(t, chance, "some share a priority")
}
