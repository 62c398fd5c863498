package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	commandline "eventide/internal/command"
	"eventide/props/interleave/driver"
	"eventide/props/interleave/protocol"
)

// arguments are what the commands take behind their flags.
var arguments = map[string]string{"test": " [packages]", "hunt": " [package]", "replay": " FILE", "merge": " FILES"}

// meaningful are the flags of the commands that do not search.
var meaningful = map[string][]string{
	"replay": {"v", "html", "timeout", "mod", "modfile", "ldflags"},
	"merge":  {"v", "json", "junit"},
	"doctor": {"seed"},
	"bench":  {"seed", "net"},
}

// keepMeaningful takes the flags away that mean nothing to the command.
func (c *command) keepMeaningful() {
	names, ok := meaningful[c.set.Name()]
	if !ok {
		return
	}
	kept := flag.NewFlagSet(c.set.Name(), flag.ContinueOnError)
	for _, name := range names {
		f := c.set.Lookup(name)
		kept.Var(f.Value, f.Name, f.Usage)
	}
	kept.Usage = c.set.Usage
	c.set = kept
}

// A usageError is a mistake in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

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
	c.set.Usage = func() {
		fmt.Fprintf(c.set.Output(), "usage: interleave %s [flags]%s\n", name, arguments[name])
		c.set.PrintDefaults()
	}
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
	c.set.Func("faults", "faults that may happen: all, or a `list` of "+strings.Join(protocol.Faults(), ", "), func(v string) error {
		o.Faults = strings.Split(v, ",")
		return nil
	})
	c.set.BoolVar(&c.leaks, "leaks", true, "goroutines that a test leaves behind are findings")
	c.set.BoolVar(&o.Fresh, "fresh", false, "run each schedule in a process of its own")
	c.set.IntVar(&o.Processes, "p", 0, "controlled processes at once; `n` is the number of processors by default")
	c.set.StringVar(&o.State, "state", "", "keep what is done in `file`, and go on from it")
	c.set.StringVar(&o.JUnit, "junit", "", "write the results to `file` as JUnit XML")
	c.set.StringVar(&o.HTML, "html", "", "write a timeline of each finding into `dir`")
	c.set.BoolVar(&o.Write, "write", false, "write findings into testdata/interleave of the package")
	c.keepMeaningful()
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
			return usageError{err}
		}
		args = c.set.Args()
	}
	c.opts.Leaks = c.leaks
	if err := c.check(); err != nil {
		return usageError{err}
	}
	return nil
}

// flag parses flags up to the first argument that is none.
func (c *command) flag(args []string) error {
	err := commandline.ParseFlags(c.set, args, c.opts.Stdout)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	for _, name := range refused {
		if strings.HasSuffix(err.Error(), "not defined: -"+name) {
			return fmt.Errorf("-%s of go test is not supported: it has no meaning under chosen schedules", name)
		}
	}
	return err
}

func (c *command) check() error {
	o := &c.opts
	for _, err := range []error{
		c.given("budget", commandline.Positive("-budget", o.Budget)),
		c.given("schedules", commandline.Positive("-schedules", o.Schedules)),
		c.given("steps", commandline.Positive("-steps", o.Steps)),
		c.given("count", commandline.Positive("-count", o.Count)),
		c.given("seed", commandline.Positive("-seed", o.Seed)),
		c.given("timeout", commandline.Positive("-timeout", o.Timeout)),
		c.given("p", commandline.Positive("-p", o.Processes)),
		c.given("parallel", commandline.Positive("-parallel", o.Parallel)),
		c.given("exhaust", commandline.AtLeast("-exhaust", o.Exhaust, 0)),
		c.given("strategy", commandline.OneOf("-strategy", o.Strategy, driver.Strategies)),
		c.given("time", commandline.OneOf("-time", o.Time, driver.Times)),
		c.given("net", commandline.OneOf("-net", o.Net, driver.Nets)),
	} {
		if err != nil {
			return err
		}
	}
	for _, other := range []string{"strategy", "schedules"} {
		if commandline.Given(c.set, "exhaust") && commandline.Given(c.set, other) {
			return fmt.Errorf("-exhaust and -%s exclude each other", other)
		}
	}
	return nil
}

// given is err if the flag was on the command line: a flag that was not has the driver's
// default.
func (c *command) given(name string, err error) error {
	if commandline.Given(c.set, name) {
		return err
	}
	return nil
}
