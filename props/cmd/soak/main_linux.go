// Command soak runs lifecycles of executors, pools, groups and connections in real time, for
// as long as it is let, under conditions that change with each round.
//
//	go run ./props/cmd/soak -for 10m
//
// Each round leaves some features out (swarm testing): kinds of lifecycle, calls of the
// generated programs, and conditions. The conditions are GOMAXPROCS from 1 to 8, garbage
// collections in a row, signals that interrupt system calls (EINTR), and SIGSTOP with SIGCONT
// for the process. Clients reset connections (ECONNRESET, EPIPE), and small socket buffers
// cause short writes (EAGAIN). Between rounds groups are made with too few descriptors
// (EMFILE).
//
// The command builds itself once more, so that system calls of core fail (package faults):
// EINTR, EAGAIN, EMFILE, ENOMEM, ECONNRESET, EPIPE and short writes, at rates that each round
// draws. The summary says how often each of them was injected. One that never was, in 200
// rounds, is a finding. The bytes that the kernel has taken are compared with those of the
// futures of writes.
//
// The command prints a line every 5 s, and a summary at the end or at SIGINT. It keeps its
// state in a file, and goes on from there when it is started again with the same seed. The
// exit code is 0 if nothing was found, 1 after a violation or a leak, and 2 for usage.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"eventide/internal/command"
	"eventide/props/faults"
	"eventide/props/faults/overlay"
	"eventide/props/internal/runner"
)

func main() {
	if err := withFaults(); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(2)
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// withFaults builds the command so that system calls of core can fail, and becomes that program.
// It returns if this program is that one.
func withFaults() error {
	if faults.Installed() {
		return nil
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("go list: want to run in the module, whose sources it builds: %w", err)
	}
	bin, err := overlay.Build(strings.TrimSpace(string(root)), filepath.Join("out", "soak"), "props/cmd/soak", "soak")
	if err != nil {
		return err
	}
	return os.NewSyscallError("execve", syscall.Exec(bin, os.Args, os.Environ()))
}

// settings are the command line.
type settings struct {
	duration time.Duration
	rounds   int
	seed     uint64
	every    time.Duration
	state    string
	again    bool
}

func parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	f := flag.NewFlagSet("soak", flag.ContinueOnError)
	f.DurationVar(&s.duration, "for", 10*time.Minute, "how long to run, with the time of earlier runs with this state")
	f.IntVar(&s.rounds, "rounds", 0, "end after this many rounds, with those of earlier runs; 0: no limit")
	f.Uint64Var(&s.seed, "seed", 1, "seed of the rounds")
	f.DurationVar(&s.every, "every", 5*time.Second, "time between two lines")
	f.StringVar(&s.state, "state", "out/soak.json", "file of the state; empty: none is kept")
	f.BoolVar(&s.again, "again", false, "begin again, and forget the kept state")
	err := command.Parse(f, args, stderr, func() error {
		return errors.Join(command.Positive("-for", s.duration), command.AtLeast("-rounds", s.rounds, 0), command.Positive("-every", s.every))
	})
	return s, err
}

// run is main without the process.
func run(args []string, stdout, stderr io.Writer) int {
	s, err := parse(args, stderr)
	if err != nil {
		return command.Refuse(stderr, "soak", err)
	}
	slog.SetDefault(slog.New(slog.DiscardHandler)) // bodies that panic and timeouts that pass are no news
	total, err := s.load()
	if err != nil {
		fmt.Fprintln(stderr, "soak:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second SIGINT ends the process
	if err := soak(ctx, s, total, stdout); err != nil {
		fmt.Fprintln(stderr, "soak:", err)
		return 2
	}
	fmt.Fprint(stdout, total.summary())
	if len(total.Found) > 0 {
		return 1
	}
	return 0
}

// load reads the state, or begins a new one.
func (s settings) load() (*totals, error) {
	fresh := &totals{Seed: s.seed, Lifecycles: map[string]int{}}
	if s.state == "" || s.again {
		return fresh, nil
	}
	kept, err := runner.ReadJSON[totals](s.state)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fresh, nil
	case err != nil:
		return nil, err
	case kept.Seed != s.seed:
		return nil, fmt.Errorf("%s is of seed %d, and this run has seed %d: want -seed %d, -again or another -state", s.state, kept.Seed, s.seed, kept.Seed)
	}
	return &kept, nil
}

func (s settings) save(t *totals) error {
	if s.state == "" {
		return nil
	}
	return runner.WriteJSON(s.state, t)
}

// soak runs rounds until the time is over, ctx ends, or something is found. It prints a line
// at each tick, during a round that takes long too.
func soak(ctx context.Context, s settings, total *totals, stdout io.Writer) error {
	warmUp(s.seed)
	base := measure()
	began, before := time.Now(), total.Spent
	lines := time.NewTicker(s.every)
	defer lines.Stop()
	fmt.Fprintln(stdout, total.line(base))
	for len(total.Found) == 0 && ctx.Err() == nil && total.Spent < s.duration && (s.rounds == 0 || total.Rounds < s.rounds) {
		found, tick := total.roundWithLines(lines.C, stdout)
		total.add(found)
		total.Spent = before + time.Since(began)
		select {
		case <-lines.C:
			tick = true
		default:
		}
		if tick {
			total.atRest(base, restPatience)
			fmt.Fprintln(stdout, total.line(measure()))
			if err := s.save(total); err != nil {
				return err
			}
		}
	}
	total.atRest(base, restPatience)
	total.exercised()
	return s.save(total)
}

// roundWithLines runs the next round, and reports whether a tick came during it.
func (t *totals) roundWithLines(lines <-chan time.Time, stdout io.Writer) (found outcome, tick bool) {
	over := make(chan outcome)
	go func() { over <- round(t.Seed, t.Rounds) }()
	for began := time.Now(); ; {
		select {
		case found = <-over:
			return found, tick
		case <-lines:
			tick = true
			fmt.Fprintf(stdout, "soak: round %d has run for %v\n", t.Rounds, time.Since(began).Round(time.Millisecond))
		}
	}
}
