package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventide/props/lane"
	"eventide/props/mutant"
	"eventide/props/mutant/auto"
	"eventide/props/mutant/score"

	"github.com/stretchr/testify/require"
)

// somePicks are picks of the packages that are measured.
func somePicks(t *testing.T, n int) []auto.Pick {
	t.Helper()
	picks, draw, sites, err := settings{root: module, auto: n, seed: 7}.drawPicks()
	require.NoError(t, err)
	require.Equal(t, n, draw.Picks)
	require.Greater(t, sites, 1000)
	return picks
}

// autoSettings are those of a run of n picks that writes to a directory of the test.
func autoSettings(t *testing.T, n int) settings {
	return settings{root: module, out: t.TempDir(), auto: n, seed: 7, parallel: 2, room: newRoom(2)}
}

// TestAutoJudgeStopsAtTheFirstKill: the checks look in the order of the score, and the first
// that sees the pick is named.
func TestAutoJudgeStopsAtTheFirstKill(t *testing.T) {
	p := somePicks(t, 1)[0]
	for i, killer := range append(score.Order(), "") {
		var tried []score.By
		j := &autoJudge{settings: autoSettings(t, 1), checks: map[score.By]autoCheck{}}
		for _, by := range score.Order() {
			j.checks[by] = func(m mutant.Mutant, pkg, dir string) (string, bool, error) {
				require.Equal(t, p.Package(), pkg)
				require.Empty(t, m.Guarantee, "every property looks for it")
				tried = append(tried, by)
				return "seen", by == killer, nil
			}
		}
		v, err := j.judge(p)
		require.NoError(t, err)
		require.Equal(t, killer, v.By)
		require.Len(t, tried, min(i+1, len(score.Order())))
		if killer == "" {
			require.Equal(t, score.Survived, v.Verdict)
			continue
		}
		require.Equal(t, score.Killed, v.Verdict)
		require.Equal(t, "seen", v.What)
	}
}

// TestAutoCheckOfALane: a lane that ends before its first run has killed a mechanical
// mutant; a lane that could not be asked is an error.
func TestAutoCheckOfALane(t *testing.T) {
	m := planted("G3")
	for name, c := range map[string]struct {
		err    error
		killed bool
		what   string
	}{
		"crash":       {lane.ErrSilent{Ending: lane.Crashed, Output: "panic: nil map\n"}, true, "before its first run: panic: nil map"},
		"hang, twice": {errors.Join(lane.ErrSilent{Ending: lane.Hung}), true, "before its first run"},
		"no go":       {errors.New("no go command"), false, ""},
	} {
		what, killed, err := inLane(func(mutant.Mutant, *entry, string) (bool, error) { return false, c.err })(m, "core", t.TempDir())
		require.Equal(t, c.killed, killed, name)
		require.Contains(t, what, c.what)
		require.Equal(t, c.killed, err == nil)
	}
	_, killed, err := onlyCore(func(mutant.Mutant, string, string) (string, bool, error) { return "", true, nil })(m, "core/tcp", "")
	require.NoError(t, err)
	require.False(t, killed, "the lane does not instrument core/tcp")
}

// TestAutoGoesOn: what is judged is kept, and judged once; a pick that cannot be judged is
// an error that names it, and does not keep the others from their turn.
func TestAutoGoesOn(t *testing.T) {
	s := autoSettings(t, 4)
	picks := somePicks(t, 4)
	f, err := s.openScore(9, &bytes.Buffer{})
	require.NoError(t, err)
	j := &autoJob{settings: s, file: f, progress: &bytes.Buffer{}, judge: func(p auto.Pick) (score.Pick, error) {
		if p.Name() == picks[0].Name() {
			return score.Pick{}, errors.New("no compiler")
		}
		return newScore(p, s.seed), nil
	}}
	require.ErrorContains(t, j.run(picks), picks[0].Name()+": no compiler")
	f, err = s.openScore(9, &bytes.Buffer{})
	require.NoError(t, err)
	require.Len(t, f.Picks, 3)
	for _, p := range picks[1:] {
		_, known := f.Known(p.Name())
		require.True(t, known)
	}
}

// TestAutoClasses: a survivor with a file that says why is set aside; a pick that is killed
// although a file says that none can see it is an error; so is a file without a reason.
func TestAutoClasses(t *testing.T) {
	p := somePicks(t, 1)[0]
	dir := t.TempDir()
	keep := func(line string) {
		m := p.Mutant()
		text := "guarantee: all\nstands for: " + m.StandsFor + "\n" + line + "\nfile: " + m.Edits[0].File +
			"\n<<<<\n" + m.Edits[0].Old + "====\n" + m.Edits[0].New + ">>>>\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, "one.mutant"), []byte(text), 0o644))
	}
	none, err := readClasses(module, dir)
	require.NoError(t, err)
	require.Empty(t, none)

	for _, verdict := range []score.Verdict{score.Equivalent, score.Slower, score.Larger} {
		keep("# " + string(verdict) + ": because")
		all, err := readClasses(module, dir)
		require.NoError(t, err)
		v, err := all.apply(p, newScore(p, 1))
		require.NoError(t, err)
		require.Equal(t, verdict, v.Verdict)
		require.Equal(t, "because", v.Proof)
		v.Verdict, v.By, v.What = score.Killed, score.ByTest, "it is seen"
		_, err = all.apply(p, v)
		require.ErrorContains(t, err, "one is said to be "+string(verdict)+" (because), and tests see it: it is seen")
	}
	other, err := readClasses(module, dir)
	require.NoError(t, err)
	v, err := other.apply(somePicks(t, 2)[1], newScore(p, 1))
	require.NoError(t, err)
	require.Equal(t, score.Survived, v.Verdict, "it is another change")

	keep("# lane: test")
	_, err = readClasses(module, dir)
	require.ErrorContains(t, err, "no reason")
}

// TestAutoTestsSee: the tests of a package kill a mutant of it, and do not kill a change
// that means nothing.
func TestAutoTestsSee(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs tests of a package three times")
	}
	r := newTestRunner(autoSettings(t, 1))
	r.usual["internal/commandfalse"] = time.Minute
	for change, want := range map[string]bool{"return ExitUsage + 1\n": true, "return ExitUsage + 0\n": false} {
		m := mutant.Mutant{Name: "m", Edits: []mutant.Edit{{File: "internal/command/command.go", Old: "\treturn ExitUsage\n", New: "\t" + change}}}
		what, killed, err := r.try(m, "internal/command", t.TempDir(), false)
		require.NoError(t, err)
		require.Equal(t, want, killed, what)
		require.Equal(t, want, strings.Contains(what, "_test.go:"), what)
	}
	_, err := r.control("props/nowhere", false)
	require.ErrorContains(t, err, "nowhere")
}
