package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
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
		"-parallel is -2, want at least 1":   {"-parallel", "-2"},
		"-own is 0s, want more than 0":       {"-own", "0"},
		"-all is -1s, want more than 0":      {"-all", "-1s"},
		"-stall is 0s, want more than 0":     {"-stall", "0s"},
		"-interleave is -1s, want at least":  {"-interleave", "-1s"},
		"flag needs an argument: -all":       {"-all"},
		`invalid value "-1" for flag -seed`:  {"-seed", "-1"},
		"got both -short and -run":           {"-short", "-run", "g4-lifo-segment"},
		"got both -stress and -alone":        {"-stress", "-alone"},
		"-stress-for is 0s":                  {"-stress-for", "0s"},
		"-cross is -1s, want more than 0":    {"-cross", "-1s"},
		"flag provided but not defined":      {"-colour"},
		"-auto is -1, want at least 1":       {"-auto", "-1"},
		"got -auto and one of -run, -short":  {"-auto", "3", "-short"},
		"got -keep without -auto":            {"-keep"},
		"got -auto-check and another mode":   {"-auto-check", "-auto", "3"},
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

func TestHelp(t *testing.T) {
	var stdout, help bytes.Buffer
	require.Zero(t, run([]string{"-h"}, &stdout, &help))
	require.Contains(t, help.String(), "-parallel int")
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

// TestShortIsMostlyOfCore: at least half of the few change core itself, and tcp, blocking,
// process and the checks have one each at least. Each stands where the rule says.
func TestShortIsMostlyOfCore(t *testing.T) {
	s, err := parse([]string{"-root", module, "-short"}, os.Stderr)
	require.NoError(t, err)
	all, _, err := loadAll(s.dirs)
	require.NoError(t, err)
	some, err := s.choose(all)
	require.NoError(t, err)
	areas := map[string]int{}
	for _, m := range some {
		areas[areaOf(m.Edits[0].File)]++
	}
	require.GreaterOrEqual(t, areas["core"], shortCount/2, "%v", areas)
	for _, area := range []string{"core/tcp", "core/blocking", "core/process", "props"} {
		require.Positive(t, areas[area], "%v", areas)
	}
	for _, r := range shortRule {
		require.Equal(t, len(r.names), areas[r.area], "%s: %v", r.area, areas)
	}
	require.Equal(t, "7 of core, 1 of core/tcp, 1 of core/blocking, 1 of core/process, 2 of props", shortShares())
	require.Equal(t, "core/tcp", areaOf("core/tcp/channel.go"))
	require.Equal(t, "core", areaOf("core/tcpoptions.go"))
	require.Equal(t, "model", areaOf("model/rules.go"))
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

// areaOf is the part of the module that a file belongs to, as shortRule names it.
func areaOf(file string) string {
	for _, area := range []string{"core/tcp", "core/blocking", "core/process"} {
		if strings.HasPrefix(file, area+"/") {
			return area
		}
	}
	area, _, _ := strings.Cut(file, "/")
	return area
}
