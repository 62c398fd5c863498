package mutant

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const root = "../.."

// dirs are the directories with planted bugs: testdata/mutants and those in it.
func dirs(t *testing.T) []string {
	top := filepath.Join(root, "testdata", "mutants")
	all := []string{top}
	entries, err := os.ReadDir(top)
	require.NoError(t, err)
	for _, e := range entries {
		planted, err := filepath.Glob(filepath.Join(top, e.Name(), "*.mutant"))
		require.NoError(t, err)
		if len(planted) > 0 { // there may be no survivors
			all = append(all, filepath.Join(top, e.Name()))
		}
	}
	require.GreaterOrEqual(t, len(all), 5)
	return append(all, filepath.Join(root, "testdata", "interleave", "mutants"), filepath.Join(root, "testdata", "ablations"))
}

// TestMutantsApply: every planted bug still fits the sources it was made for.
func TestMutantsApply(t *testing.T) {
	for _, dir := range dirs(t) {
		all, err := Load(dir)
		require.NoError(t, err)
		for _, m := range all {
			changed, err := m.Apply(root)
			assert.NoError(t, err) // all of them at once: somebody has to bring them up to date
			for file, text := range changed {
				original, err := os.ReadFile(filepath.Join(root, file))
				require.NoError(t, err)
				require.NotEqual(t, string(original), text, "%s changes nothing", m.Name)
			}
		}
	}
}

// TestListIsComplete: the lists for people have every planted bug, and as its file says.
// That of testdata/mutants itself is among the documents that props checks.
func TestListIsComplete(t *testing.T) {
	for _, name := range []string{"packages", "checks", "scheduler", "equivalent"} {
		dir := filepath.Join(root, "testdata", "mutants", name)
		text, err := os.ReadFile(filepath.Join(dir, "README.md"))
		require.NoError(t, err)
		all, err := Load(dir)
		require.NoError(t, err)
		for _, m := range all {
			require.Contains(t, string(text), fmt.Sprintf("| `%s` | %s | %s |", m.Name, m.Guarantee, m.StandsFor))
		}
		require.Equal(t, len(all), strings.Count(string(text), "\n| `"), "%s has rows for mutants that are not there", name)
	}
}

func TestApplyRefusesWhatDoesNotFit(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte("x\nx\ny\n"), 0o644))
	for text, times := range map[string]string{"z\n": "0 times", "x\n": "2 times"} {
		m := Mutant{Name: "m", Edits: []Edit{{File: "a.go", Old: text, New: "q\n"}}}
		_, err := m.Apply(dir)
		require.ErrorContains(t, err, "m no longer applies: its text occurs "+times)
	}
	m := Mutant{Name: "m", Edits: []Edit{{File: "a.go", Old: "y\n", New: "q\n"}}}
	changed, err := m.Apply(dir)
	require.NoError(t, err)
	require.Equal(t, "x\nx\nq\n", changed["a.go"])
}

func TestParseNamesTheLine(t *testing.T) {
	good := "guarantee: G3\nstands for: netty #9603\nfile: core/loop.go\n<<<<\na\n====\nb\n>>>>\n"
	m, err := parse(strings.NewReader(good))
	require.NoError(t, err)
	require.Equal(t, []Edit{{File: "core/loop.go", Old: "a\n", New: "b\n"}}, m.Edits)
	for text, want := range map[string]string{
		"colour: red\n":                      `line 1: unknown header "colour", want guarantee, stands for or file`,
		"guarantee: G3\nnonsense\n":          `line 2: "nonsense", want a header`,
		strings.TrimSuffix(good, ">>>>\n"):   "ends inside an edit, want >>>>",
		"guarantee: G3\nstands for: B7\n":    "at least one edit",
		"stands for: B7\n<<<<\na\n====\nb\n": `line 2: "<<<<", want a header`,
	} {
		_, err := parse(strings.NewReader(text))
		require.ErrorContains(t, err, want)
	}
}
