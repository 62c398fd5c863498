package results

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	kept = "../../testdata/bench"
	site = "../../RESULTS.md"
)

// TestResultsAreCurrent: RESULTS.md is what the kept raw files give.
func TestResultsAreCurrent(t *testing.T) { require.NoError(t, Check(kept, site)) }

// TestCheckSeesAChangedNumber: one digit typed by hand is found, with its line.
func TestCheckSeesAChangedNumber(t *testing.T) {
	page, err := os.ReadFile(site)
	require.NoError(t, err)
	states := bytes.Index(page, []byte("Model: ")) + len("Model: ")
	page[states]++
	path := filepath.Join(t.TempDir(), "RESULTS.md")
	require.NoError(t, os.WriteFile(path, page, 0o644))
	require.ErrorContains(t, Check(kept, path), "RESULTS.md, line 10: got ")
}

func TestCheckSeesAMissingEnd(t *testing.T) {
	page, err := os.ReadFile(site)
	require.NoError(t, err)
	lines := strings.Split(string(page), "\n")
	path := filepath.Join(t.TempDir(), "RESULTS.md")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines[:len(lines)-3], "\n")), 0o644))
	require.ErrorContains(t, Check(kept, path), `got "(nothing)"`)
}

func TestRawFilesAreRequired(t *testing.T) {
	dir := t.TempDir()
	_, err := Generate(dir)
	require.ErrorContains(t, err, "bench.json")
	require.NoError(t, os.WriteFile(filepath.Join(dir, benchFile), []byte(`{"schema":7}`), 0o644))
	_, err = Generate(dir)
	require.ErrorContains(t, err, "schema is 7, want 1")
	require.NoError(t, os.WriteFile(filepath.Join(dir, benchFile), []byte(`{"schema":1}`), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, verifyFile), []byte(`{"schema":1}`), 0o644))
	page, err := Generate(dir)
	require.NoError(t, err)
	require.Contains(t, string(page), "is not kept here")
	require.NoError(t, os.WriteFile(filepath.Join(dir, mutantsFile), []byte(`nonsense`), 0o644))
	_, err = Generate(dir)
	require.ErrorContains(t, err, "mutants.json")
}
