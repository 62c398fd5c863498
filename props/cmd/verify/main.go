// Command verify gives a verdict for each guarantee: it explores the model, judges the
// kept traces, runs the properties on generated programs, and plants a bug for each
// guarantee to show that its check can fail.
//
//	go run ./props/cmd/verify -budget 30s
//
// It prints the verdicts, and writes verify.json and a page for people, report.html; -show
// prints the verdicts of a verify.json again, and -speed 3 measures the speed of two lanes instead. Exit code 0: no violation; 1: a violation; 2: usage, or something could not be
// run; 3, with -strict: a guarantee that this build checks did not count as passed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"eventide/internal/command"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// settings are the command line.
type settings struct {
	budget time.Duration
	seed   uint64
	root   string // of the module
	out    string
	strict bool
	show   string // a verify.json to print, instead of a run
	speed  int    // rounds of measureSpeed, instead of a run; 0: a run
}

func parse(args []string, stderr io.Writer) (settings, error) {
	s := settings{budget: 2 * time.Minute, seed: uint64(time.Now().UnixNano())}
	if text := os.Getenv("BUDGET"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return s, fmt.Errorf("BUDGET is %q, want a duration such as 30s", text)
		}
		s.budget = d
	}
	f := flag.NewFlagSet("verify", flag.ContinueOnError)
	f.DurationVar(&s.budget, "budget", s.budget, "duration of the search, without builds; guarantees that were exercised too seldom get as much again; also the environment variable BUDGET")
	f.Uint64Var(&s.seed, "seed", s.seed, "base of the seeds")
	f.StringVar(&s.root, "root", ".", "root of the module")
	f.StringVar(&s.out, "out", "out", "directory of verify.json and of built binaries, from the root")
	f.BoolVar(&s.strict, "strict", false, "exit with 3 unless every checked guarantee passed")
	f.StringVar(&s.show, "show", "", "print the verdicts of a verify.json, and run nothing")
	f.IntVar(&s.speed, "speed", 0, "measure the speed of the virtual lane and of the interleave lane, each alone on one processor, this often, and run nothing else; -budget is the time of each, 20s if it is not given")
	check := func() error {
		switch {
		case command.Given(f, "speed") && s.speed < 1:
			return fmt.Errorf("-speed is %d, want at least 1", s.speed)
		case s.speed > 0 && (s.show != "" || s.strict):
			return errors.New("got -speed and one of -show and -strict, want -speed alone")
		case s.speed > 0 && !command.Given(f, "budget") && os.Getenv("BUDGET") == "":
			s.budget = speedBudget
		}
		return command.Positive("-budget", s.budget)
	}
	if err := command.Parse(f, args, stderr, check); err != nil {
		return s, err
	}
	if !filepath.IsAbs(s.out) {
		s.out = filepath.Join(s.root, s.out)
	}
	return s, nil
}

func run(args []string, stdout, stderr io.Writer) int {
	s, err := parse(args, stderr)
	if err != nil {
		return command.Refuse(stderr, "verify", err)
	}
	if s.show != "" {
		return show(s, stdout, stderr)
	}
	v := &verification{settings: s, began: time.Now(), clock: &timetable{budget: s.budget, planted: len(checked())}}
	v.live = newLive(stdout, func() estimate { return v.clock.left(time.Now()) })
	fmt.Fprintf(stdout, "seed %d, budget %v\n", s.seed, s.budget)
	if s.speed > 0 {
		if err := v.measureSpeed(stdout); err != nil {
			fmt.Fprintln(stderr, "verify:", err)
			return 2
		}
		return 0
	}
	if err := v.run(); err != nil {
		fmt.Fprintln(stderr, "verify:", err)
		return 2
	}
	report := v.report()
	if err := report.write(filepath.Join(s.out, "verify.json")); err != nil {
		fmt.Fprintln(stderr, "verify:", err)
		return 2
	}
	report.table(stdout)
	page := filepath.Join(s.out, "report.html")
	if err := report.writePage(page, s.root, filepath.Join(s.out, "cases")); err != nil {
		fmt.Fprintln(stderr, "verify:", err)
		return 2
	}
	fmt.Fprintf(stdout, "as a page, with kept and failing runs step by step: %s\n", page)
	return report.exitCode(s.strict)
}

// show prints the verdicts of an earlier run. The exit code is that of the run.
func show(s settings, stdout, stderr io.Writer) int {
	r, err := readReport(s.show)
	if err != nil {
		fmt.Fprintln(stderr, "verify:", err)
		return 2
	}
	r.table(stdout)
	return r.exitCode(s.strict)
}
