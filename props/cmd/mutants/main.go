// Command mutants plants every bug of testdata/mutants, of its directories except
// survivors, and of testdata/interleave/mutants, one after the other, and searches for
// it: with the property of the guarantee that it breaks, then with all properties, then
// with the lane that chooses schedules. A file may name another lane, or a test, instead.
// A bug that no check finds is a hole in the checks.
//
//	go run ./props/cmd/mutants                   all; out/mutants.json is kept up to date
//	go run ./props/cmd/mutants -run g4-lifo-segment
//
//	go run ./props/cmd/mutants -stress           what plain stress sees; kept in testdata/mutants/stress.json
//	go run ./props/cmd/mutants -alone            which properties see what; kept in testdata/mutants/alone.json
//
// The last two are slow; their results are shown beside the verdicts. A property
// that, with all others switched off, finds no bug of its guarantee fails -alone.
//
// With -auto 60 it draws 60 mechanical mutants instead, by the seed of -seed;
// out/auto.json keeps the outcome of each (see packages auto and score). The exit code is
// then 0, whatever the score is. -keep adds the run to testdata/mutants/auto/score.json,
// and -auto-check compares the newest run there with those before it: exit code 1 if a
// score fell by more than chance explains, 3 if there are no two runs.
//
// A verdict is taken from out/mutants.json if the planted bug, core and the checks have
// not changed. Exit code 0: every one was killed; 1: one survived; 2: usage, a
// planted bug that does not apply or does not build, or a lane that showed nothing.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"eventide/internal/command"
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
	room     *room         // for parallel mutants
	own, all time.Duration // for the property of its guarantee, for all properties
	stall    time.Duration
	seed     uint64
	auto     int  // mechanical mutants to draw; 0: planted bugs
	keep     bool // their verdicts
	together int  // of them share programs

	pkg       string // with auto: draw from this package alone; "": from all that are measured
	by        string // with auto: this kind of check alone; "": all
	autoCheck bool   // instead, compare the kept runs of mechanical mutants

	stress, alone    bool          // instead of the verdicts
	stressFor, cross time.Duration // for each mutant

	interleave time.Duration // for the interleave lane
	control    time.Duration // the most for a lane without a mutant; 0: as long as with one
}

func parse(args []string, stderr io.Writer) (settings, error) {
	s := settings{}
	f := flag.NewFlagSet("mutants", flag.ContinueOnError)
	f.StringVar(&s.root, "root", ".", "root of the module")
	f.StringVar(&s.dir, "dir", strings.Join(defaultDirs, ","), "directories of planted bugs, from the root; separated by commas")
	f.StringVar(&s.out, "out", "out", "directory of mutants.json and of built binaries, from the root")
	f.StringVar(&s.only, "run", os.Getenv("MUTANT"), "run only the planted bug of this name; also the environment variable MUTANT")
	f.BoolVar(&s.short, "short", false, fmt.Sprintf("run %d of them: %s", shortCount, shortShares()))
	f.BoolVar(&s.force, "force", false, "run planted bugs again whose verdict is known")
	f.IntVar(&s.parallel, "parallel", runtime.GOMAXPROCS(0), "planted bugs run at once")
	f.DurationVar(&s.own, "own", 4*time.Second, "duration of the search by the property of the bug's guarantee")
	f.DurationVar(&s.all, "all", 12*time.Second, "then, duration of the search by all properties")
	f.DurationVar(&s.interleave, "interleave", 10*time.Second, "then, duration of the search by the interleave lane; 0: none")
	f.DurationVar(&s.stall, "stall", 10*time.Second, "silence of a lane that counts as a hang")
	f.BoolVar(&s.stress, "stress", false, "instead, run the plain stress program with each planted bug, and keep the outcome")
	f.DurationVar(&s.stressFor, "stress-for", 10*time.Second, "duration of the stress program")
	f.BoolVar(&s.alone, "alone", false, "instead, find which properties see each planted bug, and keep the outcome")
	f.DurationVar(&s.cross, "cross", 2*time.Second, "with -alone: duration of the search by all properties")
	f.Uint64Var(&s.seed, "seed", 1, "base of the seeds")
	f.IntVar(&s.auto, "auto", 0, "instead, draw this many mechanical mutants of "+strings.Join(measured, ", ")+" by -seed, and keep their score in auto.json")
	f.StringVar(&s.pkg, "package", "", "with -auto: draw from this package alone, such as core/tcp")
	f.StringVar(&s.by, "by", "", "with -auto: let this kind of check alone look for each, such as sockets; of several, separated by commas, one looks for what those before it missed")
	f.IntVar(&s.together, "together", 100, "with -auto: build programs with so many mutants in them, of which each run chooses one; 1: a program for each")
	f.BoolVar(&s.keep, "keep", false, "with -auto: add the run to "+keptRuns)
	f.BoolVar(&s.autoCheck, "auto-check", false, "instead, compare the newest run of "+keptRuns+" with those before it")
	if err := command.Parse(f, args, stderr, s.check); err != nil {
		return s, err
	}
	s.room = newRoom(s.parallel)
	if s.short {
		s.interleave, s.control = min(s.interleave, shortInterleave), shortControl
	}
	s.out = s.inRoot(s.out)
	for _, dir := range strings.Split(s.dir, ",") {
		s.dirs = append(s.dirs, s.inRoot(dir))
	}
	return s, nil
}

