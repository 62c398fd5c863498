// Command promises makes each break of testdata/promises, one after the other, and runs the
// tests that are said to see it. A break that no test sees is a promise without a check.
//
//	go run ./props/cmd/promises                    all tables
//	go run ./props/cmd/promises -run 'Timer\.'     promises whose symbol, text or tests match
//	go run ./props/cmd/promises -table core/tcp    one table
//	go run ./props/cmd/promises -counts            counts the promises, and runs nothing
//
// Nothing on disk changes: the tests are built with go build -overlay. Exit code 0: every
// break was seen; 1: one was not; 2: usage, or a break that does not apply or build.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"eventide/internal/command"
	"eventide/props/internal/runner"
	"eventide/props/promises"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("promises", flag.ContinueOnError)
	root := f.String("root", ".", "root of the module")
	only := f.String("run", "", "only promises whose symbol, text, or one of whose tests matches the `regexp`")
	table := f.String("table", "", "only the table of this `directory`")
	counts := f.Bool("counts", false, "count the promises and run nothing")
	parallel := f.Int("parallel", runtime.GOMAXPROCS(0), "breaks judged at once")
	var wanted *regexp.Regexp
	if err := command.Parse(f, args, stderr, func() (err error) {
		wanted, err = regexp.Compile(*only)
		return errors.Join(err, command.AtLeast("-parallel", *parallel, 1))
	}); err != nil {
		return command.Refuse(stderr, "promises", err)
	}
	tables, err := promises.Load(*root)
	if err != nil {
		fmt.Fprintln(stderr, "promises:", err)
		return 2
	}
	if *table != "" {
		tables = slices.DeleteFunc(tables, func(t promises.Table) bool { return t.Package != *table })
	}
	if len(tables) == 0 {
		return command.Refuse(stderr, "promises", fmt.Errorf("-table is %q, want the directory of a table in testdata/promises", *table))
	}
	dir, err := os.MkdirTemp("", "promises")
	if err != nil {
		fmt.Fprintln(stderr, "promises:", err)
		return 2
	}
	defer os.RemoveAll(dir)
	code := 0
	for _, t := range tables {
		fmt.Fprintf(stdout, "%s: %v\n", t.Package, t.Count())
		if *counts {
			continue
		}
		j := &judge{root: *root, dir: dir, out: stdout, table: t, seen: map[string]func() (verdict, error){}}
		j.all(wanted, *parallel)
		if j.unseen > 0 {
			fmt.Fprintf(stdout, "%d breaks were not seen\n", j.unseen)
			code = 1
		}
		if j.broken {
			return 2
		}
	}
	return code
}

// judge makes the breaks of one table.
type judge struct {
	root, dir string
	table     promises.Table

	mu     sync.Mutex
	out    io.Writer // guarded by mu, as all below
	seen   map[string]func() (verdict, error)
	unseen int
	broken bool // a break does not apply or build
}

// verdict says which tests failed.
type verdict struct {
	failed []string
	why    string // of a failure without the name of a test
}

// job is one break of a promise.
type job struct {
	symbol  promises.Symbol
	promise promises.Promise
	made    promises.Break
}

// all judges the promises that match, so many at once.
func (j *judge) all(wanted *regexp.Regexp, parallel int) {
	jobs := make(chan job)
	var workers sync.WaitGroup
	for n := range parallel {
		workers.Go(func() {
			for one := range jobs {
				j.one(one, filepath.Join(j.dir, strconv.Itoa(n)))
			}
		})
	}
	for _, s := range j.table.Symbols {
		for _, p := range s.Promises {
			if !wanted.MatchString(s.Name) && !wanted.MatchString(p.Text) && !slices.ContainsFunc(p.AllTests(), wanted.MatchString) {
				continue
			}
			for _, b := range p.Breaks {
				jobs <- job{s, p, b}
			}
		}
	}
	close(jobs)
	workers.Wait()
}

// one judges a break, or repeats the verdict about an equal one.
func (j *judge) one(o job, dir string) {
	key := fmt.Sprint(o.made, o.promise.AllTests())
	j.mu.Lock()
	find := j.seen[key]
	if find == nil {
		find = sync.OnceValues(func() (verdict, error) { return j.make(o, dir) })
		j.seen[key] = find
	}
	j.mu.Unlock()
	v, err := find()
	j.mu.Lock()
	defer j.mu.Unlock()
	word := "seen"
	switch {
	case err != nil:
		word, j.broken, v.why = "ERROR", true, err.Error()
	case len(v.failed) == 0 && v.why == "":
		word = "NOT SEEN"
		j.unseen++
	}
	fmt.Fprintf(j.out, "%-8s line %d %s: %s [%s]\n", word, o.promise.Line, o.symbol.Name, o.promise.Text, strings.Join(append(v.failed, v.why), " "))
}

// limit is how long the tests of one break may take together.
const limit = time.Minute

// maxMemory is the most that they may allocate.
const maxMemory = 4 << 30

var failure = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// make builds the tests with the break in dir and runs them, package by package.
func (j *judge) make(o job, dir string) (v verdict, err error) {
	text, err := o.made.Apply(j.root)
	if err != nil {
		return v, err
	}
	overlay, err := runner.Overlay(j.root, dir, map[string]string{o.made.File: text})
	if err != nil {
		return v, err
	}
	byPackage := map[string][]string{}
	for _, name := range o.promise.AllTests() {
		pkg, test := j.table.Place(name)
		byPackage[pkg] = append(byPackage[pkg], test)
	}
	for pkg, tests := range byPackage {
		bin, err := runner.Tests{Root: j.root, Package: pkg, Bin: filepath.Join(dir, "tests"), Overlay: overlay}.Build()
		if err != nil {
			return v, err
		}
		exit, err := runner.Process{
			Bin: bin, Dir: filepath.Join(j.root, pkg), MaxMemory: maxMemory,
			Args: []string{"-test.run", "^(" + strings.Join(tests, "|") + ")$", "-test.timeout", limit.String()},
		}.Run()
		if err != nil {
			return v, err
		}
		for _, m := range failure.FindAllStringSubmatch(exit.Output, -1) {
			v.failed = append(v.failed, m[1])
		}
		if exit.Failed && len(v.failed) == 0 {
			v.why = firstLine(exit.Output)
		}
		if strings.Contains(exit.Output, "no tests to run") {
			return v, errors.New(strings.Join(tests, ", ") + " did not run")
		}
	}
	return v, nil
}

func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") {
			return strings.TrimSpace(line)
		}
	}
	line, _, _ := strings.Cut(text, "\n")
	return "failed: " + line
}
