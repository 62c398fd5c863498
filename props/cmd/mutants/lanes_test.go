package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"eventide/props/lane"
	"eventide/props/mutant"

	"github.com/stretchr/testify/require"
)

// TestLanes: who looks for a mutant is what its file says; one that the virtual lane
// does not see is looked for by the lane that chooses schedules.
func TestLanes(t *testing.T) {
	found := map[string]string{"G3": "G3 accepted tasks run before done: task 2 never ran"}
	for name, c := range map[string]struct {
		mark    mark
		virtual lane.Result
		killer  string // the lane that sees it
		tried   []string
		verdict string
		in      string
	}{
		"seen in virtual time":      {mark{}, lane.Result{Runs: 1, Failed: found}, "", nil, killed, "virtual"},
		"seen in a schedule":        {mark{}, lane.Result{Runs: 1}, laneInterleave, []string{laneInterleave}, killed, laneInterleave},
		"seen in neither":           {mark{}, lane.Result{Runs: 1}, "", []string{laneInterleave}, survived, "virtual+interleave"},
		"marked, and seen":          {mark{lane: laneInterleave}, lane.Result{}, laneInterleave, []string{laneInterleave}, killed, laneInterleave},
		"marked as a race, missed":  {mark{lane: laneRace}, lane.Result{}, "", []string{laneRace}, survived, laneRace},
		"a test that sees it":       {mark{lane: laneTest, killer: "^TestX$"}, lane.Result{}, laneTest, []string{"^TestX$"}, killed, laneTest},
		"a test that overlooked it": {mark{lane: laneTest, killer: "^TestX$"}, lane.Result{}, laneInterleave, []string{"^TestX$", laneInterleave}, killed, laneInterleave},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := scripted(t, map[string]lane.Result{"G3": c.virtual, "": c.virtual})
			s.interleave = time.Second
			s.marks = map[string]mark{"m": c.mark}
			var tried []string
			s.schedules = func(m mutant.Mutant, e *entry, dir string, race bool) (bool, error) {
				own := map[bool]string{false: laneInterleave, true: laneRace}[race]
				tried = append(tried, own)
				if own == c.killer {
					e.killed(kill{by: "G3"})
				}
				return own == c.killer, nil
			}
			s.tests = func(m mutant.Mutant, by mark, e *entry, dir string) (bool, error) {
				tried = append(tried, by.killer)
				if c.killer == laneTest {
					e.killed(kill{by: byTest})
				}
				return c.killer == laneTest, nil
			}
			e, err := s.try(planted("G3"))
			require.NoError(t, err)
			require.Equal(t, c.tried, tried)
			require.Equal(t, c.verdict, e.Verdict)
			require.Equal(t, c.in, e.Lane)
		})
	}
}

// TestKillerIsTriedWithoutTheMutant: a test that fails by itself, or is not there,
// kills nothing.
func TestKillerIsTriedWithoutTheMutant(t *testing.T) {
	for want, c := range map[string]struct {
		out    string
		failed bool
	}{
		"fail without a mutant": {"--- FAIL", true},
		"there is no such test": {"testing: warning: no tests to run\nPASS\n", false},
	} {
		r := newTestRunner(settings{root: module, room: newRoom(1)}, nil)
		r.binary = func(tests, mutant.Mutant, string) (string, error) { return "", nil }
		r.run = func(tests, string, time.Duration) (string, bool, error) { return c.out, !c.failed, nil }
		e := entry{}
		_, err := r.planted(planted("G3"), mark{killer: "^TestX$"}, &e, t.TempDir())
		require.ErrorContains(t, err, want)
		require.Empty(t, e.Verdict)
	}
}

