package props

import (
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"

	"eventide/props/lane"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestGoesOnUntilExercised: a run that has seen too little goes on with new programs.
// Only if even the last round leaves it short does it say so, in words that no
// violation has.
func TestGoesOnUntilExercised(t *testing.T) {
	const each = 20 // programs of a round: four of them have to exercise the guarantee
	for name, c := range map[string]struct {
		of     func(round, program int) bool
		rounds int
		short  bool
	}{
		"at once":         {func(_, program int) bool { return program < 4 }, 1, false},
		"one too few":     {func(round, program int) bool { return program < 3 || round > 0 }, 2, false},
		"only much later": {func(round, _ int) bool { return round == mostRounds-1 }, mostRounds, false},
		"never":           {func(int, int) bool { return false }, mostRounds, true},
		"hardly ever":     {func(round, program int) bool { return round < 3 && program == 0 }, mostRounds, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := sightings{of: Guarantee{ID: "G8"}}
			rounds := 0
			err := s.gather(func(n int) {
				require.Equal(t, rounds, n)
				rounds++
				for program := range each {
					s.observe(Verdict{Exercised: map[string]bool{"G8": c.of(n, program), "G9": true}})
				}
			})
			require.Equal(t, c.rounds, rounds)
			require.Equal(t, c.rounds*each, s.programs)
			if !c.short {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, lane.NotExercised+"G8: 400 programs")
			require.True(t, strings.HasPrefix(err.Error(), lane.NotExercised))
		})
	}
}

// TestShare: a short run wants the part of the minimum that it is of a full one.
func TestShare(t *testing.T) {
	require.Equal(t, defaultMinimum, Guarantee{}.share(fullRun))
	require.Equal(t, 4, Guarantee{}.share(20))
	require.Equal(t, 1, Guarantee{Minimum: 50}.share(20))
	require.Equal(t, 1, Guarantee{}.share(1))
}

// TestLaterRoundsHaveOtherPrograms: with a seed that is given, too; and it stays given.
func TestLaterRoundsHaveOtherPrograms(t *testing.T) {
	set := func(seed string) { require.NoError(t, flag.Set("rapid.seed", seed)) }
	before := flag.Lookup("rapid.seed").Value.String()
	defer set(before)
	for _, seed := range []string{"7", "18446744073709551615"} {
		set(seed)
		drawn := map[int]bool{}
		for round := range 3 {
			restore := reseed(t, round)
			first := true
			rapid.Check(t, func(t *rapid.T) {
				if n := rapid.IntRange(0, 1<<40).Draw(t, "n"); first {
					drawn[n], first = true, false
				}
			})
			restore()
			require.Equal(t, seed, flag.Lookup("rapid.seed").Value.String())
		}
		require.Len(t, drawn, 3)
	}
}

// TestRefusesRunsOfNothing: by a number of programs below one every property would pass
// at once.
func TestRefusesRunsOfNothing(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for name, c := range map[string]struct {
		args []string
		env  string
		want string
	}{
		"negative":         {args: []string{"-rapid.checks=-3"}, want: "RAPID_CHECKS is -3, want at least 1"},
		"none":             {args: []string{"-rapid.checks=0"}, want: "RAPID_CHECKS is 0, want at least 1"},
		"none if divided":  {args: []string{"-rapid.checks=4", "-test.short"}, want: "RAPID_CHECKS is 4, want at least 5"},
		"from environment": {env: "RAPID_CHECKS=-1", want: "RAPID_CHECKS is -1, want at least 1"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(self, append([]string{"-test.run=^TestPropG1StatesMoveForward$"}, c.args...)...)
			cmd.Env = append(os.Environ(), c.env)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit, "%s", out)
			require.Equal(t, 2, exit.ExitCode(), "%s", out)
			require.Contains(t, string(out), c.want)
		})
	}
}