// check refuses what no run can mean.
func (s *settings) check() error {
	if err := s.checkAuto(); err != nil {
		return err
	}
	if s.stress && s.alone {
		return errors.New("got both -stress and -alone, want one of them")
	}
	if s.short && s.only != "" {
		return fmt.Errorf("got both -short and -run %s, or MUTANT, want one of them", s.only)
	}
	return errors.Join(command.AtLeast("-parallel", s.parallel, 1), command.AtLeast("-interleave", s.interleave, 0),
		command.Positive("-own", s.own), command.Positive("-all", s.all), command.Positive("-stall", s.stall),
		command.Positive("-stress-for", s.stressFor), command.Positive("-cross", s.cross))
}

var defaultDirs = []string{
	filepath.Join("testdata", "mutants"), filepath.Join("testdata", "mutants", "poller"), filepath.Join("testdata", "interleave", "mutants"),
	filepath.Join("testdata", "mutants", "packages"), filepath.Join("testdata", "mutants", "checks"), filepath.Join("testdata", "mutants", "scheduler"),
	filepath.Join("testdata", "mutants", "equivalent"),
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
		return command.Refuse(stderr, "mutants", err)
	}
	if s.autoCheck {
		return s.checkKept(stdout, stderr)
	}
	if s.auto > 0 {
		return s.runAutoMode(stdout, stderr)
	}
	all, marks, err := loadAll(s.dirs)
	var planted []mutant.Mutant
	if err == nil {
		planted, err = s.choose(all)
	}
	if err != nil {
		fmt.Fprintln(stderr, "mutants:", err)
		return 2
	}
	switch {
	case s.stress:
		return s.runStressMode(all, planted, marks, stdout, stderr)
	case s.alone:
		return s.runAloneMode(all, planted, marks, stdout, stderr)
	}
	search := newSearcher(s)
	search.marks = marks
	j := &job{settings: s, marks: marks, try: search.try, control: search.control, progress: stderr}
	if s.dir == strings.Join(defaultDirs, ",") {
		j.there = names(all)
	}
	chosen, err := j.run(planted)
	chosen.table(stdout)
	if err != nil {
		fmt.Fprintln(stderr, "mutants:", err)
		return 2
	}
	return chosen.exitCode()
}

func names(all []mutant.Mutant) map[string]bool {
	set := map[string]bool{}
	for _, m := range all {
		set[m.Name] = true
	}
	return set
}

const (
	// How long the lane that chooses schedules may look then, and each lane for what it
	// finds without a mutant, which must be nothing: that is much of the time that all
	// of them take.
	shortInterleave = 5 * time.Second
	shortControl    = time.Second
)

// forControl is how long a lane looks without a mutant that looks so long with one.
func (s settings) forControl(d time.Duration) time.Duration {
	if s.control > 0 {
		return min(d, s.control)
	}
	return d
}

// choose returns the mutants that the command line asks for.
func (s settings) choose(all []mutant.Mutant) ([]mutant.Mutant, error) {
	if s.only != "" {
		return pick(all, []string{s.only}, "-run is")
	}
	if s.short {
		return pick(all, shortNames(), "-short wants")
	}
	return all, nil
}

// pick returns the mutants with these names.
func pick(all []mutant.Mutant, wanted []string, why string) ([]mutant.Mutant, error) {
	var some []mutant.Mutant
	for _, name := range wanted {
		at := slices.IndexFunc(all, func(m mutant.Mutant) bool { return m.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("%s %q, want one of the %d names there are", why, name, len(all))
		}
		some = append(some, all[at])
	}
	return some, nil
}
