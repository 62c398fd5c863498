package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"eventide/props/mutant"
)

// byTest is who killed a mutant of lane test.
const byTest = "a test"

// tester builds the tests of a package with a mutant in it, and runs the one that is
// said to see it.
type tester struct {
	settings
	build func(pkg, bin, overlay string) error
	run   func(pkg, bin, killer string) (output string, failed bool, err error)
}

func newTester(s settings) *tester { return &tester{settings: s, build: s.buildTests, run: s.runTests} }

// try adds to e what the test saw. First it runs without the mutant: a test that fails
// all the same, or that there is no more, shows nothing.
func (t *tester) try(m mutant.Mutant, killer string, e *entry, dir string) (bool, error) {
	pkg := filepath.Dir(m.Edits[0].File)
	if err := t.control(pkg, killer, dir); err != nil {
		return false, err
	}
	overlay, err := m.Overlay(t.root, dir)
	if err != nil {
		return false, err
	}
	bin := filepath.Join(dir, "tests")
	if err := t.build(pkg, bin, overlay); err != nil {
		return false, err
	}
	defer os.Remove(bin)
	defer e.clock()()
	// Again and again, as for the lanes: what takes a race takes luck.
	for began := time.Now(); ; {
		out, failed, err := t.run(pkg, bin, killer)
		if err != nil {
			return false, err
		}
		e.Schedules++
		if failed {
			e.killed(kill{by: byTest, predicate: killer, what: firstComplaint(out)})
			return true, nil
		}
		if time.Since(began) > t.all {
			return false, nil
		}
	}
}

func (t *tester) control(pkg, killer, dir string) error {
	bin := filepath.Join(dir, "control")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := t.build(pkg, bin, ""); err != nil {
		return err
	}
	defer os.Remove(bin)
	out, failed, err := t.run(pkg, bin, killer)
	switch {
	case err != nil:
		return err
	case failed:
		return fmt.Errorf("%s fails without the mutant, so that it fails with one means nothing:\n%s", killer, out)
	case strings.Contains(out, "no tests to run"):
		return fmt.Errorf("%s: there is no such test in %s", killer, pkg)
	}
	return nil
}

func (s settings) buildTests(pkg, bin, overlay string) error {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	args := []string{"test", "-c", "-vet=off", "-o", bin}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.Command("go", append(args, "./"+pkg)...)
	cmd.Dir = s.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go test -c of %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// runTests runs one test. A hang ends by the time limit, and is a failure.
func (s settings) runTests(pkg, bin, killer string) (string, bool, error) {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return "", false, err
	}
	cmd := exec.Command(bin, "-test.run", killer, "-test.timeout", "1m")
	cmd.Dir = filepath.Join(s.root, pkg)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return out.String(), true, nil
	}
	return out.String(), false, err
}

// firstComplaint is the first line in which a test says what it saw.
func firstComplaint(out string) string {
	for line := range strings.Lines(out) {
		if strings.Contains(line, "_test.go:") || strings.HasPrefix(line, "panic: ") {
			return strings.TrimSpace(line)
		}
	}
	first, _, _ := strings.Cut(out, "\n")
	return first
}
