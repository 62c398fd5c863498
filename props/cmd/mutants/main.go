// Command mutants plants every bug of testdata/mutants, testdata/mutants/poller and
// testdata/interleave/mutants, one after the other, and lets the properties look for
// it: first the property of the guarantee that it breaks, then all of them, then the
// lane that chooses schedules. A file may say that another lane, or a test, is to look
// for it. A bug that nobody sees is a hole in the checks.
//
//	go run ./props/cmd/mutants                   all; out/mutants.json is kept up to date
//	go run ./props/cmd/mutants -run g4-lifo-segment
//
// A verdict is taken from out/mutants.json if the mutant, core and the checks are
// what they were. Exit code 0: every one was killed; 1: one survived; 2: usage, a
// mutant that does not apply or does not build, or a lane that showed nothing.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"eventide/props/mutant"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// settings are the command line.
type settings struct {
	root     string // of the module
	dir, out string // of the mutants, several separated by commas; of the results
	dirs     []string
	only     string // one mutant
	short    bool
	force    bool
	parallel int
	own, all time.Duration // for the property of its guarantee, for all properties
	stall    time.Duration
	seed     uint64

	interleave time.Duration // for the interleave lane
}

func parse(args []string, stderr io.Writer) (settings, error) {
	s := settings{}
	f := flag.NewFlagSet("mutants", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&s.root, "root", ".", "root of the module")
	f.StringVar(&s.dir, "dir", strings.Join(defaultDirs, ","), "where the mutants are, from the root; separated by commas")
	f.StringVar(&s.out, "out", "out", "where mutants.json and what it builds go, from the root")
	f.StringVar(&s.only, "run", os.Getenv("MUTANT"), "run this one only; also by the environment variable MUTANT")
	f.BoolVar(&s.short, "short", false, fmt.Sprintf("run %d of them", shortCount))
	f.BoolVar(&s.force, "force", false, "run those too whose verdict is known")
	f.IntVar(&s.parallel, "parallel", runtime.GOMAXPROCS(0), "how many at a time")
	f.DurationVar(&s.own, "own", 4*time.Second, "how long the property of its guarantee may look for a mutant")
	f.DurationVar(&s.all, "all", 12*time.Second, "how long all properties may look for it after that")
	f.DurationVar(&s.interleave, "interleave", 10*time.Second, "how long the interleave lane may look for it after that; 0: do not ask it")
	f.DurationVar(&s.stall, "stall", 10*time.Second, "silence of a lane that counts as a hang")
	f.Uint64Var(&s.seed, "seed", 1, "base of the seeds")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	switch {
	case f.NArg() > 0:
		return s, fmt.Errorf("got arguments %q, want none", f.Args())
	case s.parallel < 1:
		return s, fmt.Errorf("-parallel is %d, want at least 1", s.parallel)
	case s.own <= 0 || s.all <= 0 || s.stall <= 0:
		return s, fmt.Errorf("-own is %v, -all %v, -stall %v, want more than 0", s.own, s.all, s.stall)
	}
	s.out = s.inRoot(s.out)
	for _, dir := range strings.Split(s.dir, ",") {
		s.dirs = append(s.dirs, s.inRoot(dir))
	}
	return s, nil
}

var defaultDirs = []string{
	filepath.Join("testdata", "mutants"), filepath.Join("testdata", "mutants", "poller"), filepath.Join("testdata", "interleave", "mutants"),
}

// inRoot returns a path as seen from the root, unless it is absolute.
func (s settings) inRoot(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.root, path)
}

func run(args []string, stdout, stderr io.Writer) int {
	s, err := parse(args, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "mutants:", err)
		return 2
	}
	planted, marks, err := loadAll(s.dirs)
	if err == nil {
		planted, err = s.choose(planted, marks)
	}
	if err != nil {
		fmt.Fprintln(stderr, "mutants:", err)
		return 2
	}
	search := newSearcher(s)
	search.marks = marks
	j := &job{settings: s, marks: marks, try: search.try, control: search.control, progress: stderr}
	chosen, err := j.run(planted)
	chosen.table(stdout)
	if err != nil {
		fmt.Fprintln(stderr, "mutants:", err)
		return 2
	}
	return chosen.exitCode()
}

// shortCount is how many mutants -short runs, shortOther how many of each lane but
// the virtual one are among them.
const (
	shortCount = 12
	shortOther = 1
)

// choose returns the mutants that the command line asks for: -short spreads its
// few evenly over all, and leaves out no lane.
func (s settings) choose(all []mutant.Mutant, marks map[string]mark) ([]mutant.Mutant, error) {
	if s.only != "" {
		for _, m := range all {
			if m.Name == s.only {
				return []mutant.Mutant{m}, nil
			}
		}
		return nil, fmt.Errorf("-run is %q, want one of the %d names in %s", s.only, len(all), s.dir)
	}
	if !s.short || len(all) <= shortCount {
		return all, nil
	}
	byLane := map[string][]mutant.Mutant{}
	for _, m := range all {
		lane := cmp.Or(marks[m.Name].lane, laneVirtual)
		byLane[lane] = append(byLane[lane], m)
	}
	var others []mutant.Mutant
	for _, lane := range []string{laneInterleave, laneTest} { // the race detector takes too long
		others = append(others, spread(byLane[lane], shortOther)...)
	}
	return append(spread(byLane[laneVirtual], shortCount-len(others)), others...), nil
}

// spread returns n of all, evenly spread.
func spread(all []mutant.Mutant, n int) []mutant.Mutant {
	n = min(n, len(all))
	var some []mutant.Mutant
	for i := range n {
		some = append(some, all[i*len(all)/n])
	}
	return some
}
