package ablation

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const root = "../.."

// TestKeptAblations: every file of the repository names its benchmarks. That the edits apply and
// compile is tested with those of planted bugs, in props/mutant.
func TestKeptAblations(t *testing.T) {
	all, err := Load(filepath.Join(root, "testdata", "ablations"))
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, a := range all {
		require.NotEmpty(t, a.Benchmarks, a.Name)
	}
}

// TestBadFiles: what an ablation lacks is an error that says what was expected.
func TestBadFiles(t *testing.T) {
	const edit = "guarantee: G1\nstands for: a part\nfile: f.go\n<<<<\na\n====\nb\n>>>>\n"
	for want, text := range map[string]string{
		`ablation: x: it names no benchmark, want a line that begins with "# benchmark: "`: edit,
		`ablation: x: "# most: none", want a number of 1 or more`:                          "# most: none\n" + edit,
		`ablation: x: "# most: 0", want a number of 1 or more`:                             "# most: 0\n" + edit,
		"want the headers guarantee and stands for":                                        "# benchmark: B\n",
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "x.mutant"), []byte(text), 0o666))
		_, err := Load(dir)
		require.ErrorContains(t, err, want)
	}
	_, err := Load(t.TempDir())
	require.ErrorContains(t, err, "no *.mutant")
}

// TestMeasure takes out the allocation of a timer: the program without it is measured beside the one
// with it, and the row says so. How much it saves depends on the machine.
func TestMeasure(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and measures; -short leaves it out")
	}
	all, err := Load(filepath.Join(root, "testdata", "ablations"))
	require.NoError(t, err)
	dir, err := filepath.Abs(root)
	require.NoError(t, err)
	var progress bytes.Buffer
	o := Options{
		Root: dir, Work: t.TempDir(), Rounds: MinRounds, Sample: time.Millisecond,
		Run: regexp.MustCompile("^timer-allocation$"), Progress: &progress,
	}
	rows, err := Measure(t.Context(), all, o)
	require.NoError(t, err)
	require.Len(t, rows, 1)
	row := rows[0]
	require.Equal(t, "G8", row.Guarantee)
	require.Equal(t, MinRounds, row.Rounds)
	require.Positive(t, row.With)
	require.Positive(t, row.Without)
	require.LessOrEqual(t, row.Low, row.Ratio)
	require.LessOrEqual(t, row.Ratio, row.High)
	require.Equal(t, "timer-allocation: ScheduleCancel/impl=core/where=loop/timers=100\n", progress.String())

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Measure(ended, all, o)
	require.ErrorIs(t, err, context.Canceled)
}