// TestPackageOfPropertiesAlone: where every test of a package is skipped, the tests written by
// hand kill nothing, and that is no error. Otherwise no pick of such a package is judged.
func TestPackageOfPropertiesAlone(t *testing.T) {
	r := newTestRunner(settings{root: module, room: newRoom(1)}, nil)
	r.binary = func(tests, mutant.Mutant, string) (string, error) { return "", nil }
	r.run = func(tests, string, time.Duration) (string, bool, error) {
		return "testing: warning: no tests to run\nPASS\n", true, nil
	}
	_, killed, err := r.try(tests{pkg: "core/internal/poll", skip: "Prop"}, planted("G12"), t.TempDir())
	require.NoError(t, err)
	require.False(t, killed)
}

// TestKillerIsTriedWithoutTheMutantOnce: for all mutants that it is to kill, in the package
// that their files name, and without the lane that chooses schedules: that has core only.
func TestKillerIsTriedWithoutTheMutantOnce(t *testing.T) {
	r := newTestRunner(settings{root: module, room: newRoom(1)}, nil)
	var built []string
	r.binary = func(t tests, m mutant.Mutant, _ string) (string, error) {
		built = append(built, t.pkg+" "+m.Name)
		return m.Name, nil
	}
	r.run = func(_ tests, bin string, limit time.Duration) (string, bool, error) {
		require.Equal(t, testLimit, limit, "without a mutant the limit ends no test either")
		return "x_test.go:1: y", bin == "", nil
	}
	by := mark{lane: laneTest, killer: "^TestX$", pkg: "model"}
	for range 2 {
		e := entry{}
		found, err := r.planted(planted("G3"), by, &e, filepath.Join(t.TempDir(), "mutant"))
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, "x_test.go:1: y", e.Reason)
	}
	require.Equal(t, []string{"model ", "model m", "model m"}, built)
	s := newSearcher(settings{interleave: time.Second})
	s.marks = map[string]mark{"m": by}
	require.Equal(t, []string{laneTest, laneInterleave}, s.lanes(planted("G3")))
	elsewhere := mutant.Mutant{Name: "m", Edits: []mutant.Edit{{File: "core/tcp/read.go"}}}
	require.Equal(t, []string{laneTest}, s.lanes(elsewhere))
}

// TestKillersExist: each planted bug that names its test names one that there is.
func TestKillersExist(t *testing.T) {
	for _, dir := range defaultDirs {
		all, marks, err := loadAll([]string{filepath.Join(module, dir)})
		require.NoError(t, err)
		for _, m := range all {
			by := marks[m.Name]
			if by.killer == "" {
				continue
			}
			top, _, _ := strings.Cut(by.killer, "/")
			pattern, err := regexp.Compile(top)
			require.NoError(t, err, m.Name)
			files, err := filepath.Glob(filepath.Join(module, by.packageOf(m), "*_test.go"))
			require.NoError(t, err)
			found := slices.ContainsFunc(files, func(file string) bool {
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				return slices.ContainsFunc(declared.FindAllSubmatch(text, -1), func(match [][]byte) bool { return pattern.Match(match[1]) })
			})
			require.True(t, found, "%s: %s has no %s", m.Name, by.packageOf(m), top)
		}
	}
}

// TestNotExercisedIsNoKill: a property that saw too little has not seen the mutant, and
// runs again; without a mutant it shows nothing either.
func TestNotExercisedIsNoKill(t *testing.T) {
	seldom := "--- FAIL: TestPropX (0.1s)\n    sightings_test.go:63: G8: exercised by 0 of 400 programs\n    sightings_test.go:65: " + lane.NotExercised + "G8: 400 programs\nFAIL\n"
	broken := "--- FAIL: TestPropX (0.1s)\n    x_test.go:1: G8 a body began\nFAIL\n"
	r := newTestRunner(settings{root: module, room: newRoom(1), all: time.Hour}, nil)
	r.binary = func(_ tests, m mutant.Mutant, _ string) (string, error) { return m.Name, nil }
	runs := 0
	r.run = func(_ tests, bin string, _ time.Duration) (string, bool, error) {
		if bin == "" {
			return "", true, nil
		}
		if runs++; runs < 3 {
			return seldom, false, nil
		}
		return seldom + broken, false, nil
	}
	by := mark{lane: laneTest, killer: "^TestPropX$", pkg: "model"}
	e := entry{}
	found, err := r.planted(planted("G8"), by, &e, filepath.Join(t.TempDir(), "mutant"))
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, 3, e.Schedules)
	r.run = func(tests, string, time.Duration) (string, bool, error) { return seldom, false, nil }
	by.killer = "^TestPropY$"
	_, err = r.planted(planted("G8"), by, &e, filepath.Join(t.TempDir(), "mutant"))
	require.ErrorContains(t, err, "fail without a mutant")
}

