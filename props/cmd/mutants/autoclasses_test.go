package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"eventide/props/mutant/score"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEachProofIsOfAPick: every mutant that is set aside applies to the sources, has a reason,
// and can be drawn. One that cannot has lost its code, or a rule has come to cover it: the proof
// would speak of nothing.
func TestEachProofIsOfAPick(t *testing.T) {
	all, err := readClasses(module, filepath.Join(module, classified))
	require.NoError(t, err)
	require.NotEmpty(t, all)
	source, err := loadMeasured(module, "")
	require.NoError(t, err)
	for _, c := range all {
		assert.True(t, source.Has(c.changed), "%s.mutant is no change that an operator makes", c.name)
	}
}

// The figures of the classes: the time of a benchmark beside that without the change, and bytes.
var (
	slowerFigure = regexp.MustCompile(`^(\w+)(?:/\S+)? takes \d+\.\d+ of the time\b`)
	largerFigure = regexp.MustCompile(`\d (bytes|KiB)\b`)
)

// TestEachClassHasItsFigure: a mutant of performance names an existing benchmark and the
// ratio of its time; one of memory names the bytes.
func TestEachClassHasItsFigure(t *testing.T) {
	all, err := readClasses(module, filepath.Join(module, classified))
	require.NoError(t, err)
	benchmarks := benchmarksOf(t)
	seen := map[score.Verdict]int{}
	for _, c := range all {
		seen[c.verdict]++
		switch c.verdict {
		case score.Slower:
			m := slowerFigure.FindStringSubmatch(c.proof)
			if assert.NotNil(t, m, "%s: %q, want NAME takes N.NN of the time", c.name, c.proof) {
				assert.Contains(t, benchmarks, m[1], c.name)
			}
		case score.Larger:
			assert.Regexp(t, largerFigure, c.proof, c.name)
		}
	}
	require.NotZero(t, seen[score.Slower])
	require.NotZero(t, seen[score.Larger])
}

// benchmarksOf returns the names of all benchmarks of the module, without "Benchmark".
func benchmarksOf(t *testing.T) (names []string) {
	declared := regexp.MustCompile(`(?m)^func Benchmark(\w+)\(`)
	require.NoError(t, filepath.WalkDir(module, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
		return err
	}))
	return names
}
