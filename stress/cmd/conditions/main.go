// Command conditions runs every test binary of the module under conditions that differ
// from machine to machine: socket buffers, processors, limits, load, locale.
//
//	go run ./stress/cmd/conditions                                  all packages, all conditions
//	go run ./stress/cmd/conditions -conditions load,procs-1 ./core/...
//	go run ./stress/cmd/conditions -race -conditions buffers-small ./core/tcp
//	go run ./stress/cmd/conditions -list                            the conditions
//
// Each binary is built once and runs alone. The command prints a table and writes
// out/conditions.json, and the output of each run to out/conditions. A condition that
// this machine cannot set up is "not run" and never counts as passed.
//
// Exit code 0: no test failed; 1: a test failed, or a binary does not build; 2: usage, or
// the packages could not be listed; 3, with -strict: something was not run; 130:
// interrupted.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"eventide/internal/command"
)

const (
	exitPass        = 0
	exitFail        = 1
	exitUsage       = command.ExitUsage
	exitNotRun      = 3
	exitInterrupted = 130
)

func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case confinedVerb:
			os.Exit(confined(os.Args[2:]))
		case busyVerb:
			busy(os.Stdin)
			return
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// settings are the command line.
type settings struct {
	packages   []string
	conditions []condition
	tests      string // a pattern for -test.run; empty for all tests
	root, out  string
	timeout    time.Duration
	grace      time.Duration // beyond the timeout, to print the stacks of all goroutines
	race       bool
	short      bool
	strict     bool
	list       bool
}

func parse(args []string, stderr io.Writer) (settings, error) {
	s := settings{conditions: table(), grace: time.Minute}
	f := flag.NewFlagSet("conditions", flag.ContinueOnError)
	f.Usage = func() {
		fmt.Fprintln(f.Output(), "usage: conditions [flags] [packages]\nexit 0 pass, 1 a failure, 2 usage, 3 not run and -strict; more: go doc eventide/stress/cmd/conditions")
		f.PrintDefaults()
	}
	f.Func("conditions", "run these `conditions` only, separated by commas; -list names them", func(v string) (err error) {
		s.conditions, err = choose(table(), v)
		return err
	})
	f.Func("run", "run the tests that match `regexp` only", func(v string) error {
		s.tests = v
		_, err := regexp.Compile(v)
		return err
	})
	f.StringVar(&s.root, "root", ".", "root of the module")
	f.StringVar(&s.out, "out", "out", "`directory` of conditions.json, of the binaries and of their output, from the root")
	f.DurationVar(&s.timeout, "timeout", 10*time.Minute, "how long one binary may take under one condition")
	f.BoolVar(&s.race, "race", false, "build with the race detector")
	f.BoolVar(&s.short, "short", true, "run the tests with -short")
	f.BoolVar(&s.strict, "strict", false, "exit with 3 if something was not run")
	f.BoolVar(&s.list, "list", false, "print the conditions and exit")
	if err := command.ParseFlags(f, args, stderr); err != nil {
		return s, err
	}
	if err := command.Positive("-timeout", s.timeout); err != nil {
		return s, err
	}
	s.packages = f.Args()
	if len(s.packages) == 0 {
		s.packages = []string{"./..."}
	}
	for _, p := range s.packages {
		if strings.HasPrefix(p, "-") {
			return s, fmt.Errorf("the package is %q: flags go before the packages", p)
		}
	}
	return s, s.absolute()
}

// absolute makes the directories independent of the working directory: a test runs in
// the directory of its package.
func (s *settings) absolute() (err error) {
	if s.root, err = filepath.Abs(s.root); err != nil {
		return err
	}
	if !filepath.IsAbs(s.out) {
		s.out = filepath.Join(s.root, s.out)
	}
	return nil
}

// run is the command without the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s, err := parse(args, stderr)
	if err != nil {
		return command.Refuse(stderr, "conditions", err)
	}
	if s.list {
		for _, c := range s.conditions {
			fmt.Fprintf(stdout, "%-14s %s\n", c.Name, c.Text)
		}
		return exitPass
	}
	r, err := s.measure(ctx, stderr)
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(stderr, "conditions:", err)
		return exitUsage
	}
	if r != nil {
		r.print(stdout)
	}
	if ctx.Err() != nil {
		fmt.Fprintln(stderr, "conditions: interrupted; what is left is not run")
		return exitInterrupted
	}
	return r.exitCode(s.strict)
}
