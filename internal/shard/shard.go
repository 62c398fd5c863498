// Package shard says which share of a run's work is this process's own.
package shard

import (
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"strings"
)

// A Shard is a share of the work: Index of Of, from 0. Three conventions of the engines
// that distribute work are understood:
//
//	SHARD=2/8                                       a CI matrix; from 1
//	TEST_SHARD_INDEX=1 TEST_TOTAL_SHARDS=8          Bazel; from 0
//	JOB_COMPLETION_INDEX=1 SHARDS=8                 an Indexed Job of Kubernetes; from 0
type Shard struct{ Index, Of int }

// FromEnv reads the shard from the environment; without one, the process has all of the
// work. It returns an error for an index that is not one of the shards, and if Bazel's
// status file cannot be written.
func FromEnv(getenv func(string) string) (Shard, error) {
	if v := getenv("SHARD"); v != "" {
		i, n, _ := strings.Cut(v, "/")
		return parse("SHARD", i, n, 1)
	}
	if v := getenv("TEST_TOTAL_SHARDS"); v != "" {
		// Bazel takes a test that leaves this file alone for one that runs all of it
		// in each shard.
		if status := getenv("TEST_SHARD_STATUS_FILE"); status != "" {
			if err := os.WriteFile(status, nil, 0o644); err != nil {
				return Shard{}, fmt.Errorf("TEST_SHARD_STATUS_FILE: %w", err)
			}
		}
		return parse("TEST_SHARD_INDEX", getenv("TEST_SHARD_INDEX"), v, 0)
	}
	if v := getenv("JOB_COMPLETION_INDEX"); v != "" {
		return parse("JOB_COMPLETION_INDEX of SHARDS", v, getenv("SHARDS"), 0)
	}
	return Shard{0, 1}, nil
}

func parse(name, index, of string, first int) (Shard, error) {
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(of)
	if err1 != nil || err2 != nil || n < 1 || i < first || i >= n+first {
		return Shard{}, fmt.Errorf("%s is %q of %q, want a number from %d and how many there are", name, index, of, first)
	}
	return Shard{i - first, n}, nil
}

// Has reports whether a piece of work falls to this shard. It depends on nothing but the
// arguments, so that every machine agrees.
func (s Shard) Has(seed uint64, name string, index int) bool {
	if s.Of <= 1 {
		return true
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s %d", seed, name, index)
	// FNV's low bits are weak for texts that differ in the last digit only.
	return int((h.Sum64()*0x9e3779b97f4a7c15>>32)%uint64(s.Of)) == s.Index
}
