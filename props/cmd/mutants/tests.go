package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"eventide/props/internal/runner"
	"eventide/props/lane"
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

	mu      sync.Mutex
	without map[string]func() error // by package and test: that it passes without a mutant
}

func newTester(s settings) *tester {
	return &tester{settings: s, build: s.buildTests, run: s.runTests, without: map[string]func() error{}}
}

// packageOf is where the test is that kills m.
func (k mark) packageOf(m mutant.Mutant) string {
	return cmp.Or(k.pkg, filepath.Dir(m.Edits[0].File))
}

// try adds to e what the test saw. First it runs without the mutant: a test that fails
// all the same, or that there is no more, shows nothing.
func (t *tester) try(m mutant.Mutant, by mark, e *entry, dir string) (bool, error) {
	pkg := by.packageOf(m)
	if err := t.passes(pkg, by.killer); err != nil {
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
		out, failed, err := t.run(pkg, bin, by.killer)
		if err != nil {
			return false, err
		}
		e.Schedules++
		if failed && !sawTooLittle(out) {
			e.killed(kill{by: byTest, predicate: by.killer, what: firstComplaint(out)})
			return true, nil
		}
		if time.Since(began) > t.all {
			return false, nil
		}
	}
}

// passes runs the test without a mutant, once for all that it is to kill.
func (t *tester) passes(pkg, killer string) error {
	t.mu.Lock()
	key := pkg + " " + killer
	if t.without[key] == nil {
		t.without[key] = sync.OnceValue(func() error { return t.control(pkg, killer) })
	}
	once := t.without[key]
	t.mu.Unlock()
	return once()
}

func (t *tester) control(pkg, killer string) error {
	dir, err := os.MkdirTemp("", "control")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "tests")
	if err := t.build(pkg, bin, ""); err != nil {
		return err
	}
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
	_, err := runner.Tests{Root: s.root, Package: pkg, Bin: bin, Overlay: overlay}.Build()
	return err
}

// patience is after how long a test is taken to hang: others have their turn meanwhile.
const patience = 3 * time.Second

// testLimit is how long a test may take with a planted bug in it, without what it builds
// itself: with a bug in the overlay the standard library is compiled again, which takes
// minutes on a machine with other load, and says nothing of the bug.
const testLimit = time.Minute

// runTests runs one test. A hang ends by the limit, and is a failure.
func (s settings) runTests(pkg, bin, killer string) (string, bool, error) {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return "", false, err
	}
	defer s.room.lend(patience)()
	exit, err := runner.Process{
		Bin: bin, Dir: filepath.Join(s.root, pkg), Args: []string{"-test.run", killer, "-test.timeout", "0"}, Limit: testLimit,
	}.Run()
	if exit.Hung {
		return fmt.Sprintf("panic: it did not end within %v", testLimit), true, nil
	}
	return exit.Output, exit.Failed, err
}

// tooLittle matches the complaint of a property that was not exercised.
var tooLittle = regexp.MustCompile(`(?m)^\s+\w+_test\.go:\d+: ` + lane.NotExercised)

// sawTooLittle reports whether every test that failed is a property that was not
// exercised: that has shown nothing.
func sawTooLittle(out string) bool {
	complaints := len(tooLittle.FindAllString(out, -1))
	return complaints > 0 && complaints == strings.Count(out, "--- FAIL: ")
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
