package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain makes the test binary what the command is to its processes: the confined
// process, the busy process; and the test binary that a confined process becomes.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == confinedVerb || os.Args[1] == busyVerb) {
		main()
		return
	}
	if mode := os.Getenv(fixtureVariable); mode != "" {
		os.Exit(fixture(mode))
	}
	os.Exit(m.Run())
}

func TestUsage(t *testing.T) {
	for want, args := range map[string][]string{
		`there is no condition "slow"; there are plain, buffers-kernel,`: {"-conditions", "plain,slow"},
		`there is no condition ""`:                                       {"-conditions", ""},
		"-timeout is 0s, want more than 0":                               {"-timeout", "0"},
		`the package is "-race": flags go before`:                        {"./core", "-race"},
		"flag provided but not defined: -colour":                         {"-colour"},
		`invalid value "(" for flag -run`:                                {"-run", "("},
		"go list: exit status 1":                                         {"./no/such/package"},
		`no package of ["eventide/internal/machine"] `:                   {"eventide/internal/machine"},
		"go list: chdir /no/such/root: no such file or ":                 {"-root", "/no/such/root"},
	} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, exitUsage, run(t.Context(), append([]string{"-out", t.TempDir()}, args...), &stdout, &stderr), "%v", args)
		require.Contains(t, stderr.String(), want)
		require.Empty(t, stdout.String())
		require.Equal(t, 0, strings.Count(stderr.String(), "usage:"), "said once: %s", stderr.String())
	}
}

func TestListNamesEveryCondition(t *testing.T) {
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitPass, run(t.Context(), []string{"-list"}, &stdout, &stderr))
	require.Equal(t, len(table()), strings.Count(stdout.String(), "\n"))
	for _, c := range table() {
		require.Contains(t, stdout.String(), c.Name+" ")
		require.Contains(t, stdout.String(), c.Text)
	}
}

// TestChooseKeepsTheOrderOfTheTable: the machine as it is comes first, in whatever order
// the names were given.
func TestChooseKeepsTheOrderOfTheTable(t *testing.T) {
	chosen, err := choose(table(), "load,plain")
	require.NoError(t, err)
	require.Equal(t, []string{"plain", "load"}, names(chosen))
}

// module writes the files of a module and returns its root.
func module(t *testing.T, files map[string]string) string {
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	return root
}

// TestModule runs the command on a module of one package for each verdict: a test that
// fails under one condition only, one that is skipped, a package that does not build.
func TestModule(t *testing.T) {
	const test = "package p\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\n"
	root := module(t, map[string]string{
		"go.mod":                 "module example\n\ngo 1.26.0\n",
		"language/p_test.go":     test + `func TestLanguage(t *testing.T) { t.Run("of errors", func(t *testing.T) { if os.Getenv("LANGUAGE") == "de" { t.Error("no") } }) }`,
		"skipped/p_test.go":      test + `func TestSkipped(t *testing.T) { t.Skip(os.Args[0]) }`,
		"broken/p_test.go":       test + `func TestBroken(t *testing.T) { undefined() }`,
		"without_tests/p/p.go":   "package p\n",
		"other/module/go.mod":    "module other\n",
		"other/module/p_test.go": test,
	})
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"-root", root, "-conditions", "procs-1,locale"}, &stdout, &stderr)
	require.Equal(t, exitFail, code, stderr.String())

	data, err := os.ReadFile(filepath.Join(root, "out", "conditions.json"))
	require.NoError(t, err)
	var r report
	require.NoError(t, json.Unmarshal(data, &r))
	verdicts := map[string]string{}
	for _, c := range r.Cells {
		verdicts[c.Package+" "+c.Condition] = c.Verdict
	}
	require.Equal(t, map[string]string{
		"example/language procs-1": pass, "example/language locale": fail,
		"example/skipped procs-1": notRun, "example/skipped locale": notRun,
		"example/broken procs-1": fail, "example/broken locale": fail,
	}, verdicts)
	require.Contains(t, stdout.String(), "FAIL example/language, locale: 1 tests failed: TestLanguage/of_errors")
	require.Contains(t, stdout.String(), "undefined: undefined")
	require.Contains(t, stdout.String(), "NOT RUN example/skipped, all conditions: every test was skipped")
	require.Contains(t, stdout.String(), "1 pass, 3 FAIL, 2 NOT RUN")
}

// TestInterrupted: what is left when the command is interrupted is not run.
func TestInterrupted(t *testing.T) {
	root := module(t, map[string]string{"go.mod": "module example\n\ngo 1.26.0\n", "p_test.go": "package p\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitInterrupted, run(ctx, []string{"-root", root}, &stdout, &stderr))
	require.Contains(t, stderr.String(), "interrupted")

	r := newReport(ctx, settings{root: root, conditions: table()}, []binary{{Package: "p"}})
	settings{}.column(ctx, r, condition{Name: "procs-1"}, &stderr)
	require.Equal(t, notRun, r.Cells[0].Verdict)
	require.Zero(t, r.count(pass))
}

// TestExcludedFromTheDetector: with -race, packages that the detector is not for are not
// run, and say so; packages that share the first letters of their names are not meant.
func TestExcludedFromTheDetector(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // nothing is built
	for name, excluded := range map[string]bool{"eventide/model": true, "eventide/model/cmd/explore": true, "eventide/modelling": false} {
		b := binary{Package: name}
		settings{race: true}.build(ctx, &b)
		require.Equal(t, excluded, b.Exclude != "", name)
		require.Equal(t, excluded, b.Error == "", name)
		if excluded {
			require.Equal(t, cell{Verdict: notRun, Reason: b.Exclude}, settings{}.cell(ctx, b, condition{}))
		}
		plain := binary{Package: name}
		settings{}.build(ctx, &plain)
		require.Empty(t, plain.Exclude, name)
	}
}

// TestMakefileLeavesOutTheSame: the packages without the race detector are those of the
// Makefile.
func TestMakefileLeavesOutTheSame(t *testing.T) {
	text, err := os.ReadFile("../../../Makefile")
	require.NoError(t, err)
	for below := range withoutDetector {
		require.Contains(t, string(text), fmt.Sprintf("-e '/%s", below))
	}
}
