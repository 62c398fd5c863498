package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestParse: the lines of package testing count wherever they stand, and what a test
// prints does not.
func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		output string
		want   tests
	}{
		"pass, fail, skip": {
			"^=== RUN   TestA\n^--- PASS: TestA (0.00s)\n^=== RUN   TestB\n    b_test.go:7: no\n^--- FAIL: TestB (0.10s)\n^=== RUN   TestC\n^--- SKIP: TestC (0.00s)\nFAIL\n",
			tests{Passed: []string{"TestA"}, Failed: []string{"TestB"}, Skipped: []string{"TestC"}},
		},
		"in any order": {
			"^=== RUN   TestB\n^--- SKIP: TestB (0.00s)\n^=== RUN   TestA\n^--- SKIP: TestA (0.00s)\n",
			tests{Skipped: []string{"TestA", "TestB"}},
		},
		"of a test and its subtest the subtest": {
			"^=== RUN   TestA\n^=== RUN   TestA/b\n^--- FAIL: TestA (0.00s)\n    ^--- FAIL: TestA/b (0.00s)\n",
			tests{Failed: []string{"TestA/b"}},
		},
		"a test that prints": {
			"^=== RUN   TestA\n--- FAIL: TestZ (0.00s)\nno line end^--- PASS: TestA (0.00s)\n",
			tests{Passed: []string{"TestA"}},
		},
		"timeout": {
			"^=== RUN   TestA\n^=== RUN   TestA/b\npanic: test timed out after 1s\n",
			tests{Unfinished: []string{"TestA/b"}, Why: "panic: test timed out after 1s"},
		},
		"after the tests": {
			"^=== RUN   TestA\n^--- PASS: TestA (0.00s)\nPASS\ngoleak: Errors on successful test run: found unexpected goroutines:\npanic: x\n",
			tests{Passed: []string{"TestA"}, Why: "goleak: Errors on successful test run: found unexpected goroutines:"},
		},
		"a last line without an end": {"^=== RUN   TestA\n^--- PASS: TestA (0.00s)", tests{Passed: []string{"TestA"}}},
		"nothing":                    {"", tests{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseTests(strings.NewReader(strings.ReplaceAll(c.output, "^", mark)))
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

// TestVerdicts: a cell passes only if the binary exits with 0, a test passed and none
// failed or lacks its verdict.
func TestVerdicts(t *testing.T) {
	exit := errors.New("exit status 1")
	a, b := []string{"TestA"}, []string{"TestB"}
	for name, c := range map[string]struct {
		tests   tests
		exit    error
		verdict string
		why     string
	}{
		"all is well":          {tests{Passed: a}, nil, pass, ""},
		"with a skipped test":  {tests{Passed: a, Skipped: b}, nil, pass, "1 skipped: TestB"},
		"a test failed":        {tests{Passed: a, Failed: b}, exit, fail, "1 tests failed: TestB"},
		"failed, but exit 0":   {tests{Passed: a, Failed: b}, nil, fail, "1 tests failed: TestB"},
		"timeout":              {tests{Unfinished: b, Why: "panic: test timed out"}, exit, fail, "panic: test timed out (exit status 1): TestB"},
		"after the tests":      {tests{Passed: a, Why: "goleak: Errors"}, exit, fail, "goleak: Errors (exit status 1)"},
		"killed":               {tests{}, errHung, fail, errHung.Error()},
		"os.Exit(0) in a test": {tests{Passed: a, Unfinished: b}, nil, fail, "exit 0 without a verdict of every test: TestB"},
		"all are skipped":      {tests{Skipped: a}, nil, notRun, "every test was skipped"},
		"no test":              {tests{}, nil, notRun, "no test was run"},
	} {
		t.Run(name, func(t *testing.T) {
			got := judge(c.tests, c.exit)
			require.Equal(t, c.verdict, got.Verdict)
			require.Equal(t, c.why, got.why())
			require.Len(t, c.tests.Passed, got.Passed)
		})
	}
}
