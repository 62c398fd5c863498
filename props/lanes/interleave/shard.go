package interleave

import (
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"strings"
)

// shard is the share of the work that is this process's own: index of of, from 0. Who
// distributes the work is an engine of somebody else's; three of their conventions are
// understood:
//
//	SHARD=2/8                                       a CI matrix; from 1
//	TEST_SHARD_INDEX=1 TEST_TOTAL_SHARDS=8          Bazel; from 0
//	JOB_COMPLETION_INDEX=1 SHARDS=8                 an Indexed Job of Kubernetes; from 0
type shard struct{ index, of int }

func shardOf(getenv func(string) string) (shard, error) {
	if v := getenv("SHARD"); v != "" {
		i, n, _ := strings.Cut(v, "/")
		return newShard("SHARD", i, n, 1)
	}
	if v := getenv("TEST_TOTAL_SHARDS"); v != "" {
		// Bazel takes a test that leaves this file alone for one that runs all of it
		// in each shard.
		if status := getenv("TEST_SHARD_STATUS_FILE"); status != "" {
			if err := os.WriteFile(status, nil, 0o644); err != nil {
				return shard{}, fmt.Errorf("TEST_SHARD_STATUS_FILE: %w", err)
			}
		}
		return newShard("TEST_SHARD_INDEX", getenv("TEST_SHARD_INDEX"), v, 0)
	}
	if v := getenv("JOB_COMPLETION_INDEX"); v != "" {
		return newShard("JOB_COMPLETION_INDEX of SHARDS", v, getenv("SHARDS"), 0)
	}
	return shard{0, 1}, nil
}

func newShard(name, index, of string, first int) (shard, error) {
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(of)
	if err1 != nil || err2 != nil || n < 1 || i < first || i >= n+first {
		return shard{}, fmt.Errorf("%s is %q of %q, want a number from %d and how many there are", name, index, of, first)
	}
	return shard{i - first, n}, nil
}

// has reports whether a visit of a scenario falls to this shard. It depends on nothing
// but the arguments, so that every machine agrees.
func (s shard) has(seed uint64, scenario string, index int) bool {
	if s.of <= 1 {
		return true
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s %d", seed, scenario, index)
	// FNV's low bits are weak for texts that differ in the last digit only.
	return int((h.Sum64()*0x9e3779b97f4a7c15>>32)%uint64(s.of)) == s.index
}
