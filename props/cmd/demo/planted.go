package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"eventide/props/mutant"
)

// The planted bug, and the property that looks for it.
const (
	plantedBug = "g4-lifo-segment"
	itsTest    = "TestPropG4FIFO"
)

// planted is the second part: it builds the property with the bug in core, and shows what the
// property prints.
func planted(root string) ([]string, error) {
	bugs, err := mutant.Load(filepath.Join(root, "testdata", "mutants"))
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(bugs, func(m mutant.Mutant) bool { return m.Name == plantedBug })
	if i < 0 {
		return nil, fmt.Errorf("no planted bug is called %s", plantedBug)
	}
	dir, err := os.MkdirTemp("", "demo")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	absolute, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	overlay, err := bugs[i].Overlay(absolute, dir)
	if err != nil {
		return nil, err
	}
	f, err := firstSmaller(root, overlay)
	if err != nil {
		return nil, err
	}
	return f.lines(bugs[i].StandsFor), nil
}

// mostSeeds bounds the runs of the property: it finds the bug with each seed, but the first program
// with it may already be as small as can be, or fail too seldom to be made smaller.
const mostSeeds = 8

// firstSmaller runs the property until it has found a program with the bug and a smaller one.
func firstSmaller(root, overlay string) (f finding, err error) {
	for seed := range mostSeeds {
		cmd := exec.Command("go", "test", "-count=1", "-overlay", overlay, "-run", "^"+itsTest+"$", "./props", "-rapid.nofailfile", fmt.Sprint("-rapid.seed=", seed+1))
		cmd.Dir = root
		out, wrong := cmd.CombinedOutput()
		var failed *exec.ExitError
		if wrong != nil && !errors.As(wrong, &failed) {
			return f, wrong
		}
		if f, err = readFinding(string(out)); err == nil {
			return f, nil
		}
	}
	return f, err
}

// finding is what a failing property prints.
type finding struct {
	sentence string
	was, is  []string // the program as it was generated, and minimised
	trace    []string // the lines of the trace that are marked
}

// readFinding is an error if the output has not all of it.
func readFinding(out string) (f finding, err error) {
	section := ""
	for line := range strings.Lines(out) {
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(text, "G4 ") && f.sentence == "":
			f.sentence = text
		case text == "trace", text == "to run", text == "made smaller from":
			section = text
		case text == "" || strings.HasPrefix(text, "executor:") || strings.HasPrefix(text, "event loop:"):
			if text == "" {
				section = ""
			}
		case section == "to run":
			f.is = append(f.is, text)
		case section == "made smaller from":
			f.was = append(f.was, text)
		case section == "trace" && strings.HasPrefix(text, "> "):
			f.trace = append(f.trace, strings.Join(strings.Fields(text)[3:], " "))
		}
	}
	if f.sentence == "" || len(f.trace) == 0 || calls(f.is) == 0 || calls(f.was) <= calls(f.is) {
		return f, fmt.Errorf("the property shows no smaller program that breaks G4:\n%s", out)
	}
	return f, nil
}

// calls counts the calls of a program: the lines that are no actor's name.
func calls(program []string) int {
	n := 0
	for _, line := range program {
		if !strings.HasSuffix(line, ":") {
			n++
		}
	}
	return n
}

func (f finding) lines(standsFor string) []string {
	lines := []string{
		"planted    " + plantedBug + ": " + standsFor,
		"caught     " + strong + f.sentence + strong,
		fmt.Sprintf("minimised  from %d calls to %d; > is a call of the task above it", calls(f.was), calls(f.is)),
	}
	for _, line := range f.is {
		lines = append(lines, "           "+line)
	}
	return append(lines, "explained  "+strings.Join(f.trace, ", then "))
}
