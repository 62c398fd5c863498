package mutant

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const root = "../.."

// TestMutantsApply: every planted bug still fits the sources it was made for.
func TestMutantsApply(t *testing.T) {
	all, err := Load(filepath.Join(root, "testdata/mutants"))
	require.NoError(t, err)
	survivors, err := Load(filepath.Join(root, "testdata/mutants/survivors"))
	require.NoError(t, err)
	all = append(all, survivors...)
	for _, m := range all {
		changed, err := m.Apply(root)
		require.NoError(t, err)
		for file, text := range changed {
			original, err := os.ReadFile(filepath.Join(root, file))
			require.NoError(t, err)
			require.NotEqual(t, string(original), text, "%s changes nothing", m.Name)
		}
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
