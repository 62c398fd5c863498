package interleave

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShardOf(t *testing.T) {
	status := filepath.Join(t.TempDir(), "status")
	for name, c := range map[string]struct {
		env  map[string]string
		want shard
		err  string
	}{
		"alone":      {nil, shard{0, 1}, ""},
		"a matrix":   {map[string]string{"SHARD": "2/8"}, shard{1, 8}, ""},
		"Bazel":      {map[string]string{"TEST_TOTAL_SHARDS": "3", "TEST_SHARD_INDEX": "2", "TEST_SHARD_STATUS_FILE": status}, shard{2, 3}, ""},
		"Kubernetes": {map[string]string{"JOB_COMPLETION_INDEX": "0", "SHARDS": "5"}, shard{0, 5}, ""},
		"zero of 8":  {map[string]string{"SHARD": "0/8"}, shard{}, `SHARD is "0" of "8", want a number from 1`},
		"9 of 8":     {map[string]string{"SHARD": "9/8"}, shard{}, "want a number from 1"},
		"no number":  {map[string]string{"SHARD": "x"}, shard{}, "want a number from 1"},
		"3 of 3":     {map[string]string{"TEST_TOTAL_SHARDS": "3", "TEST_SHARD_INDEX": "3"}, shard{}, "want a number from 0"},
		"of nothing": {map[string]string{"JOB_COMPLETION_INDEX": "1"}, shard{}, `of ""`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := shardOf(func(key string) string { return c.env[key] })
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
	_, err := os.Stat(status)
	require.NoError(t, err, "Bazel wants the file touched")
}

// TestShardsAreAPartition: each visit falls to one shard, and no shard gets much more
// than its share.
func TestShardsAreAPartition(t *testing.T) {
	const of, visits = 4, 4000
	got := make([]int, of)
	for i := range visits {
		owners := 0
		for s := range of {
			if (shard{s, of}).has(7, "execute|shutdown", i) {
				owners++
				got[s]++
			}
		}
		require.Equal(t, 1, owners)
	}
	for s := range of {
		require.InDelta(t, visits/of, got[s], visits/of/5, "%v", got)
	}
	require.True(t, shard{0, 1}.has(7, "x", 0))
}

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
