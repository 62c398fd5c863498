// Command compare measures core beside its rivals, interleaved in one process,
// and says which targets are met.
//
//	go run ./bench/cmd/compare
//	go run ./bench/cmd/compare -run 'Execute/' -rounds 21 -slice 50ms
//
// It prints a table and writes out/bench.json, out/bench.txt, which benchstat
// reads, and out/histograms.txt with every latency (format: package bench). The exit code is 0 whether targets are met or not, but 1 with -strict if
// one is missed; 1 if something could not be measured; 2 for bad usage.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"eventide/bench"
	"eventide/bench/compare"
	"eventide/internal/command"
	"eventide/internal/machine"
)

type flags struct {
	rounds int
	slice  time.Duration
	run    *regexp.Regexp
	strict bool
	out    string
}

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

// run is main without the process. It returns the exit code.
func run(args []string, stderr io.Writer) int {
	f, err := parse(args, stderr)
	if err != nil {
		return command.Refuse(stderr, "compare", err)
	}
	missed, err := measure(f)
	if err != nil {
		fmt.Fprintln(stderr, "compare:", err)
		return 1
	}
	if f.strict && missed > 0 {
		return 1
	}
	return 0
}

func parse(args []string, stderr io.Writer) (flags, error) {
	f := flags{run: regexp.MustCompile("")}
	set := flag.NewFlagSet("compare", flag.ContinueOnError)
	set.IntVar(&f.rounds, "rounds", 12, fmt.Sprintf("rounds to measure, `n` >= %d", compare.MinRounds))
	set.DurationVar(&f.slice, "slice", 30*time.Millisecond, "length of one measurement")
	set.Func("run", "measure the cases whose name matches `regexp`, and what they are compared with", func(s string) (err error) {
		f.run, err = regexp.Compile(s)
		return err
	})
	set.BoolVar(&f.strict, "strict", false, "exit with 1 if a target is missed")
	set.StringVar(&f.out, "out", "out", "directory for bench.json, bench.txt and histograms.txt")
	err := command.Parse(set, args, stderr, func() error {
		return errors.Join(command.AtLeast("-rounds", f.rounds, compare.MinRounds), command.Positive("-slice", f.slice))
	})
	return f, err
}

func measure(f flags) (missed int, err error) {
	allocs, err := compare.AllocTargets()
	if err != nil {
		return 0, err
	}
	results, err := compare.Measure(compare.Options{
		Groups: bench.Groups(bench.TimerCounts), Run: f.run, Rounds: f.rounds, Slice: f.slice,
		Progress: func(workload string) { fmt.Fprintln(os.Stderr, "measuring", workload) },
	})
	if err != nil {
		return 0, err
	}
	if len(results) == 0 {
		return 0, fmt.Errorf("no case matches -run %v", f.run)
	}
	rows := results.Rows()
	growths := compare.Growths(rows)
	targets := slices.Concat(compare.RatioTargets(rows), compare.GrowthTargets(growths), results.ShortTargets(), allocs)
	report := compare.Report{
		Schema: 1, Commit: machine.Commit(), Go: runtime.Version(), CPU: machine.CPU(), Procs: runtime.GOMAXPROCS(0),
		Command: strings.Join(append([]string{"compare"}, os.Args[1:]...), " "),
		Rows:    rows, Targets: targets,
	}
	return report.Missed(), errors.Join(report.WriteTable(os.Stdout, growths), save(f.out, report, results))
}

// save writes all files.
func save(dir string, report compare.Report, results compare.Results) error {
	return errors.Join(
		command.WriteFile(filepath.Join(dir, "bench.json"), report.WriteJSON),
		command.WriteFile(filepath.Join(dir, "histograms.txt"), results.WriteHistograms),
		command.WriteFile(filepath.Join(dir, "bench.txt"), func(w io.Writer) error { return results.WriteBenchFormat(w, report) }),
	)
}
