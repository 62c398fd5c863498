// Command ablation measures what parts of core cost, by programs without them.
//
//	go run ./bench/cmd/ablation
//	go run ./bench/cmd/ablation -run 'timer-' -rounds 30
//
// It prints a table and writes out/ablation.json. The exit code is 1 if something could not be
// measured, 2 for bad usage, and 130 if it was interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"eventide/bench/ablation"
	"eventide/internal/command"
	"eventide/internal/machine"
)

type flags struct {
	ablation.Options
	out string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is main without the process. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	f, err := parse(args, stderr)
	if err != nil {
		return command.Refuse(stderr, "ablation", err)
	}
	switch err := measure(ctx, f, args, stdout); {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "ablation: interrupted")
		return 130
	case err != nil:
		fmt.Fprintln(stderr, "ablation:", err)
		return 1
	}
	return 0
}

func parse(args []string, stderr io.Writer) (flags, error) {
	f := flags{Options: ablation.Options{Progress: stderr}}
	set := flag.NewFlagSet("ablation", flag.ContinueOnError)
	set.StringVar(&f.Root, "root", ".", "root of the module")
	set.IntVar(&f.Rounds, "rounds", 20, fmt.Sprintf("rounds to measure, `n` >= %d", ablation.MinRounds))
	set.DurationVar(&f.Sample, "sample", 20*time.Millisecond, "length of one measurement")
	set.Func("run", "measure the ablations and benchmarks whose name matches `regexp`", func(s string) (err error) {
		f.Run, err = regexp.Compile(s)
		return err
	})
	set.StringVar(&f.out, "out", "out", "directory for ablation.json and the built binaries")
	err := command.Parse(set, args, stderr, func() error {
		return errors.Join(command.AtLeast("-rounds", f.Rounds, ablation.MinRounds), command.Positive("-sample", f.Sample))
	})
	return f, err
}

func measure(ctx context.Context, f flags, args []string, stdout io.Writer) error {
	var err error
	if f.Root, err = filepath.Abs(f.Root); err != nil {
		return err
	}
	if f.Work, err = filepath.Abs(filepath.Join(f.out, "ablation")); err != nil {
		return err
	}
	all, err := ablation.Load(filepath.Join(f.Root, "testdata", "ablations"))
	if err != nil {
		return err
	}
	r := ablation.Report{
		Schema: ablation.Schema, Commit: machine.Commit(), Go: runtime.Version(), CPU: machine.CPU(), Kernel: machine.Kernel(),
		Procs: runtime.GOMAXPROCS(0), Command: strings.Join(append([]string{"ablation"}, args...), " "),
	}
	if r.Rows, err = ablation.Measure(ctx, all, f.Options); err != nil {
		return err
	}
	if len(r.Rows) == 0 {
		return errors.New("-run matches no ablation and no benchmark")
	}
	return errors.Join(r.WriteTable(stdout), command.WriteFile(filepath.Join(f.out, "ablation.json"), r.WriteJSON))
}
