// Command interleave builds the interleave lane and runs it:
//
//	go run ./props/lanes/interleave/cmd/interleave -- -budget 30s
//	go run ./props/lanes/interleave/cmd/interleave -- -exhaust 2
//	go run ./props/lanes/interleave/cmd/interleave -speed
//	go run ./props/lanes/interleave/cmd/interleave -case FILE
//	go run ./props/lanes/interleave/cmd/interleave -mutant testdata/mutants/g3-no-final-drain.mutant
//	go run ./props/lanes/interleave/cmd/interleave -mutants testdata/interleave/mutants
//	go run ./props/lanes/interleave/cmd/interleave -mutants testdata/mutants,testdata/interleave/mutants -only '^g12' -seeds 15 -table testdata/interleave/strategies.json
//	go run ./props/lanes/interleave/cmd/interleave -- -exhaust 2 -exhaust-shutdown 3 -budget 10m -record out/exhausted.json
//	go run ./props/lanes/interleave/cmd/interleave record -o testdata/interleave/exhausted.json out/exhausted.json
//	go run ./props/lanes/interleave/cmd/interleave merge -o out/interleave.json out/interleave-*.json
//
// The arguments after -- are for the lane, see package interleave. While the lane runs, a
// line on standard error shows its progress every few seconds; at the end the last line on
// standard output is the verdict. -json prints the lane's own lines instead. With -mutants
// it plants each bug in turn, and each strategy hunts it alone: the table has the number of
// schedules to the kill, at the median of the seeds, and the size of one minimised kill of
// each bug. The exit code is that of the lane. With -mutants it is 0, or 2 if a mutant does
// not build. Of merge it is 0, or 1 if a shard has found something, or 2 if a shard is
// missing or has not come to its end.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"eventide/internal/command"
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
	json      bool
	seeds     int
	parallel  int
	budget    time.Duration

	tableFile  string // this and the next three: the flags of these names
	only       string
	strategies string
	limit      int

	lane []string // arguments of the lane
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main without the process. It returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		switch args[0] {
		case "merge":
			return interleave.MergeMain(args[1:], stdout, stderr)
		case "record":
			return interleave.RecordMain(args[1:], stdout, stderr)
		}
	}
	s, err := parse(args, stderr)
	if err != nil {
		return command.Refuse(stderr, "interleave", err)
	}
	code, err := s.run(stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "interleave:", err)
		return command.ExitUsage
	}
	return code
}

func parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	f := flag.NewFlagSet("interleave", flag.ContinueOnError)
	f.StringVar(&s.root, "root", ".", "root of the module")
	f.StringVar(&s.out, "out", filepath.Join("out", "interleave"), "where it builds")
	f.StringVar(&s.mutant, "mutant", "", "file of a mutant to plant")
	f.StringVar(&s.mutants, "mutants", "", "directories of mutants, each to be planted in turn; separated by commas")
	f.StringVar(&s.caseFile, "case", "", "case file to run again")
	f.BoolVar(&s.race, "race", false, "build with the race detector")
	f.BoolVar(&s.speed, "speed", false, "measure steps per second, plain and with the race detector, beside the programs without a scheduler")
	f.BoolVar(&s.json, "json", false, "print the lane's own lines, each @@ and an object of JSON, instead of a summary")
	f.IntVar(&s.seeds, "seeds", 5, "with -mutants: of each strategy")
	f.IntVar(&s.parallel, "parallel", 2, "with -mutants: how many at a time")
	f.DurationVar(&s.budget, "budget", 8*time.Second, "with -mutants: how long one may be looked for")
	f.StringVar(&s.tableFile, "table", filepath.Join("out", "strategies.json"), "with -mutants: file for how many schedules each strategy takes to each mutant; what is in it is not run again")
	f.StringVar(&s.only, "only", "", "with -mutants: those whose names match this pattern; the others keep what is in the file")
	f.StringVar(&s.strategies, "strategies", "", "with -mutants: strategies, separated by commas; none: all")
	f.IntVar(&s.limit, "limit", 10_000, fmt.Sprintf("with -mutants: schedules that a seed of a strategy gets; the exhaustive one, which has no seed, %d times as many", exhaustiveFactor))
	f.Usage = func() {
		fmt.Fprintln(f.Output(), "usage: interleave [flags] [-- flags of the lane], interleave merge, interleave record")
		f.PrintDefaults()
		fmt.Fprintln(f.Output(), "the flags of the lane: interleave -- -h")
	}
	if err := command.ParseFlags(f, args, stderr); err != nil {
		return s, err
	}
	s.lane = f.Args()
	return s, errors.Join(s.check(func(name string) bool { return command.Given(f, name) }), s.checkLane(stderr))
}

