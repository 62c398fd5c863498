package auto

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventide/props/internal/runner"
	"eventide/props/mutant"
	"eventide/props/mutant/chosen"

	"github.com/stretchr/testify/require"
)

// TestTogetherRunsWhatAloneRuns: a program with many picks in it does for each of them what a
// program with this pick alone does, and without a number what the sources do.
func TestTogetherRunsWhatAloneRuns(t *testing.T) {
	s, err := Load(module, "./core/frame")
	require.NoError(t, err)
	picks, _, err := s.Pick(24, 5)
	require.NoError(t, err)
	all, err := Together(picks)
	require.NoError(t, err)

	began := time.Now()
	require.True(t, passes(t, all.Changed, time.Minute)(0), "the tests fail without a mutant")
	limit := 2 * time.Since(began) // with the time of the build
	shared := passes(t, all.Changed, limit)
	killed, survived := 0, 0
	for _, p := range picks {
		number := all.Number(p)
		if number == 0 {
			continue
		}
		alone := passes(t, p.Changed(), limit)(0)
		require.Equal(t, alone, shared(number), "%s: alone, and as number %d", p, number)
		if alone {
			survived++
		} else {
			killed++
		}
	}
	require.Greater(t, killed, 8, "the test shows too little")
	require.Positive(t, survived, "the test shows too little")
}

// passes builds the tests of core/frame with changed files, and reports of a number whether they
// pass with it. A run that takes far longer than one without a mutant hangs.
func passes(t *testing.T, changed map[string]string, limit time.Duration) func(number int) bool {
	dir := t.TempDir()
	overlay, err := runner.Overlay(module, dir, changed)
	require.NoError(t, err)
	bin, err := runner.Tests{Root: module, Package: "core/frame", Bin: filepath.Join(dir, "frame.test"), Overlay: overlay}.Build()
	require.NoError(t, err)
	return func(number int) bool {
		cmd := exec.Command(bin, "-test.timeout", limit.String(), "-test.skip", "^TestNoCopy$") // it counts allocations
		cmd.Dir = filepath.Join(module, "core/frame")
		cmd.Env = append(os.Environ(), chosen.Environment(number))
		return cmd.Run() == nil
	}
}

// TestTogether: nearly all picks can share a program; each is in it once, and those that cannot
// share one have no number.
func TestTogether(t *testing.T) {
	s, err := core()
	require.NoError(t, err)
	picks, _, err := s.Pick(60, 3)
	require.NoError(t, err)
	all, err := Together(picks)
	require.NoError(t, err)
	in := 0
	for i, p := range picks {
		n := all.Number(p)
		if n == 0 {
			continue
		}
		in++
		require.Equal(t, i+1, n)
		at := "if eventideChosen.Number == " + chosen.Environment(n)[len(chosen.Variable)+1:] + " {"
		require.Equal(t, 1, strings.Count(all.Changed[p.file.name], at), p.Name())
	}
	require.Greater(t, in, 45, "too few share a program")
	changed, err := mutant.Mutant{Texts: all.Changed, Number: 1}.Apply(module)
	require.NoError(t, err)
	require.Equal(t, all.Changed, changed)
}

// TestFits: a body that would mean something else as a block is found.
func TestFits(t *testing.T) {
	for text, want := range map[string]bool{
		"func f(a int) (b int, err error) { x := a; _ = x; return }":                  true,
		"func f(a int) (err error) { x, err := g(); _ = x; return }":                  false, // another err
		"func f(a int) { a, b := g(); _, _ = a, b }":                                  false,
		"func (a T) f() { a, b := g(); _, _ = a, b }":                                 false,
		"func f(_ int) { _, b := g(); _ = b }":                                        true,
		"func f(a int) { if a, b := g(); a > b { return } }":                          true, // another a in the body too
		"func f() { again: for { continue again } }":                                  false,
		"func f() { func() { again: for { continue again } }() }":                     false,
		"func f() (err error) { defer func() { err = h(err) }(); err = g(); return }": true,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "f.go", "package p\n"+text, parser.SkipObjectResolution)
		require.NoError(t, err)
		require.Equal(t, want, fits(f.Decls[0].(*ast.FuncDecl)), text)
	}
}
