package score

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// run is a run in which k of n picks were killed, all by generic checks.
func run(sources string, k, n int) *File {
	f := &File{Schema: schema, Sources: sources, Checks: "c", Draws: []Draw{{Seed: 1, Picks: n}}}
	for i := range n {
		p := pick("p", "core", Survived, "")
		if i < k {
			p = pick("p", "core", Killed, ByVirtual)
		}
		p.Seed, p.Nth = 1, i
		f.Picks = append(f.Picks, p)
	}
	return f
}

// TestKeep: a run replaces that of the same sources and checks and is behind all others; of
// an interrupted one the picks up to the first gap are kept.
func TestKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "score.json")
	k, err := ReadKept(path)
	require.NoError(t, err)
	require.Empty(t, k.Runs)
	k.Keep(run("a", 1, 2))
	k.Keep(run("b", 1, 2))
	gap := run("a", 2, 9)
	gap.Picks[4].Seed = 2 // not drawn by it
	k.Keep(gap)
	require.NoError(t, k.Write(path))

	k, err = ReadKept(path)
	require.NoError(t, err)
	require.Len(t, k.Runs, 2)
	require.Equal(t, "b", k.Runs[0].Sources)
	require.Equal(t, "a", k.Runs[1].Sources)
	require.Equal(t, []Draw{{Seed: 1, Picks: 4}}, k.Runs[1].Draws)
	require.Len(t, k.Picks(), 6)

	none := run("b", 0, 3)
	none.Picks = none.Picks[1:]
	k.Keep(none)
	require.Len(t, k.Runs, 1, "of a run whose first pick is not judged nothing is known")

	for text, want := range map[string]string{"{": "unexpected end", `{"schema":9}`: "its schema is 9, want 2"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		_, err := ReadKept(path)
		require.ErrorContains(t, err, want)
	}
}

// TestContinue: a file without picks goes on with what was kept of the same sources and checks.
func TestContinue(t *testing.T) {
	k := &Kept{Runs: []*File{run("a", 1, 2), run("b", 2, 3)}}
	for sources, picks := range map[string]int{"a": 2, "b": 3, "c": 0} {
		f := &File{Schema: schema, Sources: sources, Checks: "c"}
		k.Continue(f)
		require.Len(t, f.Picks, picks, sources)
	}
	f := run("b", 0, 1)
	k.Continue(f)
	require.Len(t, f.Picks, 1, "it has picks of its own")
	f = run("b", 0, 0)
	f.Checks = "d"
	k.Continue(f)
	require.Empty(t, f.Picks, "they are of other checks")
}

// TestFall: the newest run is compared with all before it, and only a difference that
// chance does not explain is a fall.
func TestFall(t *testing.T) {
	var k Kept
	k.Keep(run("a", 85, 100))
	require.Nil(t, k.Falls(), "there is nothing to compare with")
	for kills, fell := range map[int]bool{60: false, 51: false, 41: false, 40: true, 0: true} {
		k.Keep(run("b", kills, 60))
		for _, f := range k.Falls() {
			require.Equal(t, fell, f.Fell(), "%d of 60: %+v", kills, f)
			require.InDelta(t, float64(kills)/60, f.Now.Share, 1e-9)
			require.InDelta(t, 0.85, f.Before.Share, 1e-9)
		}
		require.Len(t, k.Falls(), 2)
	}
}

// TestFisher compares with the lady who tasted tea (R. A. Fisher, 1935): 8 cups, 4 of each
// kind.
func TestFisher(t *testing.T) {
	require.InDelta(t, 1.0/70, fisher(0, 4, 4, 4), 1e-12)
	require.InDelta(t, 17.0/70, fisher(1, 4, 3, 4), 1e-12)
	require.InDelta(t, 1, fisher(4, 4, 0, 4), 1e-12)
	require.InDelta(t, 1, fisher(0, 0, 3, 4), 1e-12, "no pick says nothing")
}
