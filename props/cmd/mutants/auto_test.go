package main

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
	return settings{root: module, out: t.TempDir(), auto: n, seed: 7, together: 3, parallel: 2, room: newRoom(2)}
}

// TestAutoJudge: each generic check has a verdict of its own on a pick that is judged whole; for
// another pick the first kill ends the search. The other checks run for picks that all checks
// before them missed, and the race detector only for mutants that may be races.
func TestAutoJudge(t *testing.T) {
	picks := somePicks(t, 60)
	locks := picks[slices.IndexFunc(picks, func(p auto.Pick) bool { return aboutLocks[p.Operator] })]
	other := picks[slices.IndexFunc(picks, func(p auto.Pick) bool { return !aboutLocks[p.Operator] })]
	all := []score.By{score.ByVirtual, score.ByInterleave, score.ByReal, score.BySockets, score.ByBlocking, score.ByExits, score.ByKit, score.ByRaceLane, score.ByTest, score.ByRaceTest}
	for _, c := range []struct {
		p      auto.Pick
		killer score.By
		whole  bool
		tried  []score.By
	}{
		{locks, "", true, all},
		{locks, "", false, all},
		{locks, score.ByRaceTest, true, all},
		{locks, score.ByRaceLane, true, all[:8]},
		{locks, score.ByVirtual, true, all[:7]},
		{locks, score.ByVirtual, false, all[:1]},
		{locks, score.ByReal, false, all[:3]},
		{other, score.ByKit, true, all[:7]},
		{other, score.ByTest, true, append(append([]score.By(nil), all[:7]...), score.ByTest)},
		{other, score.ByTest, false, append(append([]score.By(nil), all[:7]...), score.ByTest)},
	} {
		var tried []score.By
		j := &autoJudge{settings: autoSettings(t, 1), checks: map[score.By]autoCheck{}}
		for _, by := range score.Order() {
			j.checks[by] = func(m mutant.Mutant, pkg, dir string) (score.Look, bool, error) {
				require.Equal(t, c.p.Package(), pkg)
				require.Empty(t, m.Guarantee, "every property looks for it")
				tried = append(tried, by)
				return score.Look{Killed: by == c.killer, What: "seen\ngoroutine 1"}, true, nil
			}
		}
		v, err := j.judge(c.p, c.whole)
		require.NoError(t, err)
		require.Equal(t, c.whole, v.Whole())
		require.Equal(t, c.tried, tried)
		require.Equal(t, c.killer, v.By())
		require.Len(t, v.Looks, len(tried))
		if c.killer == "" {
			require.Equal(t, score.Survived, v.Verdict)
			continue
		}
		require.Equal(t, score.Killed, v.Verdict)
		require.Equal(t, "seen", v.What(), "without the stack, which names files of one machine")
	}

	j := &autoJudge{settings: autoSettings(t, 1), checks: map[score.By]autoCheck{}}
	for _, by := range score.Order() {
		j.checks[by] = func(mutant.Mutant, string, string) (score.Look, bool, error) {
			return score.Look{}, by == score.ByTest, nil
		}
	}
	v, err := j.judge(other, true)
	require.NoError(t, err)
	require.Len(t, v.Looks, 1, "a check that does not run the package has no verdict")
}

// TestWhole: of the picks of a seed some are judged by every generic check; where one kind of
// check looks, it looks for all.
func TestWhole(t *testing.T) {
	all, one, two := settings{}, settings{by: "sockets"}, settings{by: "virtual,sockets"}
	wholes := 0
	for nth := range 10 * wholeEvery {
		if all.whole(nth) {
			wholes++
		}
		require.True(t, one.whole(nth))
		require.False(t, two.whole(nth))
	}
	require.Equal(t, 10, wholes)
}

// TestAutoLook: a lane that ends before its first run has killed a mechanical mutant; a
// lane that could not be asked is an error.
func TestAutoLook(t *testing.T) {
	for name, c := range map[string]struct {
		r      lane.Result
		err    error
		killed bool
		what   string
	}{
		"crash":       {err: lane.ErrSilent{Ending: lane.Crashed, Output: "panic: nil map\n"}, killed: true, what: "before its first run: panic: nil map"},
		"hang, twice": {err: errors.Join(lane.ErrSilent{Ending: lane.Hung}), killed: true, what: "before its first run"},
		"no go":       {err: errors.New("no go command")},
		"a violation": {r: lane.Result{Runs: 3, Failed: map[string]string{"G3": "G3 lost"}}, killed: true, what: "G3 lost"},
		"nothing":     {r: lane.Result{Runs: 3}},
	} {
		look, looked, err := lookOf(c.r, c.err)
		require.Equal(t, c.killed, look.Killed, name)
		require.Contains(t, look.What, c.what)
		require.Equal(t, looked, err == nil)
		require.Equal(t, c.r.Runs, look.Runs)
	}
	a := &autoLanes{settings: autoSettings(t, 1)}
	for _, check := range []autoCheck{a.virtual, a.real, a.schedules(false, 1)} {
		_, looked, err := check(planted("G3"), "core/tcp", "")
		require.NoError(t, err)
		require.False(t, looked, "the lanes do not run core/tcp")
	}
}

