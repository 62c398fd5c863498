package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"eventide/props/interleave/driver"
)

// errHelp is returned for -h, when the flags have been printed.
var errHelp = flag.ErrHelp

// inputError wraps driver.ErrInput.
type inputError string

func (e inputError) Error() string        { return string(e) }
func (e inputError) Is(target error) bool { return target == driver.ErrInput }

// A command is the flags of one command, and what they set.
type command struct {
	set   *flag.FlagSet
	opts  driver.Options
	leaks bool
}

// refused are flags of go test that have no meaning under chosen schedules.
var refused = []string{"bench", "benchmem", "benchtime", "blockprofile", "cover", "covermode", "coverpkg", "coverprofile", "cpu", "cpuprofile",
	"exec", "fuzz", "fuzzminimizetime", "fuzztime", "list", "memprofile", "mutexprofile", "o", "c", "msan", "asan", "shuffle", "trace", "vet", "overlay", "gcflags", "toolexec"}

func newCommand(name string, stdout, stderr io.Writer) *command {
	c := &command{set: flag.NewFlagSet(name, flag.ContinueOnError)}
	c.set.SetOutput(io.Discard) // errors are returned, and printed once
	c.opts.Stdout, c.opts.Stderr = stdout, stderr
	o := &c.opts
	c.set.StringVar(&o.Run, "run", "", "run only tests that match the `regexp`")
	c.set.StringVar(&o.Skip, "skip", "", "leave out tests that match the `regexp`")
	c.set.BoolVar(&o.Race, "race", false, "build with the race detector")
	c.set.BoolVar(&o.Short, "short", false, "as testing.Short")
	c.set.BoolVar(&o.Verbose, "v", false, "print each test, and what was covered")
	c.set.BoolVar(&o.JSON, "json", false, "print events as go test -json does")
	c.set.BoolVar(&o.FailFast, "failfast", false, "end a test's search at its first finding")
	c.set.StringVar(&o.Tags, "tags", "", "build `tags`, separated by commas")
	c.set.IntVar(&o.Count, "count", 1, "explore each test `n` times, with a seed of its own each time")
	c.set.IntVar(&o.Parallel, "parallel", 0, "parallel tests within a schedule; `n` is 8 by default")
	c.set.DurationVar(&o.Timeout, "timeout", 0, "end the run of a package after `d`; 10m by default")
	for _, name := range []string{"mod", "modfile", "ldflags"} {
		c.set.Func(name, "as the go command's build flag", func(v string) error {
			o.Build = append(o.Build, "-"+name+"="+v)
			return nil
		})
	}
	c.set.DurationVar(&o.Budget, "budget", 0, "search for `d`, all tests together")
	c.set.Uint64Var(&o.Schedules, "schedules", 0, "explore `n` schedules of each test; 1000 in at most 10s by default")
	c.set.Uint64Var(&o.Steps, "steps", 0, "limit of the operations of a schedule; `n` is 2000000 by default")
	c.set.Uint64Var(&o.Seed, "seed", 1, "seed of all chance, `n` > 0")
	c.set.IntVar(&o.Exhaust, "exhaust", -1, "explore every schedule with at most `n` preemptions")
	c.set.StringVar(&o.Strategy, "strategy", "", "`name` of one of "+strings.Join(driver.Strategies, ", "))
	c.set.StringVar(&o.Time, "time", "", "`when` the clock moves: idle, mixed or early")
	c.set.StringVar(&o.Net, "net", "", "`where` sockets of this host live: in memory, or real for the kernel's")
	c.set.BoolVar(&c.leaks, "leaks", true, "goroutines that a test leaves behind are findings")
	c.set.BoolVar(&o.Fresh, "fresh", false, "run each schedule in a process of its own")
	c.set.IntVar(&o.Processes, "p", 0, "controlled processes at once; `n` is the number of processors by default")
	c.set.StringVar(&o.State, "state", "", "keep what is done in `file`, and go on from it")
	c.set.StringVar(&o.JUnit, "junit", "", "write the results to `file` as JUnit XML")
	c.set.StringVar(&o.HTML, "html", "", "write a timeline of each finding into `dir`")
	c.set.BoolVar(&o.Write, "write", false, "write findings into testdata/interleave of the package")
	return c
}

// parse reads flags and packages in any order, as the go command does.
func (c *command) parse(args []string) error {
	if i := slices.Index(args, "-args"); i >= 0 {
		c.opts.Args, args = args[i+1:], args[:i]
	}
	for len(args) > 0 {
		if !strings.HasPrefix(args[0], "-") {
			c.opts.Patterns = append(c.opts.Patterns, args[0])
			args = args[1:]
			continue
		}
		if err := c.flag(args); err != nil {
			return err
		}
		args = c.set.Args()
	}
	c.opts.Leaks = c.leaks
	return c.check()
}

// flag parses flags up to the first argument that is none.
func (c *command) flag(args []string) error {
	err := c.set.Parse(args)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, flag.ErrHelp):
		c.set.SetOutput(c.opts.Stdout)
		fmt.Fprintf(c.opts.Stdout, "usage: interleave %s [flags] [packages]\n", c.set.Name())
		c.set.PrintDefaults()
		return errHelp
	}
	for _, name := range refused {
		if strings.HasSuffix(err.Error(), "not defined: -"+name) {
			return inputError(fmt.Sprintf("-%s of go test is not supported: it has no meaning under chosen schedules", name))
		}
	}
	return inputError(fmt.Sprintf("%v; interleave %s -h lists the flags", err, c.set.Name()))
}

func (c *command) check() error {
	given := map[string]bool{}
	c.set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case given["exhaust"] && c.opts.Exhaust < 0:
		return inputError(fmt.Sprintf("-exhaust %d: want 0 or more preemptions", c.opts.Exhaust))
	case given["exhaust"] && given["strategy"]:
		return inputError("-exhaust and -strategy exclude each other")
	case given["exhaust"] && given["schedules"]:
		return inputError("-exhaust and -schedules exclude each other")
	case given["budget"] && c.opts.Budget <= 0:
		return inputError(fmt.Sprintf("-budget %v: want a positive duration", c.opts.Budget))
	case given["schedules"] && c.opts.Schedules == 0:
		return inputError("-schedules 0: want a positive number")
	case given["steps"] && c.opts.Steps == 0:
		return inputError("-steps 0: want a positive number")
	case given["count"] && c.opts.Count <= 0:
		return inputError(fmt.Sprintf("-count %d: want a positive number", c.opts.Count))
	case given["seed"] && c.opts.Seed == 0:
		return inputError("-seed 0: want a positive number")
	}
	return nil
}
