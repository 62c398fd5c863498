package shard

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFromEnv(t *testing.T) {
	status := filepath.Join(t.TempDir(), "status")
	for name, c := range map[string]struct {
		env  map[string]string
		want Shard
		err  string
	}{
		"alone":      {nil, Shard{0, 1}, ""},
		"a matrix":   {map[string]string{"SHARD": "2/8"}, Shard{1, 8}, ""},
		"Bazel":      {map[string]string{"TEST_TOTAL_SHARDS": "3", "TEST_SHARD_INDEX": "2", "TEST_SHARD_STATUS_FILE": status}, Shard{2, 3}, ""},
		"Kubernetes": {map[string]string{"JOB_COMPLETION_INDEX": "0", "SHARDS": "5"}, Shard{0, 5}, ""},
		"zero of 8":  {map[string]string{"SHARD": "0/8"}, Shard{}, `SHARD is "0" of "8", want a number from 1`},
		"9 of 8":     {map[string]string{"SHARD": "9/8"}, Shard{}, "want a number from 1"},
		"no number":  {map[string]string{"SHARD": "x"}, Shard{}, "want a number from 1"},
		"3 of 3":     {map[string]string{"TEST_TOTAL_SHARDS": "3", "TEST_SHARD_INDEX": "3"}, Shard{}, "want a number from 0"},
		"of nothing": {map[string]string{"JOB_COMPLETION_INDEX": "1"}, Shard{}, `of ""`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := FromEnv(func(key string) string { return c.env[key] })
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
			if (Shard{s, of}).Has(7, "execute|shutdown", i) {
				owners++
				got[s]++
			}
		}
		require.Equal(t, 1, owners)
	}
	for s := range of {
		require.InDelta(t, visits/of, got[s], visits/of/5, "%v", got)
	}
	require.True(t, Shard{0, 1}.Has(7, "x", 0))
}