// TestEquivalent: one that nobody sees is equivalent if its file says why; one that
// somebody sees has a proof that is wrong.
func TestEquivalent(t *testing.T) {
	found := map[string]string{"G3": "G3 accepted tasks run before done: task 2 never ran"}
	s, _ := scripted(t, map[string]lane.Result{"G3": {Runs: 1}, "": {Runs: 1}})
	s.marks = map[string]mark{"m": {lane: laneVirtual, equivalent: "the line is never reached"}}
	e, err := s.try(planted("G3"))
	require.NoError(t, err)
	require.Equal(t, equivalent, e.Verdict)
	require.Equal(t, "the line is never reached", e.Reason)
	s, _ = scripted(t, map[string]lane.Result{"G3": {Runs: 1, Failed: found}})
	s.marks = map[string]mark{"m": {lane: laneVirtual, equivalent: "the line is never reached"}}
	_, err = s.try(planted("G3"))
	require.ErrorContains(t, err, "it is said to be equivalent (the line is never reached), and G3 S2 sees it")
}

// TestInterleaveControl: a lane that finds something in core itself says nothing about
// mutants, and is asked once.
func TestInterleaveControl(t *testing.T) {
	i := newInterleaver(settings{root: module, out: t.TempDir()})
	asked := 0
	i.build = func(string, map[string]string, bool) (string, error) { return "", nil }
	i.look = func(_, _, lean string, _ bool, _ time.Duration) (lane.Result, error) {
		asked++
		require.Empty(t, lean)
		return lane.Result{Runs: 1, Failed: map[string]string{"G5": "G5 x"}}, nil
	}
	for range 2 {
		_, err := i.try(planted("G3"), &entry{}, t.TempDir(), false)
		require.ErrorContains(t, err, "finds something without a mutant")
	}
	require.Equal(t, 1, asked)
	i = newInterleaver(settings{root: module, out: t.TempDir()})
	i.build = func(string, map[string]string, bool) (string, error) { return "", errors.New("does not build") }
	_, err := i.try(planted("G3"), &entry{}, t.TempDir(), true)
	require.EqualError(t, err, "does not build")
}

func TestMarks(t *testing.T) {
	write := func(dir, name, marks string) {
		require.NoError(t, os.MkdirAll(dir, 0o755))
		text := "guarantee: G3\nstands for: x\n" + marks + "file: core/a.go\n<<<<\n# lane: race\n====\ny\n>>>>\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".mutant"), []byte(text), 0o644))
	}
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	write(a, "one", "")
	write(a, "two", "# lane: interleave\n")
	write(b, "three", "# killed by: ^TestX$\n# package: model\n")
	all, marks, err := loadAll([]string{a, b})
	require.NoError(t, err)
	require.Len(t, all, 3)
	require.Equal(t, map[string]mark{"one": {lane: laneVirtual}, "two": {lane: laneInterleave}, "three": {lane: laneTest, killer: "^TestX$", pkg: "model"}}, marks)
	write(b, "one", "")
	_, _, err = loadAll([]string{a, b})
	require.ErrorContains(t, err, "there are two mutants one")
	for bad, want := range map[string]string{
		"# lane: fast\n": "two.mutant: the lane is", "# lane: test\n": "two.mutant: the lane is",
		"# package: model\n": "two.mutant: it names a package, and no test in it",
	} {
		write(a, "two", bad)
		_, _, err = loadAll([]string{a})
		require.ErrorContains(t, err, want)
	}
}
