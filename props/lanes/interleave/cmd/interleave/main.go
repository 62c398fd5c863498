// Command interleave builds the interleave lane and runs it:
//
//	go run ./props/lanes/interleave/cmd/interleave -- -budget 30s
//	go run ./props/lanes/interleave/cmd/interleave -- -exhaust 2
//	go run ./props/lanes/interleave/cmd/interleave -speed
//	go run ./props/lanes/interleave/cmd/interleave -case FILE
//	go run ./props/lanes/interleave/cmd/interleave -mutant testdata/mutants/g3-no-final-drain.mutant
//	go run ./props/lanes/interleave/cmd/interleave -mutants testdata/mutants,testdata/interleave/mutants
//	go run ./props/lanes/interleave/cmd/interleave -mutants testdata/mutants,testdata/interleave/mutants -only '^g12' -seeds 15 -table testdata/interleave/strategies.json
//	go run ./props/lanes/interleave/cmd/interleave -- -exhaust 2 -exhaust-shutdown 3 -budget 10m -record out/exhausted.json
//	go run ./props/lanes/interleave/cmd/interleave record -o testdata/interleave/exhausted.json out/exhausted.json
//	go run ./props/lanes/interleave/cmd/interleave merge -o out/interleave.json out/interleave-*.json
//
// What follows -- is for the lane, see package interleave. With -mutants it plants
// each bug in turn and prints which the lane kills, after how many schedules at the
// median of the seeds, and which strategy found it. With -table as well, each strategy
// hunts each mutant alone, and one kill of each is made small. Exit code: that of the lane;
// with -mutants 0, or 2 if one does not build; of merge 0, 1 if a shard has found
// something, 2 if one is missing or has not come to its end.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"eventide/props/lanes/interleave"
	"eventide/props/lanes/interleave/build"
	"eventide/props/mutant"
)

type settings struct {
	root, out string
	mutant    string
	mutants   string
	caseFile  string
	race      bool
	speed     bool
	seeds     int
	parallel  int
	budget    time.Duration

	tableFile  string // and what goes with it
	only       string
	strategies string
	limit      int
}

func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "merge":
			os.Exit(interleave.MergeMain(os.Args[2:], os.Stdout, os.Stderr))
		case "record":
			os.Exit(interleave.RecordMain(os.Args[2:], os.Stdout, os.Stderr))
		}
	}
	var s settings
	flag.StringVar(&s.root, "root", ".", "root of the module")
	flag.StringVar(&s.out, "out", filepath.Join("out", "interleave"), "where it builds")
	flag.StringVar(&s.mutant, "mutant", "", "file of a mutant to plant")
	flag.StringVar(&s.mutants, "mutants", "", "directories of mutants, each to be planted in turn; separated by commas")
	flag.StringVar(&s.caseFile, "case", "", "case file to run again")
	flag.BoolVar(&s.race, "race", false, "build with the race detector")
	flag.BoolVar(&s.speed, "speed", false, "measure steps per second, plain and with the race detector, beside the programs without a scheduler")
	flag.IntVar(&s.seeds, "seeds", 5, "with -mutants: seeds for each that is killed; with -table: of each strategy")
	flag.IntVar(&s.parallel, "parallel", 2, "with -mutants: how many at a time")
	flag.DurationVar(&s.budget, "budget", 8*time.Second, "with -mutants: how long one may be looked for")
	flag.StringVar(&s.tableFile, "table", "", "with -mutants: file for how many schedules each strategy takes to each mutant; what is in it is not run again")
	flag.StringVar(&s.only, "only", "", "with -table: mutants whose names match this pattern; the others keep what is in the file")
	flag.StringVar(&s.strategies, "strategies", "", "with -table: strategies, separated by commas; none: all")
	flag.IntVar(&s.limit, "limit", 10_000, fmt.Sprintf("with -table: schedules that a seed of a strategy gets; the exhaustive one, which has no seed, %d times as many", exhaustiveFactor))
	flag.Parse()
	code, err := s.run(flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "interleave:", err)
		code = 2
	}
	os.Exit(code)
}

func (s settings) run(args []string) (int, error) {
	switch {
	case s.tableFile != "" && s.mutants == "":
		return 2, errors.New("-table wants -mutants, the directories of all mutants of the table")
	case s.tableFile != "":
		return s.compare()
	case s.mutants != "":
		return s.table()
	case s.speed:
		return 0, s.speeds()
	}
	lane := build.Lane{Root: s.root, Dir: s.out, Race: s.race}
	if s.mutant != "" {
		m, err := load(s.mutant)
		if err != nil {
			return 2, err
		}
		if lane.Changed, err = m.Apply(s.root); err != nil {
			return 2, err
		}
	}
	bin, _, err := lane.Build()
	if err != nil {
		return 2, err
	}
	free, err := lane.BuildFree()
	if err != nil {
		return 2, err
	}
	args = append(args, "-free", free)
	if s.caseFile != "" {
		args = append(args, "-case", s.caseFile)
	}
	cmd := exec.Command(bin, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.root, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "GORACE=exitcode=0") // the planted race is no failure
	err = cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return ended.ExitCode(), nil
	}
	return 0, err
}

// load reads one mutant by the path of its file.
func load(path string) (mutant.Mutant, error) {
	all, err := mutant.Load(filepath.Dir(path))
	if err != nil {
		return mutant.Mutant{}, err
	}
	name := strings.TrimSuffix(filepath.Base(path), ".mutant")
	for _, m := range all {
		if m.Name == name {
			return m, nil
		}
	}
	return mutant.Mutant{}, fmt.Errorf("-mutant is %q, and %s has no such file", path, filepath.Dir(path))
}
