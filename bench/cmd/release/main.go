// Command release compares the working tree with an older commit before a release.
//
//	go build -o out/release ./bench/cmd/release
//	out/release -base v1.2.0
//	out/release -base HEAD~10 -run 'RoundTrip|Execute/' -tiers exact,time
//	out/release -base HEAD -tiers selftest
//
// Build it: go run turns every exit code but 0 into 1, and make into 2. The third line
// asks for a part only: what it finds counts, but it can not pass. The last one asks
// whether this machine is quiet enough.
//
// It prints a table and writes out/gate.json and out/gate.md. Exit code 0: pass; 1: a
// regression; 2: usage, or nothing could be compared; 3: inconclusive; 4: the gate did
// not see what it planted itself; 130: interrupted, and cleaned up.
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
	"strings"
	"syscall"

	"eventide/bench/gate/release"
	"eventide/internal/command"
)

const exitInterrupted = 130

const usage = `usage: release -base commit [flags]
exit 0 pass, 1 a regression, 2 usage, 3 inconclusive, 4 the gate did not see what it planted; more: go doc eventide/bench/gate/release`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

type settings struct {
	release.Options
	out string
}

func parse(args []string, stderr io.Writer) (settings, error) {
	s := settings{Options: release.Options{Progress: stderr}}
	f := flag.NewFlagSet("release", flag.ContinueOnError)
	f.Usage = func() {
		fmt.Fprintln(f.Output(), usage)
		f.PrintDefaults()
	}
	f.StringVar(&s.Base, "base", "", "the `commit` to compare with; required")
	f.StringVar(&s.Root, "root", ".", "root of the module, which is head")
	f.StringVar(&s.out, "out", "out", "directory for gate.json and gate.md, from the root")
	f.StringVar(&s.Waivers, "waivers", release.WaiverFile, "file of waivers, from the root")
	f.IntVar(&s.Rounds, "rounds", release.DefaultRounds, fmt.Sprintf("rounds of the time tier, `n` >= %d", release.MinRounds))
	f.BoolVar(&s.Strict, "strict", false, "a missing tool makes the verdict inconclusive")
	f.Func("run", "compare the benchmarks whose name matches `regexp`", func(v string) (err error) {
		s.Run, err = regexp.Compile(v)
		return err
	})
	f.Func("tiers", "run these `tiers` only, separated by commas: "+strings.Join(release.Tiers, ", "), func(v string) error {
		s.Tiers = strings.Split(v, ",")
		return nil
	})
	return s, command.Parse(f, args, stderr, func() error {
		switch {
		case s.Base == "":
			return errors.New("-base is empty, want a commit, as in make gate BASE=v1.2.0")
		case strings.HasPrefix(s.Base, "-"):
			return fmt.Errorf("-base is %q, want a commit", s.Base)
		}
		return nil
	})
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s, err := parse(args, stderr)
	if err != nil {
		return command.Refuse(stderr, "release", err)
	}
	report, err := release.Run(ctx, s.Options)
	if ctx.Err() != nil {
		fmt.Fprintln(stderr, "release: interrupted; the worktree is removed")
		return exitInterrupted
	}
	if err == nil {
		if !filepath.IsAbs(s.out) {
			s.out = filepath.Join(s.Root, s.out)
		}
		err = errors.Join(report.WriteTable(stdout), save(s.out, report))
	}
	if err != nil {
		fmt.Fprintln(stderr, "release:", err)
		return release.ExitUsage
	}
	return report.ExitCode()
}

func save(dir string, report release.Report) error {
	return errors.Join(
		command.WriteFile(filepath.Join(dir, "gate.json"), report.WriteJSON),
		command.WriteFile(filepath.Join(dir, "gate.md"), report.WriteMarkdown),
	)
}
