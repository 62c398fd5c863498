package interleave

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMergeWantsTheWhole: a shard that is missing, there twice, of another run, or not
// at its end is no coverage.
func TestMergeWantsTheWhole(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, change func(*Part)) string {
		p := Part{Schema: partVersion, Seed: 7, Of: 2, Complete: true, Scenarios: 3, Exhausted: newExhausted(), Coverage: newCoverage()}
		p.Coverage.Schedules, p.Coverage.Exercised["G3"], p.Exhausted.To[1] = 10, 2, 4
		change(&p)
		path := filepath.Join(dir, name)
		require.NoError(t, p.save(path))
		return path
	}
	a := write("a", func(*Part) {})
	b := write("b", func(p *Part) { p.Shard = 1 })
	all, err := Merge([]string{a, b})
	require.NoError(t, err)
	require.Equal(t, 6, all.Scenarios)
	require.Equal(t, 20, all.Coverage.Schedules)
	require.Equal(t, 4, all.Coverage.Exercised["G3"])
	require.Equal(t, 8, all.Exhausted.To[1])
	for want, path := range map[string]string{
		"are both of shard 0":                            a,
		"is of seed 8":                                   write("seed", func(p *Part) { p.Shard, p.Seed = 1, 8 }),
		"has not come to its end":                        write("half", func(p *Part) { p.Shard, p.Complete = 1, false }),
		fmt.Sprintf("schema is 9, want %d", partVersion): write("schema", func(p *Part) { p.Shard, p.Schema = 1, 9 }),
		"no such file":                                   filepath.Join(dir, "none"),
	} {
		_, err := Merge([]string{a, path})
		require.ErrorContains(t, err, want)
	}
	_, err = Merge([]string{a})
	require.ErrorContains(t, err, "got 1 shards, want 2")

	bad := write("bad", func(p *Part) { p.Shard, p.Complete, p.Failed = 1, false, map[string]string{"G3": "task 2 never ran"} })
	var out, errs bytes.Buffer
	require.Equal(t, exitFound, MergeMain([]string{a, bad}, &out, &errs))
	require.Contains(t, out.String(), "G3: task 2 never ran")
	require.Equal(t, exitUsage, MergeMain([]string{a}, &out, &errs))
	require.Equal(t, exitUsage, MergeMain(nil, &out, &errs))
}
