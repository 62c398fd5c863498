package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"eventide/props/internal/runner"
	"eventide/props/mutant"
	"eventide/props/mutant/chosen"
	"eventide/props/mutant/score"
)

// testRunner runs tests with a mutant in what they test.
type testRunner struct {
	settings
	tree   []goPackage
	base   mutant.Mutant // the sources with no mutant that runs
	dir    string        // of their programs, if mutants share them; "": nowhere
	apart  *testRunner   // then, for programs with one mutant
	binary func(t tests, m mutant.Mutant, dir string) (bin string, err error)
	run    func(t tests, bin string, limit time.Duration) (out string, passed bool, err error)

	mu    sync.Mutex
	usual map[tests]func() (usual, error) // of tests without a mutant, or why they say nothing
}

// usual is what tests do without a mutant.
type usual struct {
	takes time.Duration
	fails string // pattern of tests that fail because of the programs that mutants share; "": none
}

func newTestRunner(s settings, tree []goPackage) *testRunner {
	return &testRunner{settings: s, tree: tree, binary: s.testBinary, run: s.runTests, usual: map[tests]func() (usual, error){}}
}

// tests are some tests of one package.
type tests struct {
	pkg    string
	race   bool
	run    string // pattern; "": all
	checks int    // inputs of each property; 0: as many as the tests draw by themselves
	skip   string // pattern; "": none
	number int    // of the mutant that runs, if there are several in the program
	builds bool   // they may build programs, whose time does not count
}

// all is the check by the tests of the mutated package, and of the measured packages that import
// it. Tests that ran as kits do not run again. With the race detector, all tests of the package run, and
// those of core if core is built from the package.
func (r *testRunner) all(race bool) autoCheck {
	return func(m mutant.Mutant, pkg, dir string) (score.Look, bool, error) {
		var look score.Look
		packages := packagesFor(pkg, r.tree)
		if race {
			packages = slices.DeleteFunc(packages, func(other string) bool { return other != pkg && (other != "core" || !inReal(pkg)) })
		}
		for _, other := range packages {
			every := tests{pkg: other, race: race}
			if !race {
				every.skip = kitsThatRan(pkg, other)
			}
			some := []tests{every}
			if likely := r.likely(other, m.Edits[0].File); likely != "" {
				first := every
				first.run = likely
				some = []tests{first, every}
			}
			for _, t := range some {
				what, killed, err := r.try(t, m, dir)
				if err != nil || killed {
					return score.Look{Killed: killed, What: what}, true, err
				}
			}
			what, killed, err := r.left(every, m, dir)
			if err != nil || killed {
				return score.Look{Killed: killed, What: what}, true, err
			}
			look.Runs++
		}
		return look, true, nil
	}
}

// left tries those tests that cannot run in the programs that mutants share: with a program in
// which the mutant is alone.
func (r *testRunner) left(t tests, m mutant.Mutant, dir string) (what string, killed bool, err error) {
	usual, err := r.control(t)
	if err != nil || usual.fails == "" {
		return "", false, err
	}
	if dir, err = os.MkdirTemp(dir, "alone"); err != nil {
		return "", false, err
	}
	defer os.RemoveAll(dir)
	t.run = usual.fails // matches no test that t.skip matches
	return r.apart.try(t, m.Alone(), dir)
}

// kits is the check by the conformance kits.
func (r *testRunner) kits(m mutant.Mutant, pkg, dir string) (look score.Look, looked bool, err error) {
	for _, k := range kits {
		if !k.runs(pkg) {
			continue
		}
		looked = true
		what, killed, err := r.try(tests{pkg: k.pkg, run: k.test, checks: k.checks}, m, dir)
		if err != nil || killed {
			return score.Look{Killed: killed, What: what}, true, err
		}
	}
	return look, looked, nil
}

// declared matches the tests that a file declares.
var declared = regexp.MustCompile(`(?m)^func ((?:Test|Example|Fuzz)\w*)\(`)

