package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"eventide/props/lane"
	"eventide/props/mutant"
	"eventide/props/mutant/auto"
	"eventide/props/mutant/score"
)

// autoJudge lets each kind of check look for a pick, in the order of score.Order, until one
// of them kills it.
type autoJudge struct {
	settings
	checks map[score.By]autoCheck
}

// autoCheck reports whether a kind of check kills a mutant, and what it said. A check that
// does not look at the mutated package kills nothing.
type autoCheck func(m mutant.Mutant, pkg, dir string) (what string, killed bool, err error)

func newAutoJudge(s settings) *autoJudge {
	search, inter, tests := newSearcher(s), newInterleaver(s), newTestRunner(s)
	return &autoJudge{settings: s, checks: map[score.By]autoCheck{
		score.ByVirtual: inLane(func(m mutant.Mutant, e *entry, dir string) (bool, error) { return search.virtual(m, e, dir) }),
		score.ByInterleave: onlyCore(inLane(func(m mutant.Mutant, e *entry, dir string) (bool, error) {
			return inter.try(m, e, dir, false)
		})),
		score.ByRaceLane: onlyCore(inLane(func(m mutant.Mutant, e *entry, dir string) (bool, error) {
			return inter.try(m, e, dir, true)
		})),
		score.ByTest:     func(m mutant.Mutant, pkg, dir string) (string, bool, error) { return tests.try(m, pkg, dir, false) },
		score.ByRaceTest: func(m mutant.Mutant, pkg, dir string) (string, bool, error) { return tests.try(m, pkg, dir, true) },
	}}
}

// judge returns what became of a pick.
func (j *autoJudge) judge(p auto.Pick) (score.Pick, error) {
	v := newScore(p, j.seed)
	m := p.Mutant()
	m.Guarantee = "" // nobody chose one, so every property looks for it
	dir, err := filepath.Abs(filepath.Join(j.out, "auto", p.Name()))
	if err != nil {
		return v, err
	}
	defer os.RemoveAll(dir)
	began := time.Now()
	for _, by := range score.Order() {
		what, killed, err := j.checks[by](m, p.Package(), filepath.Join(dir, strings.ReplaceAll(string(by), " ", "-")))
		if err != nil {
			return v, fmt.Errorf("%s: %w", by, err)
		}
		if killed {
			v.Verdict, v.By, v.What = score.Killed, by, withoutStack(what)
			break
		}
	}
	v.Seconds = time.Since(began).Seconds()
	return v, nil
}

// inLane makes a check of a lane. A lane that crashes or hangs before it has run anything
// shows nothing of a planted bug, which is to break one guarantee; a mechanical mutant may
// well break everything, and the lane without it does run.
func inLane(try func(mutant.Mutant, *entry, string) (bool, error)) autoCheck {
	return func(m mutant.Mutant, _, dir string) (string, bool, error) {
		e := newEntry(m)
		killed, err := try(m, &e, dir)
		var silent lane.ErrSilent
		switch {
		case errors.As(err, &silent):
			return fmt.Sprintf("the lane ended before its first run: %s", lastPanic(silent.Output)), true, nil
		case err != nil:
			return "", false, err
		}
		return e.Reason, killed, nil
	}
}

// onlyCore asks the lanes of chosen schedules about package core only: they instrument
// nothing else.
func onlyCore(check autoCheck) autoCheck {
	return func(m mutant.Mutant, pkg, dir string) (string, bool, error) {
		if pkg != "core" {
			return "", false, nil
		}
		return check(m, pkg, dir)
	}
}

// testRunner runs the tests that somebody wrote: those of the mutated package, and of the
// measured packages that import it.
type testRunner struct {
	settings
	mu     sync.Mutex
	usual  map[string]time.Duration // how long the tests of a package take without a mutant
	broken map[string]error         // why they say nothing
}

func newTestRunner(s settings) *testRunner {
	return &testRunner{settings: s, usual: map[string]time.Duration{}, broken: map[string]error{}}
}

// packagesFor are those whose tests look for a mutant of pkg.
func packagesFor(pkg string) []string {
	if pkg == "core" {
		return measured
	}
	return []string{pkg}
}

func (r *testRunner) try(m mutant.Mutant, pkg, dir string, race bool) (string, bool, error) {
	overlay, err := m.Overlay(r.root, dir)
	if err != nil {
		return "", false, err
	}
	for _, other := range packagesFor(pkg) {
		usual, err := r.control(other, race)
		if err != nil {
			return "", false, err
		}
		out, passed, err := r.runAll(other, overlay, race, usual, 3*usual+time.Minute)
		if err != nil {
			return "", false, err
		}
		if !passed && !sawTooLittle(out) {
			return firstComplaint(out), true, nil
		}
	}
	return "", false, nil
}

// control runs the tests of a package without a mutant, once, and returns how long they
// take. Tests that fail then show nothing.
func (r *testRunner) control(pkg string, race bool) (time.Duration, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := fmt.Sprint(pkg, race)
	if usual, ok := r.usual[key]; ok {
		return usual, r.broken[key]
	}
	began := time.Now()
	out, passed, err := r.runAll(pkg, "", race, 30*time.Minute, 30*time.Minute)
	if err == nil && !passed {
		err = fmt.Errorf("the tests of %s fail without a mutant, so that they fail with one means nothing:\n%s", pkg, out)
	}
	r.usual[key], r.broken[key] = time.Since(began), err
	return r.usual[key], err
}

// runAll builds and runs the tests of a package until the first that fails. Another mutant
// has its turn once they take longer than usual. Tests that take longer than the limit, or more memory than there may be, have failed.
func (r *testRunner) runAll(pkg, overlay string, race bool, usual, limit time.Duration) (out string, passed bool, err error) {
	bin, err := os.CreateTemp("", "tests")
	if err != nil {
		return "", false, err
	}
	bin.Close()
	defer os.Remove(bin.Name())
	var args []string
	if race {
		args = []string{"-race"}
	}
	if err := r.buildTestsWith(pkg, bin.Name(), overlay, args...); err != nil {
		return "", false, err
	}
	cmd := exec.Command(bin.Name(), "-test.failfast", "-test.timeout", limit.String(), fmt.Sprint("-test.short=", race))
	cmd.Dir = filepath.Join(r.root, pkg)
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Start(); err != nil {
		return "", false, err
	}
	full := lane.KillAbove(cmd.Process, maxMemory)
	back := r.room.lend(usual + patience) // tests that hang sleep
	err = cmd.Wait()
	back()
	var failed *exec.ExitError
	switch {
	case full():
		return fmt.Sprintf("more than %d MiB of memory", maxMemory>>20), false, nil
	case errors.As(err, &failed):
		return text.String(), false, nil
	}
	return text.String(), err == nil, err
}

// maxMemory is the most that a program with a mutant in it may have. Without one, none
// needs a quarter of it.
const maxMemory = 6 << 30
