package interleave_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"eventide/props"
	"eventide/props/history"
	"eventide/props/lanes/interleave"
	"eventide/props/lanes/interleave/build"

	"github.com/stretchr/testify/require"
)

// TestInterleaveNotRun: a binary without the overlay finds none of the planted bugs,
// and must not look like one that passes.
func TestInterleaveNotRun(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "plain")
	cmd := exec.Command("go", "build", "-o", bin, "./props/lanes/interleave/cmd/lane")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	text, code := run(t, bin, "-budget", "1s")
	require.Equal(t, 3, code, "%s", text)
	require.Contains(t, text, "not run")
	require.Contains(t, text, "core is not controlled")

	// It is what a run measures its speed beside, and it does not take as long as the run may.
	t.Setenv("EVENTIDE_LANE_BUDGET", "1h")
	args := []string{"-rounds", "1", "-n", "1", "-scenario", "execute|execute", "-free"}
	text, code = run(t, lane(t), append(args, bin)...)
	require.Zero(t, code, "%s", text)
	for _, speed := range lastLine(t, text).Speed {
		require.NotZero(t, speed.Steps, "%v", speed)
		require.NotZero(t, speed.Free, "%v", speed)
	}
	text, code = run(t, lane(t), append(args, lane(t))...)
	require.Equal(t, 2, code, "%s", text)
	require.Contains(t, text, "want runs per second")
}

// TestPropInterleaveRace explores core's schedules with the race detector: of each what
// the program itself orders is known, and nothing else. Each planted race is reported,
// also that of two goroutines of which one begins when the other has ended, and no other.
// It counts schedules and not seconds, so that a busy machine explores as much as an idle one.
func TestPropInterleaveRace(t *testing.T) {
	bin, err := build.Lane{Root: root, Dir: t.TempDir(), Race: true}.Build()
	require.NoError(t, err)
	schedules := "3"
	if testing.Short() {
		schedules = "1"
	}
	text, code := run(t, bin, "-rounds", "1", "-n", schedules, "-first", "-1", "-cases", t.TempDir())
	require.NotContains(t, text, "not run")
	require.Equal(t, 2, strings.Count(text, "WARNING: DATA RACE"), "%s", text)
	s := lastLine(t, text)
	require.Greater(t, s.Runs, 100, "%s", text)
	require.NotZero(t, s.Exercised["G3"])
	require.Contains(t, []int{0, 66}, code, "66 is the detector's, for the planted ones: %s", text)
	t.Logf("seed %d: %d schedules race-checked", s.Seed, s.Runs)
	testManyTasks(t, bin)
}

// testManyTasks: a task that submits the next one some thousand times keeps its loop busy for more
// operations than a schedule usually has, and more of them with the race detector. That is no
// livelock.
func testManyTasks(t *testing.T, bin string) {
	t.Helper()
	long := interleave.Scenario{Name: "long", Program: props.Program{Actors: []props.Actor{{Steps: []props.Step{
		{Op: history.OpExecute, ID: 1, Body: &props.Script{Again: 3000}},
	}}}}}
	path, err := interleave.Case{Version: 2, Guarantee: "G12", Time: "idle", Scenario: long}.Save(t.TempDir())
	require.NoError(t, err)
	out, _ := run(t, bin, "-case", path)
	require.Contains(t, out, "not reproduced")
}
