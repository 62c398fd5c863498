package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"eventide/props/mutant"
)

// hashes say what a verdict is about. It holds as long as none of them changes.
type hashes struct {
	Mutant string `json:"mutant"`
	Core   string `json:"core"`
	Checks string `json:"checks"`         // properties, predicates, model
	Lane   string `json:"lane,omitempty"` // what another lane than the virtual one is made of
}

// hashes returns those of each mutant. One that does not apply is an error.
func (j *job) hashes(planted []mutant.Mutant) (map[string]hashes, error) {
	core, err := hashOf(j.root, "core/*.go", "core/internal/*/*.go")
	if err != nil {
		return nil, err
	}
	checks, err := hashOf(j.root, "props/*.go", "props/history/*.go", "model/*.go")
	if err != nil {
		return nil, err
	}
	all := map[string]hashes{}
	for _, m := range planted {
		changed, err := m.Apply(j.root)
		if err != nil {
			return nil, err
		}
		h := sha256.New()
		for _, file := range sortedKeys(changed) {
			fmt.Fprintf(h, "%s\n%s\n", file, changed[file])
		}
		fmt.Fprintf(h, "%s\n%s\n", m.Guarantee, m.StandsFor)
		lane := j.known[m.Name].Lane // the one that gave the verdict
		if proof := j.marks[m.Name].equivalent; proof != "" {
			fmt.Fprintf(h, "%s\n", proof)
		}
		if own := j.marks[m.Name].lane; own != "" && own != laneVirtual {
			lane = cmp.Or(lane, own)
			fmt.Fprintf(h, "%v\n", j.marks[m.Name])
		}
		other, err := j.laneHash(m, lane)
		if err != nil {
			return nil, err
		}
		all[m.Name] = hashes{Mutant: short(h.Sum(nil)), Core: core, Checks: checks, Lane: other}
	}
	return all, nil
}

// laneHash is the hash of what a lane is made of beside core and the checks; "" for
// the virtual one.
func (j *job) laneHash(m mutant.Mutant, lane string) (string, error) {
	var all string
	if strings.Contains(lane, laneTest) {
		tests, err := hashOfAll(j.root, testSources(j.marks[m.Name].packageOf(m))...)
		if err != nil {
			return "", err
		}
		all = tests
	}
	if strings.Contains(lane, laneInterleave) || lane == laneRace {
		sources, err := hashOf(j.root, laneSources...)
		if err != nil {
			return "", err
		}
		all += sources
	}
	return all, nil
}

// laneSources are the files of the interleave lane and of its engine.
var laneSources = []string{
	"props/lanes/interleave/*.go", "props/lanes/interleave/*/*.go",
	"props/interleave/inprocess/*.go", "props/interleave/overlay/*.go", "props/interleave/overlay/files/*.txt",
}

// testSources are the files that lane test is built from, in one package.
func testSources(pkg string) []string {
	if pkg == "core" {
		return []string{"core/*_test.go"} // the others have a hash of their own
	}
	return []string{pkg + "/*.go", pkg + "/*/*.go"}
}

// patchHash is the hash of what a mutant changes, and of nothing else.
func patchHash(m mutant.Mutant) string {
	h := sha256.New()
	for _, e := range m.Edits {
		fmt.Fprintf(h, "%q %q %q\n", e.File, e.Old, e.New)
	}
	return short(h.Sum(nil))
}

// laneSource is the one test file that the lane consists of.
const laneSource = "lane_test.go"

// hashOf is the hash of the sources that the lane is built from, of the files
// that match.
func hashOf(root string, patterns ...string) (string, error) {
	return hashWhere(root, func(name string) bool { return !strings.HasSuffix(name, "_test.go") || name == laneSource }, patterns)
}

// hashOfAll is hashOf with the files of tests.
func hashOfAll(root string, patterns ...string) (string, error) {
	return hashWhere(root, func(string) bool { return true }, patterns)
}

func hashWhere(root string, want func(name string) bool, patterns []string) (string, error) {
	h := sha256.New()
	files := 0
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return "", err
		}
		for _, path := range paths {
			name := filepath.Base(path)
			if !want(name) {
				continue
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(h, "%s %d\n%s\n", name, len(data), data)
			files++
		}
	}
	if files == 0 {
		return "", fmt.Errorf("no file matches %s in %s: is -root the root of the module?", strings.Join(patterns, ", "), root)
	}
	return short(h.Sum(nil)), nil
}

func short(sum []byte) string { return hex.EncodeToString(sum[:8]) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
