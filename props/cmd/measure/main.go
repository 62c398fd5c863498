// Measure makes the figures about chosen schedules that are kept in testdata/interleave.
//
//	measure kernels       each strategy and each other tool on each kernel
//	measure determinism   whether a schedule is the same in every process
//	measure speed         schedules per second
//	measure pages         write the pages from the kept figures
//	measure check         fail if the pages do not state the kept figures
//
// It runs from the root of the repository. The make targets build it with its revision.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"eventide/internal/command"
	"eventide/props/interleave/driver"
	"eventide/props/interleave/evidence"
	"eventide/props/interleave/measure"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// settings are the flags.
type settings struct {
	kept, docs, dir string
	args            []string // flags that change the figures
	side, load      int
	rounds          int
	budget          time.Duration
	limits          evidence.Limits
}

// run is main without the process. It returns the exit code: 1 if a measurement failed
// or a page is not current, 2 for usage.
func run(args []string, stdout, stderr io.Writer) int {
	var s settings
	f := flag.NewFlagSet("measure", flag.ContinueOnError)
	f.StringVar(&s.kept, "kept", "testdata/interleave", "directory of the kept figures")
	f.StringVar(&s.docs, "docs", "docs", "directory of the pages")
	f.StringVar(&s.dir, "dir", "out/measure", "directory for test binaries")
	f.IntVar(&s.side, "side", 4, "kernels or tests measured at once")
	f.IntVar(&s.load, "load", runtime.NumCPU(), "goroutines that keep the processors busy while determinism is measured")
	f.IntVar(&s.rounds, "rounds", 3, "runs of interleave bench, of which the best is kept")
	f.DurationVar(&s.budget, "budget", 20*time.Minute, "time after which the rest of the kernels is not run")
	f.IntVar(&s.limits.Seeds, "seeds", 11, "seeds of a strategy")
	f.Uint64Var(&s.limits.Schedules, "schedules", 2000, "most schedules of a seed")
	f.Uint64Var(&s.limits.Exhaustive, "exhaustive", 20000, "most schedules of the exhaustive search")
	f.IntVar(&s.limits.Bound, "bound", 2, "preemptions of the exhaustive search")
	f.IntVar(&s.limits.Batches, "batches", 5, "batches of another tool")
	f.IntVar(&s.limits.Runs, "runs", 100, "runs in a batch")
	f.Float64Var(&s.limits.Timeout, "timeout", 15, "seconds until a batch counts as hung")
	if err := command.ParseFlags(f, args, stderr); err != nil {
		return command.Refuse(stderr, "measure", err)
	}
	f.Visit(func(f *flag.Flag) {
		if f.Name != "kept" && f.Name != "docs" && f.Name != "dir" { // places change no figure
			s.args = append(s.args, "-"+f.Name, f.Value.String())
		}
	})
	what, ok := subcommands[f.Arg(0)]
	if !ok || f.NArg() != 1 {
		return command.Refuse(stderr, "measure", fmt.Errorf("got arguments %q, want one of kernels, determinism, speed, pages, check", f.Args()))
	}
	if err := what(&s, stdout); err != nil {
		fmt.Fprintln(stderr, "measure:", err)
		return 1
	}
	return 0
}

var subcommands = map[string]func(*settings, io.Writer) error{
	"kernels":     (*settings).kernels,
	"determinism": (*settings).determinism,
	"speed":       (*settings).speed,
	"pages":       func(s *settings, _ io.Writer) error { return s.pages(false) },
	"check":       func(s *settings, _ io.Writer) error { return s.pages(true) },
}

func (s *settings) file(name string) string { return filepath.Join(s.kept, name) }

// kernels measures the kernels and writes their file and page.
func (s *settings) kernels(stdout io.Writer) error {
	about, err := evidence.Describe("interleave-kernels", s.args)
	if err != nil {
		return err
	}
	k, err := measure.Kernels(s.dir, s.limits, s.budget, s.side, func(r *evidence.Row) { fmt.Fprintln(stdout, "measured", r.Kernel) })
	if err != nil {
		return err
	}
	k.About = about
	if err := evidence.Write(s.file("kernels.json"), k); err != nil {
		return err
	}
	return s.pages(false)
}

// Sizes of the measurement of determinism.
const (
	repeatedSchedules = 100
	repeatedProcesses = 20
)

// determinism repeats the schedules of the controlled tests and writes their file.
func (s *settings) determinism(stdout io.Writer) error {
	about, err := evidence.Describe("interleave-determinism", s.args)
	if err != nil {
		return err
	}
	d, err := measure.Determinism(s.dir, repeatedSchedules, repeatedProcesses, s.load, s.side, func(r evidence.Repeated) {
		fmt.Fprintf(stdout, "%s %s: %d processes differ\n", r.Package, r.Test, r.Different)
	})
	if err != nil {
		return err
	}
	d.About = about
	return evidence.Write(s.file("determinism.json"), d)
}

// speed runs interleave bench several times and writes the best of what it printed.
func (s *settings) speed(stdout io.Writer) error {
	about, err := evidence.Describe("interleave-speed", s.args)
	if err != nil {
		return err
	}
	var rounds []string
	for range s.rounds {
		var printed strings.Builder
		if _, err := driver.Bench(driver.Options{Stdout: io.MultiWriter(stdout, &printed)}); err != nil {
			return err
		}
		rounds = append(rounds, printed.String())
	}
	v, err := measure.Speed(rounds)
	if err != nil {
		return err
	}
	v.About = about
	return evidence.Write(s.file("speed.json"), v)
}

// pages writes the pages, or with check compares them.
func (s *settings) pages(check bool) error {
	k, err := evidence.ReadKernels(s.file("kernels.json"))
	if err != nil {
		return err
	}
	page, err := k.Page()
	if err != nil {
		return err
	}
	return evidence.Render(filepath.Join(s.docs, "kernels.md"), page, check)
}
