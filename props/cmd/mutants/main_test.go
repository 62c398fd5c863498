package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"eventide/props/mutant"

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
	require.Len(t, s.dirs, 3)
	require.Equal(t, "/tmp/o", s.out)
}

// TestShortIsSpreadOut: -short takes a few, not all of the same guarantee.
func TestShortIsSpreadOut(t *testing.T) {
	var all []mutant.Mutant
	for i := range 5 * shortCount {
		all = append(all, mutant.Mutant{Name: fmt.Sprint(i)})
	}
	some, err := settings{short: true}.choose(all, nil)
	require.NoError(t, err)
	require.Len(t, some, shortCount)
	for i, m := range some {
		require.Equal(t, fmt.Sprint(5*i), m.Name)
	}
	for n, s := range map[int]settings{len(all): {}, 3: {short: true}} {
		some, err := s.choose(all[:n], nil)
		require.NoError(t, err)
		require.Len(t, some, n)
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
	require.Contains(t, stdout.String(), "score 1.000: 1 of 1 killed")
}
