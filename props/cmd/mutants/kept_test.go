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

	"github.com/stretchr/testify/require"
)

// named is a mutant that the stress program runs.
func named(name string) mutant.Mutant {
	m := planted("G3")
	m.Name = name
	return m
}

// TestKept: a result holds for the mutant that it is about, and is forgotten with it.
func TestKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "kept.json")
	k, err := readKept[stressed](path)
	require.NoError(t, err)
	a, b := named("a"), named("b")
	require.NoError(t, k.put(a, stressed{Verdict: killed}))
	require.NoError(t, k.put(b, stressed{Verdict: survived}))
	k, err = readKept[stressed](path)
	require.NoError(t, err)
	v, known := k.of(b)
	require.True(t, known)
	require.Equal(t, survived, v.Verdict)
	b.Edits = b.Edits[:1]
	_, known = k.of(b)
	require.False(t, known, "it changes something else")
	k.prune([]mutant.Mutant{b})
	require.Len(t, k.Mutants, 1)
	require.NoError(t, os.WriteFile(path, []byte("{"), 0o644))
	_, err = readKept[stressed](path)
	require.ErrorContains(t, err, "remove it to start over")
}

// pretender is a stresser that builds and runs nothing: what fails is told by the name
// of the directory.
func pretender(t *testing.T, fails func(bin string) bool) (*stresser, *bytes.Buffer) {
	var progress bytes.Buffer
	s, err := newStresser(settings{root: module, dirs: []string{t.TempDir()}, out: t.TempDir(), parallel: 2, stressFor: time.Second}, &progress)
	require.NoError(t, err)
	s.build = func(pkg, bin, overlay string) error { return nil }
	s.run = func(bin string, d time.Duration) (string, bool, error) {
		return "load_test.go:1: G3: accepted 2, ran 1", fails(bin), nil
	}
	return s, &progress
}

func TestStress(t *testing.T) {
	s, progress := pretender(t, func(bin string) bool { return strings.Contains(bin, "loud") })
	elsewhere := named("elsewhere")
	elsewhere.Edits = []mutant.Edit{{File: "core/tcp/read.go"}}
	all := []mutant.Mutant{named("loud"), named("quiet"), elsewhere}
	require.NoError(t, s.all(all))
	require.Contains(t, progress.String(), "2 mutants to stress for 1s each")
	v, known := s.kept.of(all[0])
	require.True(t, known)
	require.Equal(t, killed, v.Verdict)
	require.Equal(t, "load_test.go:1: G3: accepted 2, ran 1", v.Reason)
	v, _ = s.kept.of(all[1])
	require.Equal(t, survived, v.Verdict)
	_, known = s.kept.of(elsewhere)
	require.False(t, known, "the program does not run it")
	progress.Reset()
	require.NoError(t, s.all(all))
	require.Contains(t, progress.String(), "0 mutants to stress")
}

// TestStressWantsAControl: a program that fails without a mutant shows nothing.
func TestStressWantsAControl(t *testing.T) {
	s, _ := pretender(t, func(bin string) bool { return strings.Contains(bin, "control") })
	require.ErrorContains(t, s.all([]mutant.Mutant{named("quiet")}), "fails without a mutant")
	require.Empty(t, s.kept.Mutants)
}

// TestStressModeWantsSurvivors: with too few of them the bugs are too easy.
func TestStressModeWantsSurvivors(t *testing.T) {
	for survivors, want := range map[int]int{leastStressed - 1: 1, leastStressed: 0} {
		s, _ := pretender(t, nil)
		var all []mutant.Mutant
		for i := range survivors {
			all = append(all, named(strings.Repeat("x", i+1)))
			require.NoError(t, s.kept.put(all[i], stressed{Verdict: survived}))
		}
		same := named("same") // counts for nothing
		require.NoError(t, s.kept.put(same, stressed{Verdict: survived}))
		all = append(all, same)
		marks := map[string]mark{"same": {equivalent: "it is dead code"}}
		var stdout, stderr bytes.Buffer
		require.Equal(t, want, s.runStressMode(all, all, marks, &stdout, &stderr), "%s%s", &stdout, &stderr)
	}
}

// TestAlone: which properties see a mutant, and that one which sees none fails.
func TestAlone(t *testing.T) {
	var progress, table bytes.Buffer
	s := settings{root: module, dirs: []string{t.TempDir()}, out: t.TempDir(), parallel: 1, own: time.Second, cross: time.Second}
	m, other := named("a"), named("b")
	other.Guarantee = "G5"
	l, err := newLoner(s, map[string]mark{"a": {lane: laneVirtual}, "b": {lane: laneVirtual}, "c": {lane: laneTest}}, &progress)
	require.NoError(t, err)
	l.build = func(name, overlay string) (string, error) { return name, nil }
	l.look = func(bin, only string, _ time.Duration, until bool) (lane.Result, error) {
		require.Equal(t, only != "", until, "a run of all properties goes on")
		switch {
		case strings.HasSuffix(bin, "a") && only != "":
			return lane.Result{Runs: 1, Failed: map[string]string{only: only + " x"}}, nil
		case only == "":
			return lane.Result{Runs: 1, Failed: map[string]string{"G3": "G3 x"}}, nil
		}
		return lane.Result{Runs: 1}, nil
	}
	all := []mutant.Mutant{m, other, named("c")}
	require.NoError(t, l.all(all))
	v, known := l.kept.of(m)
	require.True(t, known)
	require.Equal(t, killers{Own: "G3", All: []string{"G3"}}, v)
	require.Equal(t, "G3", v.unique())
	v, _ = l.kept.of(other)
	require.Equal(t, killers{All: []string{"G3"}}, v)
	_, known = l.kept.of(all[2])
	require.False(t, known, "it is no mutant of the virtual lane")
	blind := l.table(&table, all)
	require.Contains(t, blind, "G5")
	require.NotContains(t, blind, "G3")
	require.Regexp(t, `(?m)^G3 +1 +1 +2$`, table.String())
	l.force = true
	l.build = func(string, string) (string, error) { return "", errors.New("does not build") }
	require.ErrorContains(t, l.all(all), "a: does not build")
}
