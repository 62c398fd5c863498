package results

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"eventide/props/mutant/score"
)

// TestMechanical: the kept runs of mechanical mutants appear when there are some, and are
// said to be missing when there are none. The tables are of the newest that have enough picks.
func TestMechanical(t *testing.T) {
	dir := copyRaw(t)
	without, err := Generate(dir)
	require.NoError(t, err)
	require.Contains(t, string(without.Page), "Not run (`make mutants-nightly`)")

	of := func(name, operator string, verdict score.Verdict, looks ...score.Look) score.Pick {
		return score.Pick{Name: name, Seed: 7, Package: "core", Operator: operator, Function: "f", Place: "place of " + name, Verdict: verdict, Looks: looks, Proof: "proof of " + name}
	}
	seen := func(by score.By) score.Look { return score.Look{By: by, Killed: true} }
	missed := func(by score.By) score.Look { return score.Look{By: by} }
	picks := []score.Pick{
		of("a", "negate", score.Killed, seen(score.ByVirtual), missed(score.ByInterleave)),
		of("b", "drop-store", score.Killed, missed(score.ByVirtual), missed(score.ByInterleave), seen(score.ByTest)),
		of("c", "negate", score.Survived, missed(score.ByVirtual), missed(score.ByInterleave), missed(score.ByTest)),
		of("d", "constant", score.Slower, missed(score.ByVirtual)),
	}
	kept := &score.Kept{Schema: 2}
	older := of("z", "negate", score.Survived, missed(score.ByVirtual))
	kept.Keep(&score.File{Schema: 2, Revision: "r0", Sites: 800, Sources: "older", Draws: []score.Draw{{Seed: 7, Picks: 1}}, Picks: []score.Pick{older}})
	for i := range picks {
		picks[i].Nth = i
	}
	var many []score.Pick // none of which changes behaviour
	for i := range enoughPicks {
		p := of("m", "constant", score.Larger, missed(score.ByKit))
		p.Nth = i
		many = append(many, p)
	}
	kept.Keep(&score.File{Schema: 2, Revision: "r", Sites: 800, Sources: "old", Draws: []score.Draw{{Seed: 7, Picks: len(many)}}, Picks: many})
	kept.Keep(&score.File{Schema: 2, Revision: "r1", Sites: 900, Draws: []score.Draw{{Seed: 7, Picks: 4}}, Picks: picks, Budget: map[score.By]string{score.ByVirtual: "10 programs"}})
	path := filepath.Join(filepath.Dir(dir), "mutants", "auto", "score.json")
	require.NoError(t, kept.Write(path))
	with, err := Generate(dir)
	require.NoError(t, err)
	for _, want := range []string{
		"| all | 3 | 33.3 % (6.1 to 79.2) | 66.7 % (20.8 to 93.9) | 1 | 0 | 1 | 600 |", "| core | 3 |",
		"| virtual | 3 | 1 | 33.3 % (6.1 to 79.2) | 1 | 10 programs |", "| tests + | 2 | 1 | 50.0 % (9.5 to 90.5) | 1 |",
		"| negate | 2 | 50.0 %", "| r0 | 800 | 7 | 1 |", "| r1 | 900 | 7 | 3 |", "* `place of c`, f\n", "* `place of d`: performance: proof of d\n",
	} {
		require.Contains(t, string(with.Page), want)
	}
	require.NotContains(t, string(with.Page), "place of z", "it is of older sources")
	require.NoError(t, os.WriteFile(path, []byte("nonsense"), 0o644))
	_, err = Generate(dir)
	require.ErrorContains(t, err, "score.json")
}