// TestEveryPackageIsMeasured: each package below core is measured, or has a reason not to be.
func TestEveryPackageIsMeasured(t *testing.T) {
	tree, err := coreTree(module)
	require.NoError(t, err)
	there := map[string]bool{}
	for _, p := range tree {
		there[p.name()] = true
		require.True(t, slices.Contains(measured, p.name()) != (unmeasured[p.name()] != ""), "%s is to be in measured or in unmeasured", p.name())
	}
	for _, name := range append(slices.Collect(maps.Keys(unmeasured)), measured...) {
		require.True(t, there[name], "there is no %s", name)
	}
	require.Equal(t, []string{"core/tracked", "core/watch"}, packagesFor("core/tracked", tree))
	all := packagesFor("core", tree)
	require.Equal(t, "core", all[0], "its own tests first")
	require.Subset(t, all, []string{"core/tcp", "core/blocking", "core/process", "core/tracked", "core/pollertest"})
	require.NotContains(t, all, "core/tcp/examples/echo", "it shows how core/tcp is used")
	require.NotContains(t, packagesFor("core/internal/coretest/underload", tree), "core/internal/coretest/underload", "it has no tests")
}

// TestLikelyTestsFirst: the tests in the files named after the mutated one run before all.
func TestLikelyTestsFirst(t *testing.T) {
	r := newTestRunner(autoSettings(t, 1), nil)
	pattern := r.likely("core", "core/timerheap.go")
	require.Regexp(t, `^\^\(\w+(\|\w+)*\)\$$`, pattern)
	text, err := os.ReadFile(filepath.Join(module, "core", "timerheap_test.go"))
	require.NoError(t, err)
	require.Contains(t, string(text), "func "+strings.FieldsFunc(pattern, func(c rune) bool { return strings.ContainsRune("^(|)$", c) })[0]+"(")
	require.Empty(t, r.likely("core/tcp", "core/timerheap.go"), "another package")
	require.Empty(t, r.likely("core", "core/nothing.go"))
}

// TestFailedTest: the test to run again is the first that failed, or that ran when the time
// was over.
func TestFailedTest(t *testing.T) {
	for out, want := range map[string]string{
		"--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/b (0.0s)\n--- FAIL: TestC (0.1s)\n": "TestA",
		"panic: test timed out after 30s\n\trunning tests:\n\t\tTestSlow (29s)\n":        "TestSlow",
		"panic: out of luck\n": "",
	} {
		require.Equal(t, want, failedTest(out), out)
	}
}

// TestAutoGoesOn: what is judged is kept, and judged once; a pick that cannot be judged is
// an error that names it, and does not keep the others from their turn.
func TestAutoGoesOn(t *testing.T) {
	s := autoSettings(t, 4)
	picks := somePicks(t, 4)
	f, err := s.openScore(9, &bytes.Buffer{})
	require.NoError(t, err)
	j := &autoJob{settings: s, file: f, progress: &bytes.Buffer{}}
	judge := func(p auto.Pick, _ bool) (score.Pick, error) {
		if p.Name() == picks[0].Name() {
			return score.Pick{}, errors.New("no compiler")
		}
		return newScore(p, s.seed), nil
	}
	require.ErrorContains(t, j.run(judge, picks), picks[0].Name()+": no compiler")
	f, err = s.openScore(9, &bytes.Buffer{})
	require.NoError(t, err)
	require.Len(t, f.Picks, 3)
	for _, p := range picks[1:] {
		_, known := f.Known(p.Name())
		require.True(t, known)
	}
}

// TestAPickOfTwoSeeds: what is known of a pick by another seed is kept for this one too, without a
// gap behind which no pick is kept.
func TestAPickOfTwoSeeds(t *testing.T) {
	s := autoSettings(t, 2)
	picks, draw, sites, err := s.drawPicks()
	require.NoError(t, err)
	f, err := s.openScore(sites, &bytes.Buffer{})
	require.NoError(t, err)
	for i, p := range picks {
		v := newScore(p, s.seed+uint64(i)) // the second pick was judged for another seed
		require.NoError(t, f.Put(v))
	}
	f, err = s.judgePicks(&bytes.Buffer{})
	require.NoError(t, err)
	require.Len(t, f.Picks, 3)
	var kept score.Kept
	kept.Keep(f)
	require.Equal(t, []score.Draw{draw}, kept.Runs[0].Draws)
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
		v.Verdict, v.Looks = score.Killed, []score.Look{{By: score.ByTest, Killed: true, What: "it is seen"}}
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
	tree, err := coreTree(module)
	require.NoError(t, err)
	r := newTestRunner(autoSettings(t, 1), tree)
	for change, want := range map[string]bool{"return ExitUsage + 1\n": true, "return ExitUsage + 0\n": false} {
		m := mutant.Mutant{Name: "m", Edits: []mutant.Edit{{File: "internal/command/command.go", Old: "\treturn ExitUsage\n", New: "\t" + change}}}
		what, killed, err := r.try(tests{pkg: "internal/command"}, m, filepath.Join(t.TempDir(), "new"))
		require.NoError(t, err)
		require.Equal(t, want, killed, what)
		require.Equal(t, want, strings.Contains(what, "_test.go:"), what)
	}
	_, err = r.control(tests{pkg: "props/nowhere"})
	require.ErrorContains(t, err, "nowhere")
}

