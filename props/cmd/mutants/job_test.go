package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"eventide/props/mutant"

	"github.com/stretchr/testify/require"
)

// fixture is a module in miniature with three mutants, and a job that does not
// build them.
type fixture struct {
	*job
	t        *testing.T
	fails    map[string]error // of try
	survives map[string]bool

	mu    sync.Mutex
	tried []string
}

func newFixture(t *testing.T) *fixture {
	root := t.TempDir()
	f := &fixture{t: t, fails: map[string]error{}, survives: map[string]bool{}}
	f.job = &job{
		settings: settings{root: root, dirs: []string{filepath.Join(root, "mutants")}, out: filepath.Join(root, "out"), parallel: 2, room: newRoom(2)},
		try:      f.pretend, control: func() error { return nil }, progress: &bytes.Buffer{},
	}
	for file, text := range map[string]string{
		"core/a.go": "a\nb\nc\n", "core/a_test.go": "", "props/p.go": "", "props/lane_test.go": "", "props/prop_test.go": "",
		"props/history/h.go": "", "model/m.go": "",
	} {
		f.write(file, text)
	}
	for _, name := range []string{"a", "b", "c"} {
		f.write("mutants/"+name+".mutant", mutantText(name, "x"))
	}
	return f
}

// mutantText replaces one line of core/a.go.
func mutantText(old, new string) string {
	return "guarantee: G3\nstands for: a test\nfile: core/a.go\n<<<<\n" + old + "\n====\n" + new + "\n>>>>\n"
}

func (f *fixture) write(file, text string) {
	path := filepath.Join(f.root, file)
	require.NoError(f.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(f.t, os.WriteFile(path, []byte(text), 0o644))
}

// pretend is try without a lane.
func (f *fixture) pretend(m mutant.Mutant) (entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tried = append(f.tried, m.Name)
	e := newEntry(m)
	if f.survives[m.Name] {
		e.survived()
	} else {
		e.killed(kill{by: "G3", predicate: "S2", what: "task 2 never ran"})
	}
	return e, f.fails[m.Name]
}

// again runs the job anew and returns which mutants it tried.
func (f *fixture) again() (report, []string, error) {
	planted, err := mutant.Load(f.dirs[0])
	require.NoError(f.t, err)
	f.tried, f.done = nil, 0
	r, err := f.run(planted)
	return r, slices.Sorted(slices.Values(f.tried)), err
}

// TestKnownVerdictsAreKept: a verdict holds as long as the mutant, core and the
// checks are what they were, and no longer.
func TestKnownVerdictsAreKept(t *testing.T) {
	all := []string{"a", "b", "c"}
	for name, c := range map[string]struct {
		change func(*fixture)
		want   []string
	}{
		"nothing changed":     {func(*fixture) {}, nil},
		"one mutant":          {func(f *fixture) { f.write("mutants/b.mutant", mutantText("b", "y")) }, []string{"b"}},
		"a new mutant":        {func(f *fixture) { f.write("mutants/d.mutant", mutantText("c", "y")) }, []string{"d"}},
		"core":                {func(f *fixture) { f.write("core/a.go", "a\nb\nc\nd\n") }, all},
		"a part of core":      {func(f *fixture) { f.write("core/internal/tasks/q.go", "x") }, all},
		"a property":          {func(f *fixture) { f.write("props/p.go", "x") }, all},
		"a predicate":         {func(f *fixture) { f.write("props/history/h.go", "x") }, all},
		"the model":           {func(f *fixture) { f.write("model/m.go", "x") }, all},
		"the lane":            {func(f *fixture) { f.write("props/lane_test.go", "x") }, all},
		"other tests":         {func(f *fixture) { f.write("core/a_test.go", "x"); f.write("props/prop_test.go", "x") }, nil},
		"-force":              {func(f *fixture) { f.force = true }, all},
		"the file is removed": {func(f *fixture) { require.NoError(t, os.RemoveAll(f.out)) }, all},
		"another schema":      {func(f *fixture) { f.write("out/mutants.json", `{"schema":9}`) }, all},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			_, tried, err := f.again()
			require.NoError(t, err)
			require.Equal(t, all, tried)
			c.change(f)
			r, tried, err := f.again()
			require.NoError(t, err)
			require.Equal(t, c.want, tried)
			require.GreaterOrEqual(t, len(r.Mutants), len(all))
		})
	}
}

