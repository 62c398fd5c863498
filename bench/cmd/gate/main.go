// Command gate compares the benchmarks of the working tree of any Go module with those of
// an older commit.
//
//	go build -o out/gate ./bench/cmd/gate
//	out/gate -base main ./...
//	out/gate -base v1.2.0 -run 'Encode|Decode' -markdown gate.md ./codec
//	out/gate -base main -times off ./...
//	out/gate -prove 50 -json out/gateproof.json
//
// Build it: go run turns every exit code but 0 into 1. Exit code 0: pass; 1: a regression;
// 2: usage, or something does not build; 3: inconclusive; 4: the gate did not see what it
// planted itself; 130: interrupted, and cleaned up.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"eventide/bench/gate"
	"eventide/internal/command"
)

const exitInterrupted = 130

const usage = `usage: gate -base commit [flags] [packages]
exit 0 pass, 1 a regression, 2 usage, 3 inconclusive, 4 the gate did not see what it planted; more: go doc eventide/bench/gate`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

type settings struct {
	gate.Options
	json, markdown string
	prove          int
}

func parse(args []string, stderr io.Writer) (settings, error) {
	s := settings{Options: gate.Default()}
	s.Progress = stderr
	f := flag.NewFlagSet("gate", flag.ContinueOnError)
	f.Usage = func() {
		fmt.Fprintln(f.Output(), usage)
		f.PrintDefaults()
	}
	f.StringVar(&s.Base, "base", "", "the `commit` to compare with; required")
	f.StringVar(&s.Dir, "C", s.Dir, "`directory` of the module, whose working tree is head")
	f.IntVar(&s.Rounds, "rounds", s.Rounds, "measure times in at most `n` rounds of each stage, 10 to 200")
	f.IntVar(&s.Layouts, "layouts", s.Layouts, "link each side in `n` random layouts; 1: in the linker's own")
	f.Float64Var(&s.Least, "least", s.Least, "the least relative `change` of ns/op that is worth an alarm")
	f.Float64Var(&s.Blind, "blind", s.Blind, "a time of which no `change` as small as this could be seen is inconclusive")
	f.DurationVar(&s.Budget, "budget", s.Budget, "leave out the benchmarks whose times do not fit in this `time`, and say so")
	f.StringVar(&s.Times, "times", s.Times, "`auto`: unless the machine is too noisy; on: in any case; off: compare counts only")
	f.BoolVar(&s.Strict, "strict", false, "a figure that cannot be measured makes the verdict inconclusive")
	f.BoolVar(&s.Always, "always", false, "measure packages that have not changed too")
	f.BoolVar(&s.Blame, "blame", false, "look for the commit and the functions of each regression")
	f.StringVar(&s.Waivers, "waivers", "", "`file` of known regressions: benchmark | unit | until | reason")
	f.StringVar(&s.History, "history", "", "`file` of earlier runs, to compare with the best of them")
	f.BoolVar(&s.Keep, "keep", false, "append this run to the history")
	f.StringVar(&s.json, "json", "", "write the report as JSON to `file`")
	f.StringVar(&s.markdown, "markdown", "", "write the report as Markdown to `file`, as for a pull request")
	f.Func("run", "compare the benchmarks whose name, without Benchmark, matches `regexp`", func(v string) (err error) {
		s.Run, err = regexp.Compile(v)
		return err
	})
	f.IntVar(&s.prove, "prove", 0, "instead, compare a module of the gate's own `n` times with itself, and n/5 times with regressions in it")
	if err := command.ParseFlags(f, args, stderr); err != nil {
		return s, err
	}
	if s.prove != 0 {
		if s.prove < 5 || s.Base != "" {
			return s, fmt.Errorf("-prove is %d and -base is %q, want at least 5 and no base", s.prove, s.Base)
		}
		return s, nil
	}
	if f.NArg() > 0 {
		s.Patterns = f.Args()
	}
	switch {
	case s.Base == "":
		return s, errors.New("-base is empty, want a commit, as in -base main")
	case strings.HasPrefix(s.Base, "-"):
		return s, fmt.Errorf("-base is %q, want a commit", s.Base)
	}
	return s, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s, err := parse(args, stderr)
	if err != nil {
		return command.Refuse(stderr, "gate", err)
	}
	if s.prove > 0 {
		return prove(ctx, s, stdout, stderr)
	}
	report, err := gate.Run(ctx, s.Options)
	if ctx.Err() != nil {
		fmt.Fprintln(stderr, "gate: interrupted; the worktree is removed")
		return exitInterrupted
	}
	if err == nil {
		err = errors.Join(report.WriteTable(stdout), create(s.json, report.WriteJSON), create(s.markdown, report.WriteMarkdown))
	}
	if err != nil {
		fmt.Fprintln(stderr, "gate:", err)
		return gate.ExitUsage
	}
	return report.ExitCode()
}

// prove shows what the gate sees on this machine.
func prove(ctx context.Context, s settings, stdout, stderr io.Writer) int {
	p, err := gate.Prove(ctx, s.Options, s.prove, s.prove/5)
	if ctx.Err() != nil {
		fmt.Fprintln(stderr, "gate: interrupted")
		return exitInterrupted
	}
	if err == nil {
		err = errors.Join(p.WriteTable(stdout), create(s.json, p.WriteJSON))
	}
	switch {
	case err != nil:
		fmt.Fprintln(stderr, "gate:", err)
		return gate.ExitUsage
	case !p.Sound():
		return gate.ExitRegression
	}
	return gate.ExitPass
}

// create writes a file, if it has a name.
func create(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	return command.WriteFile(name, write)
}
