package main

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"eventide/props/lane"
	"eventide/props/mutant"
)

// byTest is who killed a mutant of lane test.
const byTest = "a test"

// packageOf is where the test is that kills m.
func (k mark) packageOf(m mutant.Mutant) string {
	return cmp.Or(k.pkg, filepath.Dir(m.Edits[0].File))
}

// planted adds to e what the test saw that is said to kill a planted bug. First it runs
// without the bug: a test that fails all the same, or that there is no more, shows nothing.
func (r *testRunner) planted(m mutant.Mutant, by mark, e *entry, dir string) (bool, error) {
	t := tests{pkg: by.packageOf(m), run: by.killer, builds: true}
	if _, err := r.control(t); err != nil {
		return false, err
	}
	bin, err := r.binary(t, m, dir)
	if err != nil {
		return false, err
	}
	defer os.Remove(bin)
	defer e.clock()()
	// Again and again, as for the lanes: what takes a race takes luck.
	for began := time.Now(); ; {
		out, passed, err := r.run(t, bin, testLimit)
		if err != nil {
			return false, err
		}
		e.Schedules++
		if !passed && !sawTooLittle(out) {
			e.killed(kill{by: byTest, predicate: by.killer, what: firstComplaint(out)})
			return true, nil
		}
		if time.Since(began) > r.settings.all {
			return false, nil
		}
	}
}

// patience is after how long a test is taken to hang: others have their turn meanwhile.
const patience = 3 * time.Second

// testLimit is how long a test may take with a planted bug in it, without what it builds
// itself: with a bug in the overlay the standard library is compiled again, which takes
// minutes on a machine with other load, and says nothing of the bug.
const testLimit = time.Minute

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