// TestInterruptedJobGoesOn: what was finished before an error is not run again,
// and one that cannot be run does not keep the others from it.
func TestInterruptedJobGoesOn(t *testing.T) {
	f := newFixture(t)
	f.fails["b"] = errors.New("does not build")
	r, _, err := f.again()
	require.EqualError(t, err, "b: does not build")
	require.Len(t, r.Mutants, 2)
	delete(f.fails, "b")
	r, tried, err := f.again()
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, tried)
	require.Len(t, r.Mutants, 3)
}

// TestSurvivor: it is in the report, the score and the exit code, and stays there
// when it is not run again.
func TestSurvivor(t *testing.T) {
	f := newFixture(t)
	f.survives["c"] = true
	for range 2 {
		r, _, err := f.again()
		require.NoError(t, err)
		require.Equal(t, 1, r.exitCode())
		require.InDelta(t, 2.0/3, r.Score, 1e-9)
		require.Equal(t, survived, r.Mutants[2].Verdict)
	}
}

// TestOneMutantLeavesTheOthers: a job about one mutant keeps what the file knows.
func TestOneMutantLeavesTheOthers(t *testing.T) {
	f := newFixture(t)
	_, _, err := f.again()
	require.NoError(t, err)
	planted, err := mutant.Load(f.dirs[0])
	require.NoError(t, err)
	f.force = true
	r, err := f.run(planted[:1])
	require.NoError(t, err)
	require.Len(t, r.Mutants, 1)
	kept, err := readReport(filepath.Join(f.out, "mutants.json"))
	require.NoError(t, err)
	require.Len(t, kept.Mutants, 3)
}

// TestNothingRunsWithoutControl: a lane that finds something in core itself says
// nothing about mutants.
func TestNothingRunsWithoutControl(t *testing.T) {
	f := newFixture(t)
	f.control = func() error { return errors.New("finds something") }
	r, tried, err := f.again()
	require.EqualError(t, err, "finds something")
	require.Empty(t, tried)
	require.Empty(t, r.Mutants)
}

// TestWhatDoesNotApplyIsAnError, not a skip.
func TestWhatDoesNotApplyIsAnError(t *testing.T) {
	f := newFixture(t)
	f.write("core/a.go", "a\nc\n")
	_, tried, err := f.again()
	require.ErrorContains(t, err, "b no longer applies")
	require.Empty(t, tried)
}

// TestColumns: what is kept of plain stress and of the properties is shown as long as the
// mutant changes what it changed then; a mutant that is gone is forgotten.
func TestColumns(t *testing.T) {
	f := newFixture(t)
	_, _, err := f.again()
	require.NoError(t, err)
	planted, err := mutant.Load(f.dirs[0])
	require.NoError(t, err)
	stress, err := readKept[stressed](f.stressFile())
	require.NoError(t, err)
	alone, err := readKept[killers](f.aloneFile())
	require.NoError(t, err)
	for _, m := range planted[:2] {
		require.NoError(t, stress.put(m, stressed{Verdict: survived}))
		require.NoError(t, alone.put(m, killers{Own: "G3", All: []string{"G3"}}))
	}
	f.write("mutants/b.mutant", mutantText("b", "y"))
	require.NoError(t, os.Remove(filepath.Join(f.root, "mutants", "c.mutant")))
	f.there = map[string]bool{"a": true, "b": true}
	r, _, err := f.again()
	require.NoError(t, err)
	require.Equal(t, survived, r.Mutants[0].Stress)
	require.True(t, r.Mutants[0].Unique)
	require.Equal(t, notRun, r.Mutants[1].Stress, "it is not what it was")
	require.Empty(t, r.Mutants[1].Killers)
	written, err := readReport(filepath.Join(f.out, "mutants.json"))
	require.NoError(t, err)
	require.Equal(t, r, written)
}

func TestBrokenReport(t *testing.T) {
	f := newFixture(t)
	f.write("out/mutants.json", "{")
	_, _, err := f.again()
	require.ErrorContains(t, err, "remove it to start over")
}

func TestProgress(t *testing.T) {
	f := newFixture(t)
	_, _, err := f.again()
	require.NoError(t, err)
	text := f.progress.(*bytes.Buffer).String()
	require.Contains(t, text, "3 mutants, 0 of them known from ")
	require.Equal(t, 3, strings.Count(text, ": killed G3 S2, virtual, 0 runs, 0.0 s\n"))
	require.Contains(t, text, "[3/3] ")
}
