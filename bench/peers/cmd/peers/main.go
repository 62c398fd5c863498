// Command peers measures eventide beside its real peers; package peers says how.
//
//	go run ./cmd/peers
//	go run ./cmd/peers -run 'execute|roundtrip' -rounds 20
//	go run ./cmd/peers -from ../../out/peers.jsonl
//
// It prints a table and writes peers.jsonl, the raw samples, and peers.json, what
// they come to. The exit code is 0 whether targets are met or not, but 1 with
// -strict if one is missed or could not be judged; 1 if something went wrong; 2 for
// bad usage.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"eventide/bench/peers"
	"eventide/internal/command"
	"eventide/internal/machine"
)

type flags struct {
	rounds       int
	seed         uint64
	run          *regexp.Regexp
	warm         time.Duration
	out, drivers string
	from         string
	strict       bool
	serve        bool
}

func main() {
	f, err := parse(os.Args[1:], os.Stderr)
	if err != nil {
		os.Exit(command.Refuse(os.Stderr, "peers", err))
	}
	if f.serve {
		answers := os.Stdout
		os.Stdout = os.Stderr // for libraries that print
		err = peers.Serve(os.Stdin, answers)
	} else {
		err = run(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func parse(args []string, stderr io.Writer) (flags, error) {
	f := flags{run: regexp.MustCompile("")}
	set := flag.NewFlagSet("peers", flag.ContinueOnError)
	set.IntVar(&f.rounds, "rounds", 12, fmt.Sprintf("rounds to measure; fewer than %d are a trial, by which no target is judged", peers.MinRounds))
	set.Uint64Var(&f.seed, "seed", 0, "seed of the orders; 0: a new one")
	set.Func("run", "measure the workloads whose name matches `regexp`", func(s string) (err error) {
		f.run, err = regexp.Compile(s)
		return err
	})
	set.DurationVar(&f.warm, "warm", time.Second, "how long Netty repeats each workload before the first round")
	set.StringVar(&f.out, "out", "../../out", "directory for peers.jsonl and peers.json")
	set.StringVar(&f.drivers, "drivers", "../../out/peers", "directory that drivers/build.sh has built into")
	set.StringVar(&f.from, "from", "", "report on this raw `file` instead of measuring")
	set.BoolVar(&f.strict, "strict", false, "exit with 1 if a target is missed or could not be judged")
	set.BoolVar(&f.serve, "serve", false, "be the driver of the Go implementations: not for people")
	err := command.Parse(set, args, stderr, func() error {
		return errors.Join(command.AtLeast("-rounds", f.rounds, 1), command.AtLeast("-warm", f.warm, 0))
	})
	if f.seed == 0 {
		f.seed = uint64(time.Now().UnixNano())
	}
	return f, err
}

func run(f flags) error {
	rec, err := recording(f)
	if err != nil {
		return err
	}
	report := rec.Report()
	if err := report.WriteTable(os.Stdout); err != nil {
		return err
	}
	if err := create(filepath.Join(f.out, "peers.json"), report.WriteJSON); err != nil {
		return err
	}
	if f.strict {
		for _, t := range report.Targets {
			if !t.Met {
				return fmt.Errorf("target not met: %s", t.Name)
			}
		}
	}
	return nil
}

// recording measures, or reads what was measured.
func recording(f flags) (rec peers.Recording, err error) {
	if f.from != "" {
		file, err := os.Open(f.from)
		if err != nil {
			return rec, err
		}
		defer file.Close()
		return peers.ReadRaw(file)
	}
	if err := os.MkdirAll(f.out, 0o777); err != nil {
		return rec, err
	}
	fmt.Fprintf(os.Stderr, "orders by seed %d\n", f.seed)
	err = create(filepath.Join(f.out, "peers.jsonl"), func(w io.Writer) error {
		rec, err = peers.Measure(peers.Options{
			Rounds: f.rounds, Seed: f.seed, Run: f.run, Dir: f.drivers, Warm: f.warm,
			Raw: w, Log: os.Stderr, About: about(),
		})
		return err
	})
	return rec, err
}

func create(name string, write func(io.Writer) error) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(file)
	return errors.Join(write(buffered), buffered.Flush(), file.Close())
}

func about() peers.RawHeader {
	return peers.RawHeader{
		Commit:  machine.Commit(),
		CPU:     machine.CPU(),
		CPUs:    runtime.NumCPU(),
		Kernel:  machine.Kernel(),
		Command: strings.Join(append([]string{"peers"}, os.Args[1:]...), " "),
	}
}
