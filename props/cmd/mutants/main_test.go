package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"eventide/props"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// module is the root of the module, seen from here.
const module = "../../.."

func TestUsage(t *testing.T) {
	for want, args := range map[string][]string{
		`got arguments ["extra"], want none`: {"extra"},
		"-parallel is 0, want at least 1":    {"-parallel", "0"},
		"-own is 0s":                         {"-own", "0"},
		"-all -1s":                           {"-all", "-1s"},
		"-stall 0s":                          {"-stall", "0s"},
		"got both -stress and -alone":        {"-stress", "-alone"},
		"-stress-for is 0s":                  {"-stress-for", "0s"},
		"-cross -1s":                         {"-cross", "-1s"},
		"flag provided but not defined":      {"-colour"},
		`-run is "g0-none", want one of the`: {"-run", "g0-none"},
		"mutant: no *.mutant in":             {"-dir", "props"},
		"is -root the root of the module":    {"-out", t.TempDir(), "-root", "..", "-dir", "../../testdata/mutants"},
	} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, 2, run(append([]string{"-root", module}, args...), &stdout, &stderr), "%v", args)
		require.Contains(t, stderr.String(), want)
		require.Empty(t, stdout.String())
	}
}

func TestOneMutantFromTheEnvironment(t *testing.T) {
	t.Setenv("MUTANT", "g4-lifo-segment")
	s, err := parse(nil, os.Stderr)
	require.NoError(t, err)
	require.Equal(t, "g4-lifo-segment", s.only)
	s, err = parse([]string{"-run", "g9-goexit-leaves-future"}, os.Stderr)
	require.NoError(t, err)
	require.Equal(t, "g9-goexit-leaves-future", s.only)
}

func TestPathsAreFromTheRoot(t *testing.T) {
	s, err := parse([]string{"-root", "r", "-out", "/tmp/o"}, os.Stderr)
	require.NoError(t, err)
	require.Equal(t, filepath.Join("r", "testdata", "mutants"), s.dirs[0])
	require.Len(t, s.dirs, len(defaultDirs))
	require.Equal(t, "/tmp/o", s.out)
}

// TestShort: the few are there, are all different, and leave out no lane but one.
func TestShort(t *testing.T) {
	s, err := parse([]string{"-root", module, "-short"}, os.Stderr)
	require.NoError(t, err)
	all, marks, err := loadAll(s.dirs)
	require.NoError(t, err)
	some, err := s.choose(all)
	require.NoError(t, err)
	require.Len(t, names(some), shortCount)
	require.Equal(t, shortControl, s.forControl(s.own))
	require.Equal(t, time.Hour, settings{}.forControl(time.Hour), "a full run looks as long without a mutant")
	lanes := map[string]int{}
	for _, m := range some {
		lanes[marks[m.Name].lane]++
	}
	require.Positive(t, lanes[laneVirtual])
	require.Positive(t, lanes[laneInterleave])
	require.Positive(t, lanes[laneTest])
	require.Zero(t, lanes[laneRace])
	_, err = s.choose(nil)
	require.ErrorContains(t, err, "-short wants")
}

// TestWhatTheMutantsAreAimedAt: enough of each part of the module, and at least one for
// each guarantee.
func TestWhatTheMutantsAreAimedAt(t *testing.T) {
	s, err := parse([]string{"-root", module}, os.Stderr)
	require.NoError(t, err)
	all, _, err := loadAll(s.dirs)
	require.NoError(t, err)
	targets, guarantees := map[string]int{}, map[string]int{}
	for _, m := range all {
		targets[newEntry(m).Target]++
		guarantees[m.Guarantee]++
	}
	for target, least := range map[string]int{
		"executor": 5, "timers": 5, "futures": 5, "hooks": 5, "termination": 5, "poller": 5, "loop": 5, "groups": 3, "channels": 3,
		"tcp": 3, "process": 3, "blocking": 3, "checks": 10, "scheduler": 10,
	} {
		require.GreaterOrEqual(t, targets[target], least, "%s: %v", target, targets)
	}
	for _, g := range props.Guarantees {
		require.Positive(t, guarantees[g.ID], g.ID)
	}
}

// TestPropMutants runs a planted bug for real: it is built, looked for, and found.
func TestPropMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the properties twice")
	}
	var stdout, stderr bytes.Buffer
	code := run([]string{"-root", module, "-out", t.TempDir(), "-run", "g20-cancelled-counts-as-ran"}, &stdout, &stderr)
	require.Zero(t, code, stderr.String())
	require.Contains(t, stdout.String(), "score 1.000: 1 killed of 1")
}
