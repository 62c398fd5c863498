package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"eventide/props/mutant"
)

// TestKitsExist: the pattern of each kit matches as many tests as it names. A test that was renamed would otherwise look for nothing, and pass.
func TestKitsExist(t *testing.T) {
	test := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, k := range kits {
		files, err := filepath.Glob(filepath.Join(module, k.pkg, "*_test.go"))
		require.NoError(t, err)
		pattern, matches := regexp.MustCompile(k.test), 0
		for _, f := range files {
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			for _, found := range test.FindAllStringSubmatch(string(text), -1) {
				if pattern.MatchString(found[1]) {
					matches++
				}
			}
		}
		if k.test == property {
			require.NotZero(t, matches, k.pkg)
			continue
		}
		require.Equal(t, strings.Count(k.test, "|")+1, matches, "%s %s", k.pkg, k.test)
	}
}

// TestEachPropertyIsAKit: each property of a measured package is one.
func TestEachPropertyIsAKit(t *testing.T) {
	for _, pkg := range measured {
		files, err := filepath.Glob(filepath.Join(module, pkg, "*_test.go"))
		require.NoError(t, err)
		properties := 0
		for _, f := range files {
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			properties += strings.Count(string(text), "\nfunc TestProp")
		}
		isKit := slices.ContainsFunc(kits, func(k kit) bool { return k.pkg == pkg && k.test == property && k.runs(pkg) })
		require.Equal(t, properties > 0, isKit, pkg)
	}
}

// TestTestsRunOnce: tests that have looked for a mutant as kits do not look again among the tests of
// their package. With the race detector they do: of the package itself, and of core for what core is
// made of.
func TestTestsRunOnce(t *testing.T) {
	tree, err := coreTree(module)
	require.NoError(t, err)
	r := newTestRunner(settings{root: module, room: newRoom(1)}, tree)
	r.dir = t.TempDir()
	var ran []tests
	r.binary = func(tests, mutant.Mutant, string) (string, error) { return "", nil }
	r.run = func(some tests, _ string, _ time.Duration) (string, bool, error) {
		if some.number > 0 { // otherwise it is a run without a mutant
			ran = append(ran, some)
		}
		return "", true, nil
	}
	look := func(race bool, pkg, file string) (names []string) {
		ran = nil
		_, looked, err := r.all(race)(mutant.Mutant{Number: 1, Edits: []mutant.Edit{{File: file}}}, pkg, r.dir)
		require.NoError(t, err)
		require.True(t, looked)
		for _, some := range ran {
			if some.run == "" && !slices.Contains(names, some.pkg) {
				names = append(names, some.pkg)
			}
		}
		return names
	}
	require.Subset(t, look(false, "core", "core/nothing.go"), []string{"core", "core/tcp", "core/blocking"})
	for _, some := range ran {
		for _, k := range kits {
			if k.pkg == some.pkg {
				require.Equal(t, k.runs("core"), strings.Contains("|"+some.skip+"|", "|"+k.test+"|"), "%s skips %q", some.pkg, some.skip)
			}
		}
	}
	look(false, "core/internal/epoll", "core/internal/epoll/nothing.go")
	require.Equal(t, property, ran[0].skip)

	require.Equal(t, []string{"core"}, look(true, "core", "core/nothing.go"))
	require.Empty(t, ran[0].skip)
	require.Equal(t, []string{"core/internal/tasks", "core"}, look(true, "core/internal/tasks", "core/internal/tasks/nothing.go"))
	require.Equal(t, []string{"core/tcp"}, look(true, "core/tcp", "core/tcp/nothing.go"))
}

// TestTestsThatFailAreSkippedBesideKits: what fails in a program that mutants share is skipped there
// beside the kits, and it alone runs in a program of its own.
func TestTestsThatFailAreSkippedBesideKits(t *testing.T) {
	r := newTestRunner(settings{root: module, room: newRoom(1)}, nil)
	r.dir = t.TempDir()
	var skipped []string
	r.binary = func(tests, mutant.Mutant, string) (string, error) { return "", nil }
	r.run = func(some tests, _ string, _ time.Duration) (string, bool, error) {
		skipped = append(skipped, some.skip)
		return "--- FAIL: TestSize (0.1s)\n", strings.Contains(some.skip, "TestSize"), nil
	}
	u, err := r.control(tests{pkg: "core", skip: "^TestKit$"})
	require.NoError(t, err)
	require.Equal(t, "^(TestSize)$", u.fails)
	require.Equal(t, []string{"^TestKit$", "^TestKit$|^(TestSize)$"}, skipped)
}