// ofMutants are the flags that have a meaning only with -mutants.
var ofMutants = []string{"seeds", "parallel", "budget", "table", "only", "strategies", "limit"}

// check returns an error for flags that have no meaning together, or bad values.
func (s settings) check(given func(string) bool) error {
	for _, name := range ofMutants {
		if given(name) && !given("mutants") {
			return fmt.Errorf("-%s has a meaning only with -mutants; a flag of the lane goes behind --", name)
		}
	}
	var modes []string
	for _, name := range []string{"mutants", "mutant", "speed", "case"} {
		if given(name) {
			modes = append(modes, "-"+name)
		}
	}
	if s.mutant != "" && s.caseFile != "" { // a case of that mutant
		modes = modes[1:]
	}
	if len(modes) > 1 {
		return fmt.Errorf("got %s, want one of them", strings.Join(modes, " and "))
	}
	if _, err := regexp.Compile(s.only); err != nil {
		return fmt.Errorf("-only is %q: %w", s.only, err)
	}
	if _, err := strategyNames(s.strategies); err != nil {
		return err
	}
	return errors.Join(command.AtLeast("-seeds", s.seeds, 1), command.AtLeast("-parallel", s.parallel, 1),
		command.Positive("-budget", s.budget), command.AtLeast("-limit", s.limit, 1))
}

// checkLane refuses arguments of the lane before the lane is built.
func (s settings) checkLane(stderr io.Writer) error {
	if len(s.lane) > 0 && (s.mutants != "" || s.speed) {
		return fmt.Errorf("got arguments %q, want none with -mutants or -speed", s.lane)
	}
	if s.mutants != "" || s.speed {
		return nil
	}
	err := interleave.CheckArgs(s.lane, stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		return fmt.Errorf("the lane: %w", err)
	}
	return err
}

func (s settings) run(stdout, stderr io.Writer) (int, error) {
	switch {
	case s.mutants != "":
		return s.compare()
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
	bin, err := lane.Build()
	if err != nil {
		return 2, err
	}
	free, err := lane.BuildFree()
	if err != nil {
		return 2, err
	}
	args := append(s.lane, "-free", free)
	if s.caseFile != "" {
		args = append(args, "-case", s.caseFile)
	}
	return s.follow(bin, args, stdout, stderr)
}

// exitInterrupted is the exit code of a run that a signal has ended.
const exitInterrupted = 130

// follow runs the lane and prints its output: unchanged with -json, otherwise as a
// digest.
func (s settings) follow(bin string, args []string, stdout, stderr io.Writer) (code int, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // after Ctrl-C the lane has got it from the terminal already
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.root, stdout, stderr
	cmd.Env = append(os.Environ(), "GORACE=exitcode=0") // the planted race is no failure
	d := newDigest(stdout, stderr)
	if !s.json {
		cmd.Stdout = d
	}
	err = cmd.Run()
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		code, err = exitInterrupted, nil
	case errors.As(err, &ended):
		code, err = ended.ExitCode(), nil
	}
	if err == nil && !s.json {
		err = d.end(code)
	}
	return code, err
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
