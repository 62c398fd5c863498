// Command scale measures how throughput grows with producers, loops and connections on this
// machine, and simulates more processors.
//
//	go run ./bench/cmd/scale
//	go run ./bench/cmd/scale -run 'echo/' -connections 1,100,10000 -rounds 20
//
// It prints each curve with what its knee means, and writes out/scale.json. The exit code is
// 1 if something could not be measured, and 2 for bad usage. A point that needs more
// descriptors than the process may have is "not run", with the reason.
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
	"strconv"
	"strings"
	"time"

	"eventide/bench/scale"
	"eventide/internal/command"
	"eventide/internal/machine"
)

type flags struct {
	scale.Options
	out string
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main without the process. It returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	f, err := parse(args, stderr)
	if err != nil {
		return command.Refuse(stderr, "scale", err)
	}
	if err := measure(f, args, stdout); err != nil {
		fmt.Fprintln(stderr, "scale:", err)
		return 1
	}
	return 0
}

func parse(args []string, stderr io.Writer) (flags, error) {
	f := flags{Options: scale.Options{Progress: stderr, Connections: []int{1, 10, 100, 1000, 10_000, 100_000}}}
	set := flag.NewFlagSet("scale", flag.ContinueOnError)
	set.IntVar(&f.Rounds, "rounds", 12, fmt.Sprintf("rounds to measure, `n` >= %d", scale.MinRounds))
	set.IntVar(&f.Tasks, "tasks", 300_000, "tasks of one measurement")
	set.DurationVar(&f.Slice, "slice", 300*time.Millisecond, "length of one measurement of connections")
	set.Func("connections", "numbers of connections, ascending, such as `1,10,100`", func(s string) (err error) {
		f.Connections, err = numbers(s)
		return err
	})
	set.Func("run", "measure the curves whose name matches `regexp`", func(s string) (err error) {
		f.Run, err = regexp.Compile(s)
		return err
	})
	set.StringVar(&f.out, "out", "out", "directory for scale.json")
	err := command.Parse(set, args, stderr, func() error {
		return errors.Join(command.AtLeast("-rounds", f.Rounds, scale.MinRounds), command.AtLeast("-tasks", f.Tasks, 1000), command.Positive("-slice", f.Slice))
	})
	return f, err
}

// numbers reads a list of ascending numbers of connections.
func numbers(list string) ([]int, error) {
	var all []int
	for part := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not a number of 1 or more", part)
		}
		all = append(all, n)
	}
	if !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) < len(all) {
		return nil, fmt.Errorf("%q is not ascending", list)
	}
	return all, nil
}

func measure(f flags, args []string, stdout io.Writer) error {
	r := scale.Report{
		Schema: scale.Schema, Commit: machine.Commit(), Go: runtime.Version(), CPU: machine.CPU(), Kernel: machine.Kernel(),
		Procs: runtime.GOMAXPROCS(0), Command: strings.Join(append([]string{"scale"}, args...), " "),
		Transfer: scale.Transfer(), Locked: scale.Locked(),
	}
	curves, err := scale.Measure(f.Options)
	if err != nil {
		return err
	}
	r.Curves = curves
	r.Assumed, r.Simulated = scale.Simulated(r.Transfer, r.Locked)
	return errors.Join(r.WriteTable(stdout), command.WriteFile(filepath.Join(f.out, "scale.json"), r.WriteJSON))
}