// likely is the pattern of the tests that are likely to see a mutant of a file: those of
// the files named after it.
func (r *testRunner) likely(pkg, file string) string {
	stem := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".go"), "_linux")
	paths, err := filepath.Glob(filepath.Join(r.root, pkg, stem+"*_test.go"))
	if err != nil || pkg != filepath.ToSlash(filepath.Dir(file)) {
		return ""
	}
	var names []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it is a matter of speed: all tests run afterwards
		}
		for _, match := range declared.FindAllSubmatch(text, -1) {
			names = append(names, string(match[1]))
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == "TestMain" })
	if len(names) == 0 {
		return ""
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// confirmations is how often a test that failed runs again alone: a test that fails once on
// a busy machine has shown nothing, unless it does so again.
const confirmations = 4

// try runs tests with a mutant, and reports whether one of them sees it.
func (r *testRunner) try(t tests, m mutant.Mutant, dir string) (what string, killed bool, err error) {
	whole := t
	if t.pkg != "props" && !slices.ContainsFunc(kits, func(k kit) bool { return k.test == t.run }) {
		whole.run = "" // the others are a part of them
	}
	usual, err := r.control(whole)
	if err != nil {
		return "", false, err
	}
	bin, err := r.binary(t, m, dir)
	if err != nil {
		return "", false, err
	}
	t.number, t.skip = m.Number, eitherOf(t.skip, usual.fails)
	out, passed, err := r.run(t, bin, 3*usual.takes+30*time.Second)
	if err != nil || passed || sawTooLittle(out) {
		return "", false, err
	}
	failed := failedTest(out)
	again := t
	if failed != "" { // otherwise the program ended before a test could fail
		again.run = "^" + failed + "$"
	}
	for range confirmations {
		out, passed, err := r.run(again, bin, usual.takes+30*time.Second)
		if err != nil {
			return "", false, err
		}
		if !passed && !sawTooLittle(out) {
			return strings.TrimSpace(failed + " " + firstComplaint(out)), true, r.stillPass(again)
		}
	}
	return "", false, nil
}

// stillPass returns an error if tests that failed with a mutant now fail without one too: then
// the machine is the reason, for example a full disk.
func (r *testRunner) stillPass(t tests) (err error) {
	t.number = 0
	for range confirmations {
		if _, err = r.withoutMutant(t); err == nil {
			return nil
		}
	}
	return err
}

// failedTest is the first test of the top level that failed, or that ran when the program
// ended, or "".
func failedTest(out string) string {
	if match := failing.FindStringSubmatch(out); match != nil {
		return match[1]
	}
	if match := running.FindStringSubmatch(out); match != nil {
		return match[1]
	}
	return ""
}

var (
	failing = regexp.MustCompile(`(?m)^--- FAIL: (\w+) `)
	running = regexp.MustCompile(`(?m)^\t\t(\w+)\S* \([^)]*\)$`) // of what a timeout prints
)

// testBinary builds the tests of a package with a mutant, once.
func (s settings) testBinary(t tests, m mutant.Mutant, dir string) (string, error) {
	if t.pkg == "props" {
		return s.properties(m, dir)
	}
	name := strings.ReplaceAll(t.pkg, "/", "-")
	var args []string
	if t.race {
		name, args = name+"-race", []string{"-race"}
	}
	bin := filepath.Join(dir, name+".test")
	return s.room.build(bin, func() (string, error) {
		overlay, err := s.overlay(m, dir)
		if err != nil {
			return "", err
		}
		return runner.Tests{Root: s.root, Package: t.pkg, Bin: bin, Overlay: overlay, Args: args}.Build()
	})
}

// control runs tests without a mutant, once, and returns what they do then. Tests that fail,
// or that there are no more, show nothing.
func (r *testRunner) control(t tests) (usual, error) {
	r.mu.Lock()
	if r.usual[t] == nil {
		r.usual[t] = sync.OnceValues(func() (usual, error) { return r.withoutMutant(t) })
	}
	once := r.usual[t]
	r.mu.Unlock()
	return once()
}

func (r *testRunner) withoutMutant(t tests) (u usual, err error) {
	dir := r.dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "control"); err != nil {
			return u, err
		}
		defer os.RemoveAll(dir)
	}
	bin, err := r.binary(t, r.base, dir)
	if err != nil {
		return u, err
	}
	limit := 10 * time.Minute
	if t.builds {
		limit = testLimit // it must not be what ends the test with a mutant
	}
	skip := t.skip
	for {
		began := time.Now()
		t.skip = eitherOf(skip, u.fails)
		out, passed, err := r.run(t, bin, limit)
		u.takes = time.Since(began)
		switch {
		case err != nil:
			return u, err
		case t.run != "" && strings.Contains(out, "no tests to run"): // a package may have only tests that are skipped
			return u, fmt.Errorf("%s: there is no such test in %s", t.run, t.pkg)
		case passed:
			return u, nil
		}
		failed := failedTest(out)
		if failed == "" || r.dir == "" || t.run != "" {
			return u, fmt.Errorf("the tests %s of %s fail without a mutant, so that they fail with one means nothing:\n%s", t.run, t.pkg, out)
		}
		u.fails = either(u.fails, failed)
	}
}

// either is the pattern of the tests of another and of one more.
func either(pattern, name string) string {
	if pattern == "" {
		return "^(" + name + ")$"
	}
	return strings.TrimSuffix(pattern, ")$") + "|" + name + ")$"
}

// eitherOf is the pattern of what one of two patterns matches; "" matches nothing.
func eitherOf(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "|" + b
}

// runTests runs tests until the first that fails. Tests that take longer than the limit, or
// more memory than there may be, have failed.
func (s settings) runTests(t tests, bin string, limit time.Duration) (out string, passed bool, err error) {
	if bin, err = filepath.Abs(bin); err != nil {
		return "", false, err
	}
	p := runner.Process{Bin: bin, Dir: filepath.Join(s.root, t.pkg), MaxMemory: maxMemory}
	timeout := limit
	if t.builds {
		timeout, p.Limit = 0, limit
		defer s.room.lend(patience)()
	}
	p.Args = []string{"-test.failfast", "-test.timeout", timeout.String(), fmt.Sprint("-test.short=", t.race)}
	if t.run != "" {
		p.Args = append(p.Args, "-test.run", t.run)
	}
	if t.skip != "" {
		p.Args = append(p.Args, "-test.skip", t.skip)
	}
	if t.checks != 0 {
		p.Args = append(p.Args, fmt.Sprint("-rapid.checks=", t.checks), "-rapid.shrinktime=2s")
	}
	if t.number != 0 {
		p.Env = []string{chosen.Environment(t.number)}
	}
	exit, err := p.Run()
	switch {
	case exit.Full:
		return fmt.Sprintf("more than %d MiB of memory", maxMemory>>20), false, nil
	case exit.Hung:
		return fmt.Sprintf("panic: it did not end within %v", limit), false, nil
	}
	return exit.Output, err == nil && !exit.Failed, err
}

// maxMemory is the most that a program with a mutant in it may have. Without one, none
// needs a quarter of it.
const maxMemory = 6 << 30