// TestAutoShadowsSee: each lane of package shadow kills a mutant of its package, and does not look for
// one of a package that it does not run.
func TestAutoShadowsSee(t *testing.T) {
	if testing.Short() {
		t.Skip("builds lanes")
	}
	a := &autoLanes{settings: autoSettings(t, 1)}
	a.stall = autoStall
	for _, c := range []struct{ lane, pkg, file, old, new string }{
		{"sockets", "core/tcp", "core/tcp/flush.go", "\t\tc.sent += int64(n)\n", "\t\tc.sent += int64(n) + 1\n"},
		{"blocking", "core/blocking", "core/blocking/outbound.go", "\to.writes++\n", "\to.writes--\n"},
		{"exits", "core/process", "core/process/report.go", "\t\tn += s.Lost\n", "\t\tn -= s.Lost\n"},
	} {
		m := mutant.Mutant{Name: "m", Edits: []mutant.Edit{{File: c.file, Old: c.old, New: c.new}}}
		look, looked, err := a.shadowed(c.lane)(m, c.pkg, t.TempDir())
		require.NoError(t, err)
		require.True(t, looked)
		require.True(t, look.Killed, look.What)
		_, looked, err = a.shadowed(c.lane)(m, "core/frame", "")
		require.NoError(t, err)
		require.False(t, looked, "the lane does not run core/frame")
	}
}

// TestAutoRefusals: flags that narrow a run need one, and a kept run is not narrowed.
func TestAutoRefusals(t *testing.T) {
	for _, s := range []settings{
		{pkg: "core/tcp"}, {by: "sockets"}, {auto: 1}, {auto: 1, pkg: "core/udp"}, {auto: 1, by: "magic"}, {auto: 1, by: "sockets", keep: true}, {auto: 1, pkg: "core", keep: true},
	} {
		if s.pkg+s.by != "" {
			s.together = 1
		}
		require.Error(t, s.checkAuto(), "%+v", s)
	}
	ok := settings{auto: 1, together: 1, pkg: "core/tcp", by: "sockets"}
	require.NoError(t, ok.checkAuto())
}

// TestKeptRuns: -keep adds a run to the kept runs, with the classes of its survivors,
// and -auto-check compares the newest with the others.
func TestKeptRuns(t *testing.T) {
	root := t.TempDir()
	s := settings{root: root}
	of := func(sources string, kills, n int) *score.File {
		f := &score.File{Schema: 2, Sources: sources, Draws: []score.Draw{{Seed: 7, Picks: n}}}
		for i := range n {
			p := score.Pick{Seed: 7, Nth: i, Verdict: score.Survived}
			if i < kills {
				p.Verdict, p.Looks = score.Killed, []score.Look{{By: score.ByKit, Killed: true}}
			}
			f.Picks = append(f.Picks, p)
		}
		return f
	}
	check := func() (int, string) {
		var stdout, stderr bytes.Buffer
		code := s.checkKept(&stdout, &stderr)
		require.Empty(t, stderr.String())
		return code, stdout.String()
	}
	require.NoError(t, s.keepRun(of("a", 50, 60)))
	code, text := check()
	require.Equal(t, 3, code)
	require.Contains(t, text, "has 1 runs, want two to compare")
	require.NoError(t, s.keepRun(of("b", 49, 60)))
	code, text = check()
	require.Zero(t, code)
	require.Contains(t, text, "generic checks: killed 81.7 %")
	require.NoError(t, s.keepRun(of("c", 30, 60)))
	code, text = check()
	require.Equal(t, 1, code)
	require.Contains(t, text, "HAS FALLEN")

	keep := filepath.Join(root, classified, "one.mutant")
	require.NoError(t, os.WriteFile(filepath.Join(root, "a.go"), []byte("old\n"), 0o644))
	require.NoError(t, os.WriteFile(keep, []byte("guarantee: all\nstands for: it\n# memory: because\nfile: a.go\n<<<<\nold\n====\nnew\n>>>>\n"), 0o644))
	f := of("c", 30, 60)
	f.Picks[59].Edit = score.Edit{File: "a.go", Old: "old\n", New: "new\n"}
	require.NoError(t, s.keepRun(f))
	k, err := score.ReadKept(filepath.Join(root, keptRuns))
	require.NoError(t, err)
	require.Equal(t, 1, score.Total(k.Picks()).Aside())
}
