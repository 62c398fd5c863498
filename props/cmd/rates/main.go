// Command rates measures the conformance kit: how often it catches each mistake of
// props/exectest/subjects, and whether it ever fails a correct executor.
//
//	go run ./props/cmd/rates -runs 5
//
// Each mistake is given to the kit several times, with another seed each time and the
// default budget, and once with the programs of all guarantees, for the guarantees that it
// must not break. The correct executors are those of the same package, and core's executor,
// pool and tracked group: the kit runs them until it has made the wanted number of runs of
// each. The command writes testdata/exectest/rates.json and the tables of docs/conformance.md.
// The exit code is 1 if a correct executor fails, or a mistake is never caught or breaks a
// guarantee that it must not break.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"eventide/internal/command"
	"eventide/props/exectest"
	"eventide/props/exectest/subjects"
	"eventide/props/internal/runner"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// Places of the results, from the root.
const (
	keptFile = "testdata/exectest/rates.json"
	page     = "docs/conformance.md"
)

// rareRuns is how many times as many runs a mistake gets that a run may miss.
const rareRuns = 10

// kept is what the file has.
type kept struct {
	Command    string
	Commit     string // of the kit, when the command began
	Go         string
	Processors int
	Caught     []caught
	Right      []right
}

// caught is how often a mistake was caught.
type caught struct {
	Name, Source, Guarantee string
	Runs, Caught            int
	Others                  []string `json:",omitempty"` // guarantees that it must not break, and that failed
}

// right is what the kit did with a correct executor.
type right struct {
	Name   string
	Checks int
	Runs   int // of programs, and without the log
	Failed []string
}

// run is main without the process.
func run(args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("rates", flag.ContinueOnError)
	root := f.String("root", ".", "root of the repository")
	runs := f.Int("runs", 5, "runs of the kit on each mistake")
	healthy := f.Int("healthy", 10_000, "least number of runs of each correct executor; a check of all guarantees has some thousands")
	missing := f.Bool("missing", false, "measure only mistakes that the kept file lacks, and keep the other rows")
	render := f.Bool("render", false, "measure nothing, and write the tables from the kept file")
	err := command.Parse(f, args, stderr, func() error {
		return errors.Join(command.AtLeast("-runs", *runs, 1), command.AtLeast("-healthy", *healthy, 0))
	})
	if err != nil {
		return command.Refuse(stderr, "rates", err)
	}
	if !*render {
		var old kept
		if *missing {
			if old, err = runner.ReadJSON[kept](filepath.Join(*root, keptFile)); err != nil {
				fmt.Fprintln(stderr, "rates:", err)
				return 2
			}
		}
		k := old.measure(*root, *runs, *healthy, stdout)
		if err := runner.WriteJSON(filepath.Join(*root, keptFile), k); err != nil {
			fmt.Fprintln(stderr, "rates:", err)
			return 2
		}
	}
	k, err := runner.ReadJSON[kept](filepath.Join(*root, keptFile))
	if err == nil {
		err = k.write(filepath.Join(*root, page))
	}
	if err != nil {
		fmt.Fprintln(stderr, "rates:", err)
		return 2
	}
	return k.code()
}

// measure returns the rates of all mistakes and executors. It takes what k has of them from k.
func (k kept) measure(root string, runs, healthy int, stdout io.Writer) kept {
	if len(k.Right) == 0 {
		k.Command = fmt.Sprintf("go run ./props/cmd/rates -runs %d -healthy %d", runs, healthy)
		k.Commit, k.Go, k.Processors = runner.Commit(root), runtime.Version(), runtime.GOMAXPROCS(0)
		for _, s := range allRight() {
			r := checkRight(s, healthy)
			fmt.Fprintf(stdout, "right  %5d runs in %d checks  %s  %v\n", r.Runs, r.Checks, r.Name, r.Failed)
			k.Right = append(k.Right, r)
		}
	}
	had := k.Caught
	k.Caught = nil
	for _, m := range subjects.Mistakes() {
		i := slices.IndexFunc(had, func(c caught) bool { return c.Name == m.Name && c.Guarantee == m.Guarantee })
		if i >= 0 {
			k.Caught = append(k.Caught, had[i])
			continue
		}
		c := rate(m, runs)
		fmt.Fprintf(stdout, "wrong  %d of %d  %-4s %s  %v\n", c.Caught, c.Runs, c.Guarantee, c.Name, c.Others)
		k.Caught = append(k.Caught, c)
	}
	return k
}

// rate gives a mistake to the kit several times.
func rate(m subjects.Mistake, runs int) caught {
	c := caught{Name: m.Name, Source: m.Source, Guarantee: m.Guarantee, Runs: runs}
	if m.Rare {
		c.Runs *= rareRuns
	}
	for seed := range uint64(c.Runs) {
		if catches(m, seed+1) {
			c.Caught++
		}
	}
	c.Others = m.Others(exectest.Check(m.New, m.AllOptions()...))
	return c
}

// catches runs the kit once on the mistake: what shows it and, if that passes, all of the kit.
func catches(m subjects.Mistake, seed uint64) bool {
	fails := func(opts []exectest.Option) bool {
		return exectest.Check(m.New, append(opts, exectest.Seed(seed))...).Row(m.Guarantee).Status == exectest.Fail
	}
	return fails(m.ShowingOptions()) || !m.Unlogged && fails(m.AllOptions())
}

// checkRight runs the kit on a correct executor until there are enough runs.
func checkRight(s subjects.Subject, healthy int) right {
	r := right{Name: s.Name}
	for seed := uint64(1); r.Runs < healthy; seed++ {
		result := exectest.Check(s.New, append(s.AllOptions(), exectest.Seed(seed))...)
		r.Checks++
		for _, row := range result.Rows {
			r.Runs += row.Programs + row.Hammers
			if row.Status == exectest.Fail {
				r.Failed = append(r.Failed, row.Text)
			}
		}
	}
	return r
}

// code is the exit code.
func (k kept) code() int {
	for _, r := range k.Right {
		if len(r.Failed) > 0 {
			return 1
		}
	}
	for _, c := range k.Caught {
		if c.Caught == 0 || len(c.Others) > 0 {
			return 1
		}
	}
	return 0
}
