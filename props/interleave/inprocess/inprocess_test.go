package inprocess

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"eventide/props/interleave/overlay"

	"github.com/stretchr/testify/require"
)

// build returns the command of testdata/programs with the overlay.
func build(t *testing.T, flags ...string) string {
	t.Helper()
	env, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	require.NoError(t, err)
	lines := strings.Split(string(env), "\n")
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	file, err := overlay.Make(lines[0], lines[1], filepath.Join(cache, "interleave"))
	require.NoError(t, err)
	bin := filepath.Join(t.TempDir(), "programs")
	args := append([]string{"build", "-o", bin, "-tags", "interleave"}, overlay.BuildFlags(file)...)
	out, err := exec.Command("go", append(append(args, flags...), "./testdata/programs")...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return bin
}

// TestPrograms: each strategy finds each planted bug, a replay repeats it exactly, and
// what has no bug shows none.
func TestPrograms(t *testing.T) {
	out, err := exec.Command(build(t)).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotContains(t, string(out), "WRONG")
	require.Contains(t, string(out), "ok exhaustive")
}

// TestProgramsUnderTheRaceDetector also looks for a planted race.
func TestProgramsUnderTheRaceDetector(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the standard library with the detector")
	}
	cmd := exec.Command(build(t, "-race"))
	cmd.Env = append(os.Environ(), "GORACE=exitcode=0 atexit_sleep_ms=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "ok races")
}

// TestPCTPromisesNothingPastItsLength: a bug of the depth may need a change of priority
// anywhere in the schedule, and pct draws its changes from the expected length.
func TestPCTPromisesNothingPastItsLength(t *testing.T) {
	s, err := New("pct3", 1)
	require.NoError(t, err)
	s.last = result{decisions: 16, longest: 16}
	depth, chance := s.Chance(4)
	require.Equal(t, 3, depth)
	require.InDelta(t, 1/(4*16.*16), chance, 1e-12)
	s.last.decisions++
	depth, chance = s.Chance(4)
	require.Equal(t, 3, depth)
	require.Zero(t, chance)
}
