package score

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pick is one that a kind of check killed, after all before it had missed it.
func pick(name, pkg string, v Verdict, by By) Pick {
	p := Pick{Name: name, Package: pkg, Operator: "negate", Place: "place of " + name, Verdict: v}
	for _, other := range Order() {
		p.Looks = append(p.Looks, Look{By: other, Killed: other == by})
		if other == by {
			break
		}
	}
	return p
}

// picks has one of everything.
func picks() []Pick {
	return []Pick{
		pick("a", "core", Killed, ByVirtual), pick("b", "core", Killed, ByInterleave), pick("c", "core", Killed, ByRaceLane),
		pick("d", "core", Killed, ByTest), pick("e", "core/tcp", Killed, ByRaceTest), pick("f", "core/tcp", Survived, ""),
		pick("g", "core", Equivalent, ""), pick("h", "core", Slower, ""), pick("i", "core/tcp", Larger, ""),
	}
}

func TestShares(t *testing.T) {
	require.Equal(t, Share{Of: 6, Generic: 3, Tests: 2, Survived: 1, Equivalent: 1, Slower: 1, Larger: 1}, Total(picks()))
	require.Equal(t, []Row{
		{"core", Share{Of: 4, Generic: 3, Tests: 1, Equivalent: 1, Slower: 1}}, {"core/tcp", Share{Of: 2, Tests: 1, Survived: 1, Larger: 1}},
	}, Rows(picks(), func(p Pick) string { return p.Package }))
	require.Equal(t, 3, Total(picks()).Aside())
	rows := Rows(picks(), func(p Pick) string { return p.Package }, "core/tcp", "nothing", "core")
	require.Equal(t, "core/tcp", rows[0].Name, "the order given")
	require.Len(t, rows, 2)
}

// TestInterval compares with values of published tables of Wilson's interval.
func TestInterval(t *testing.T) {
	for want, share := range map[string]Share{
		"0.0 % (0.0 to 27.8)":     {Of: 10, Survived: 10},
		"100.0 % (72.2 to 100.0)": {Of: 10, Tests: 10},
		"50.0 % (23.7 to 76.3)":   {Of: 10, Generic: 4, Tests: 1, Survived: 5},
		"85.0 % (81.9 to 87.6)":   {Of: 600, Generic: 510, Survived: 90},
		"0.0 % (0.0 to 100.0)":    {},
	} {
		require.Equal(t, want, share.Score().String())
	}
}

// TestKinds: a check that always looks has a share of the whole picks, and the others one of
// the picks for which they looked.
func TestKinds(t *testing.T) {
	all := picks()[:6] // killed by virtual, interleave, race, tests, race tests; a survivor
	whole := Kinds(all)
	for i := range all {
		all[i].Brief = i != 1 && i != 3
	}
	some := Kinds(all)
	require.Equal(t, Kind{ByVirtual, 6, 1, 1}, whole[0])
	require.Equal(t, Kind{ByInterleave, 5, 1, 1}, whole[1])
	require.Equal(t, Kind{ByVirtual, 2, 0, 0}, some[0])
	require.Equal(t, Kind{ByInterleave, 2, 1, 1}, some[1])
	require.Equal(t, Kind{ByReal, 1, 0, 0}, some[2])
	require.Equal(t, Kind{ByRaceLane, 4, 1, 0}, some[7], "one look at a brief pick does not show that no other check kills it")
	require.Equal(t, Kind{ByTest, 3, 1, 1}, some[8])
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out", "auto.json")
	f, stale, err := Open(path, "s", "c", 7)
	require.NoError(t, err)
	require.False(t, stale)
	for _, p := range picks() {
		require.NoError(t, f.Put(p))
	}
	f.Drew(Draw{Seed: 1, Picks: 9})
	f.Drew(Draw{Seed: 1, Picks: 3}) // the beginning of the other
	require.NoError(t, f.Put(pick("f", "core/tcp", Killed, ByTest)))

	f, stale, err = Open(path, "s", "c", 7)
	require.NoError(t, err)
	require.False(t, stale)
	require.Equal(t, []Draw{{Seed: 1, Picks: 9}}, f.Draws)
	p, known := f.Known("f")
	require.True(t, known)
	require.Equal(t, Killed, p.Verdict, "the later verdict")
	require.Len(t, f.Picks, 9)
	_, known = f.Known("z")
	require.False(t, known)

	for _, other := range [][2]string{{"s2", "c"}, {"s", "c2"}} {
		f, stale, err := Open(path, other[0], other[1], 7)
		require.NoError(t, err)
		require.True(t, stale)
		require.Empty(t, f.Picks)
	}
	for text, want := range map[string]string{"{": "remove it to begin again", `{"schema":9}`: "its schema is 9, want 2"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		_, _, err = Open(path, "s", "c", 7)
		require.ErrorContains(t, err, want)
	}
}

func TestTable(t *testing.T) {
	var out bytes.Buffer
	(&File{Sites: 100, Picks: picks()}).Table(&out, []string{"negate"})
	for _, want := range []string{
		"9 picks of 100 sites; 6 change behaviour as far as is known, 3 do not",
		"generic checks killed 50.0 %", "all checks 83.3 %",
		"core                         4  75.0 %", "core/tcp                     2  0.0 %",
		"negate                       6  50.0 %",
		"virtual             6      1      1  16.7 %", "race tests          2      1      1  50.0 %",
		"1 survivors\n  place of f\n",
	} {
		require.Contains(t, out.String(), want)
	}
}
