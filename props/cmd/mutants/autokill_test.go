package main

import (
	"testing"
	"time"

	"eventide/props/mutant"

	"github.com/stretchr/testify/require"
)

// TestAKillByAMachine: a test that fails without the mutant too is an error, and no kill. A
// test that fails once without it is repeated.
func TestAKillByAMachine(t *testing.T) {
	const full = "--- FAIL: TestA (0.1s)\n    a_test.go:3: no space left on device\n"
	for _, c := range []struct {
		fails  int // runs without the mutant, after the first
		number int
		killed bool
	}{{0, 3, true}, {1, 3, true}, {confirmations - 1, 0, true}, {confirmations, 3, false}, {confirmations, 0, false}} {
		r, plain := newTestRunner(autoSettings(t, 1), nil), 0
		r.base = mutant.Mutant{Name: "base"}
		r.binary = func(_ tests, m mutant.Mutant, _ string) (string, error) { return m.Name, nil }
		r.run = func(of tests, bin string, _ time.Duration) (string, bool, error) {
			if bin == "m" {
				require.Equal(t, c.number, of.number)
				return full, false, nil
			}
			require.Zero(t, of.number)
			if plain++; plain > 1 {
				require.Equal(t, "^TestA$", of.run)
			}
			return full, plain == 1 || plain > 1+c.fails, nil
		}
		what, killed, err := r.try(tests{pkg: "core"}, mutant.Mutant{Name: "m", Number: c.number}, "")
		if c.killed {
			require.NoError(t, err)
			require.True(t, killed)
			require.Equal(t, "TestA a_test.go:3: no space left on device", what)
			continue
		}
		require.ErrorContains(t, err, "fail without a mutant, so that they fail with one means nothing")
	}
}
