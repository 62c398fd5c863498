package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the README's example of an output, instead of comparing it")

const (
	keptRun = "../../../testdata/bench/verify.json"
	readme  = "../../../README.md"
)

var verifyExample = regexp.MustCompile("(?s)```\n\\$ make verify\n.*?```\n")

// example is the output of the kept run, of which the README has eight lines.
func example(t *testing.T) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	require.Zero(t, run([]string{"-show", keptRun}, &stdout, &stderr), stderr.String())
	var kept []string
	for line := range strings.Lines(stdout.String()) {
		switch first, _, _ := strings.Cut(line, " "); first {
		case "model", "traces", "G1", "G3", "G24":
			kept = append(kept, line)
		default:
			if strings.Contains(line, "guarantee") || strings.Contains(line, " pass, ") {
				kept = append(kept, line)
			}
		}
	}
	return "```\n$ make verify\n" + strings.Join(kept, "") + "```\n"
}

// TestTheReadmeShowsTheKeptRun: what the README shows of `make verify` is what the run
// behind RESULTS.md printed. -update writes it.
func TestTheReadmeShowsTheKeptRun(t *testing.T) {
	text, err := os.ReadFile(readme)
	require.NoError(t, err)
	if *update {
		text = verifyExample.ReplaceAllLiteral(text, []byte(example(t)))
		require.NoError(t, os.WriteFile(readme, text, 0o644))
	}
	require.Equal(t, example(t), string(verifyExample.Find(text)), "`make docs` writes it")
}

// TestShow: a result is printed as it was written, and a result of another version is refused.
func TestShow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "verify.json")
	r := passing().report()
	require.NoError(t, r.write(file))
	var want, stdout, stderr bytes.Buffer
	r.table(&want)
	require.Zero(t, run([]string{"-show", file}, &stdout, &stderr))
	require.Equal(t, want.String(), stdout.String())
	for text, refused := range map[string]string{
		`{"schema":2}`: "schema is 2, want 1",
		`nonsense`:     "invalid character",
		`{"schema":1,"guarantees":[{"id":"G1"}]}`:   "G1 has 0 lanes",
		`{"schema":1,"guarantees":[{"id":"G999"}]}`: `the sentence ""`,
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		stderr.Reset()
		require.Equal(t, 2, run([]string{"-show", file}, &stdout, &stderr))
		require.Contains(t, stderr.String(), refused)
	}
}
