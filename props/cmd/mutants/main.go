// Command mutants plants every bug of testdata/mutants, one after the other, and
// lets the properties look for it: first the property of the guarantee that it
// breaks, then all of them. A bug that nobody sees is a hole in the checks.
//
//	go run ./props/cmd/mutants                   all; out/mutants.json is kept up to date
//	go run ./props/cmd/mutants -run g4-lifo-segment
//
// A verdict is taken from out/mutants.json if the mutant, core and the checks are
// what they were. Exit code 0: every one was killed; 1: one survived; 2: usage, a
// mutant that does not apply or does not build, or a lane that showed nothing.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"eventide/props/mutant"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// settings are the command line.
type settings struct {
	root     string // of the module
	dir, out string // of the mutants, of the results
	only     string // one mutant
	short    bool
	force    bool
	parallel int
	own, all time.Duration // for the property of its guarantee, for all properties
	stall    time.Duration
	seed     uint64
}

func parse(args []string, stderr io.Writer) (settings, error) {
	s := settings{}
	f := flag.NewFlagSet("mutants", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&s.root, "root", ".", "root of the module")
	f.StringVar(&s.dir, "dir", filepath.Join("testdata", "mutants"), "where the mutants are, from the root")
	f.StringVar(&s.out, "out", "out", "where mutants.json and what it builds go, from the root")
	f.StringVar(&s.only, "run", os.Getenv("MUTANT"), "run this one only; also by the environment variable MUTANT")
	f.BoolVar(&s.short, "short", false, fmt.Sprintf("run %d of them", shortCount))
	f.BoolVar(&s.force, "force", false, "run those too whose verdict is known")
	f.IntVar(&s.parallel, "parallel", runtime.GOMAXPROCS(0), "how many at a time")
	f.DurationVar(&s.own, "own", 4*time.Second, "how long the property of its guarantee may look for a mutant")
	f.DurationVar(&s.all, "all", 12*time.Second, "how long all properties may look for it after that")
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
	s.dir, s.out = s.inRoot(s.dir), s.inRoot(s.out)
	return s, nil
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
	planted, err := mutant.Load(s.dir)
	if err == nil {
		planted, err = s.choose(planted)
	}
	if err != nil {
		fmt.Fprintln(stderr, "mutants:", err)
		return 2
	}
	search := newSearcher(s)
	j := &job{settings: s, try: search.try, control: search.control, progress: stderr}
	chosen, err := j.run(planted)
	chosen.table(stdout)
	if err != nil {
		fmt.Fprintln(stderr, "mutants:", err)
		return 2
	}
	return chosen.exitCode()
}

// shortCount is how many mutants -short runs.
const shortCount = 12

// choose returns the mutants that the command line asks for: -short spreads its
// few evenly over all.
func (s settings) choose(all []mutant.Mutant) ([]mutant.Mutant, error) {
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
	var some []mutant.Mutant
	for i := range shortCount {
		some = append(some, all[i*len(all)/shortCount])
	}
	return some, nil
}
