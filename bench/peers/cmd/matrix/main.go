// Command matrix prints which subject keeps which guarantee, of those it promises;
// package conform says by what each is judged.
//
//	go run ./cmd/matrix
//	go run ./cmd/matrix -subjects core,gnet -guarantees G3,G20
//
// Each cell is a process of its own: a library that kills its process, or does not
// come to an end, is a "no" in one cell. It prints subject x guarantee and writes
// matrix.json. The exit code is 1 if core does not keep all it promises, or if
// something went wrong, and 2 for usage; what others do not keep is a result.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"eventide/bench/peers/conform"
	"eventide/internal/command"
	"eventide/props/exectest"
)

// The verdicts of a cell.
const (
	yes        = "yes"
	no         = "no"
	notOffered = "not offered"
	notJudged  = "not judged"
	notRun     = "not run"
)

// Cell is one subject under one guarantee.
type Cell struct {
	Subject   string `json:"subject"`
	Guarantee string `json:"guarantee"`
	Verdict   string `json:"verdict"`
	By        string `json:"by,omitempty"`   // what it was judged by
	Text      string `json:"text,omitempty"` // the shortest counterexample, or why there is no verdict
	RealTime  bool   `json:"real_time"`      // see conform.Spec
	Exercised int    `json:"exercised"`      // how often what the guarantee speaks of occurred
	Programs  int    `json:"programs"`       //
}

// Matrix is matrix.json.
type Matrix struct {
	Schema     int               `json:"schema"`
	Seed       uint64            `json:"seed"`
	Guarantees []conform.Promise `json:"guarantees"`
	Cells      []Cell            `json:"cells"`
}

// cellTime is how long a cell may take.
const cellTime = 3 * time.Minute

func main() { os.Exit(matrixMain(os.Args[1:], os.Stderr)) }

type settings struct {
	subjects, guarantees []string // nil: all
	seed                 uint64
	drivers, out, cell   string
}

func parse(args []string, stderr io.Writer) (s settings, err error) {
	f := flag.NewFlagSet("matrix", flag.ContinueOnError)
	f.Func("subjects", "only these, separated by commas: "+strings.Join(subjectNames(), ", "), func(list string) (err error) {
		s.subjects, err = split(list, "subject", subjectNames())
		return err
	})
	f.Func("guarantees", "only these, separated by commas, such as G3,G20", func(list string) (err error) {
		s.guarantees, err = split(list, "guarantee", guaranteeNames())
		return err
	})
	f.Uint64Var(&s.seed, "seed", 1, "seed of the programs")
	f.StringVar(&s.drivers, "drivers", "../../out/peers", "directory that drivers/build.sh has built into")
	f.StringVar(&s.out, "out", "../../out", "directory for matrix.json")
	f.StringVar(&s.cell, "cell", "", "judge one `subject/guarantee` and print it as JSON: not for people")
	return s, command.Parse(f, args, stderr, nil)
}

// matrixMain is main without the process. It returns the exit code.
func matrixMain(args []string, stderr io.Writer) int {
	s, err := parse(args, stderr)
	if err != nil {
		return command.Refuse(stderr, "matrix", err)
	}
	if s.cell != "" {
		err = judgeHere(s.cell, s.drivers, s.seed)
	} else {
		err = run(s.subjects, s.guarantees, s.drivers, s.out, s.seed)
	}
	if err != nil {
		fmt.Fprintln(stderr, "matrix:", err)
		return 1
	}
	return 0
}

// split reads a list of known names.
func split(list, what string, known []string) ([]string, error) {
	names := strings.Split(list, ",")
	for _, name := range names {
		if err := command.OneOf(what, name, known); err != nil {
			return nil, err
		}
	}
	return names, nil
}

func subjectNames() (names []string) {
	for _, s := range conform.Specs() {
		names = append(names, s.Name)
	}
	return names
}

func guaranteeNames() (names []string) {
	for _, g := range conform.Guarantees() {
		names = append(names, g.Guarantee)
	}
	return names
}

// judgeHere is the process of one cell.
func judgeHere(cell, drivers string, seed uint64) error {
	subject, guarantee, _ := strings.Cut(cell, "/")
	spec, err := conform.Find(subject)
	if err != nil {
		return err
	}
	answers := os.NewFile(3, "answers") // not standard output: libraries print
	row, err := spec.Check(guarantee, drivers, seed)
	c := Cell{Verdict: notRun}
	if err != nil {
		c.Text = err.Error()
	} else {
		c = Cell{Verdict: verdict(row.Status), Text: row.Text, Exercised: row.Exercised, Programs: row.Programs}
	}
	if err := json.NewEncoder(answers).Encode(c); err != nil {
		return err
	}
	os.Exit(0) // whatever the subject has left running
	return nil
}

func verdict(s exectest.Status) string {
	switch s {
	case exectest.Pass:
		return yes
	case exectest.Fail:
		return no
	default:
		return notJudged
	}
}

func run(subjects, guarantees []string, drivers, out string, seed uint64) error {
	m := Matrix{Schema: 1, Seed: seed}
	for _, g := range conform.Guarantees() {
		if len(guarantees) == 0 || slices.Contains(guarantees, g.Guarantee) {
			m.Guarantees = append(m.Guarantees, g)
		}
	}
	var specs []conform.Spec
	for _, s := range conform.Specs() {
		if len(subjects) == 0 || slices.Contains(subjects, s.Name) {
			specs = append(specs, s)
		}
	}
	m.Cells = make([]Cell, len(specs)*len(m.Guarantees))
	broken := make([]error, len(m.Cells))
	var judging sync.WaitGroup
	for i, s := range specs {
		judging.Go(func() {
			for j, g := range m.Guarantees {
				at := i*len(m.Guarantees) + j
				m.Cells[at], broken[at] = judge(s, g.Guarantee, drivers, seed)
			}
		})
	}
	judging.Wait()
	if err := errors.Join(broken...); err != nil {
		return err
	}
	m.print(specs)
	text, err := json.MarshalIndent(m, "", " ")
	if err == nil {
		err = errors.Join(os.MkdirAll(out, 0o777), os.WriteFile(filepath.Join(out, "matrix.json"), append(text, '\n'), 0o666))
	}
	return errors.Join(err, m.ours())
}

// judge returns a cell, from a process of its own if there is something to judge. An
// error is of the matrix, and says nothing about the subject.
func judge(s conform.Spec, guarantee, drivers string, seed uint64) (Cell, error) {
	promise, ok := s.Promise(guarantee)
	c := Cell{Subject: s.Name, Guarantee: guarantee, By: promise.Source, RealTime: s.RealTime}
	switch why, unjudged := s.Unjudged[guarantee]; {
	case unjudged:
		c.Verdict, c.Text = notJudged, why
		return c, nil
	case !ok:
		c.Verdict = notOffered
		return c, nil
	}
	found, err := inProcess(s.Name+"/"+guarantee, drivers, seed)
	if err != nil {
		return c, fmt.Errorf("%s, %s: %w", s.Name, guarantee, err)
	}
	c.Verdict, c.Text, c.Exercised, c.Programs = found.Verdict, found.Text, found.Exercised, found.Programs
	return c, nil
}

// inProcess judges in a child, which writes the cell to its descriptor 3. A child that
// dies, or does not end, of the subject is a "no".
func inProcess(cell, drivers string, seed uint64) (c Cell, err error) {
	self, err := os.Executable()
	if err != nil {
		return c, err
	}
	from, to, err := os.Pipe()
	if err != nil {
		return c, err
	}
	defer from.Close()
	ctx, cancel := context.WithTimeout(context.Background(), cellTime)
	defer cancel()
	child := exec.CommandContext(ctx, self, "-cell", cell, "-drivers", drivers, "-seed", strconv.FormatUint(seed, 10))
	child.ExtraFiles = []*os.File{to}
	var complaints bytes.Buffer
	child.Stderr = &complaints
	if err := errors.Join(child.Start(), to.Close()); err != nil {
		return c, err
	}
	text := make(chan []byte, 1)
	go func() {
		all, _ := io.ReadAll(from) // what is missing is seen when it is decoded
		text <- all
	}()
	err = child.Wait()
	died := firstLine(complaints.String())
	switch {
	case ctx.Err() != nil:
		return Cell{Verdict: no, Text: fmt.Sprintf("did not come to an end within %v", cellTime)}, nil
	case err != nil && ofTheSubject(died):
		return Cell{Verdict: no, Text: "the process died: " + died}, nil
	case err != nil:
		return c, fmt.Errorf("%w: %s", err, died)
	}
	return c, json.Unmarshal(<-text, &c)
}

// ofTheSubject tells a panic that the kit has planted or the library has made from one
// of ours.
func ofTheSubject(died string) bool {
	return strings.HasPrefix(died, "panic:") && !strings.Contains(died, "conform:")
}

// firstLine is where a dying Go process says why.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") {
			return strings.TrimSpace(line)
		}
	}
	first, _, _ := strings.Cut(text, "\n")
	return first
}

func (m Matrix) print(specs []conform.Spec) {
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "guarantee")
	for _, s := range specs {
		fmt.Fprint(t, "\t", s.Name)
	}
	fmt.Fprintln(t)
	for j, g := range m.Guarantees {
		fmt.Fprintf(t, "%s %s", g.Guarantee, g.Source)
		for i := range specs {
			c := m.Cells[i*len(m.Guarantees)+j]
			mark := ""
			if c.RealTime && c.Verdict == yes {
				mark = "*"
			}
			fmt.Fprint(t, "\t", c.Verdict, mark)
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	fmt.Printf("\n* in real time: only what a busy machine cannot falsify, such as that nothing is early\n\n")
	for _, c := range m.Cells {
		switch c.Verdict {
		case no:
			fmt.Printf("NO %s, %s: %s\n   judged by %s\n", c.Subject, c.Guarantee, c.Text, c.By)
		case notJudged, notRun:
			fmt.Printf("%s: %s, %s: %s\n", c.Verdict, c.Subject, c.Guarantee, c.Text)
		}
	}
}

// ours is an error if core does not keep what it promises.
func (m Matrix) ours() error {
	var errs []error
	for _, c := range m.Cells {
		if strings.HasPrefix(c.Subject, "core") && (c.Verdict == no || c.Subject == "core" && c.Verdict != yes) {
			errs = append(errs, fmt.Errorf("%s, %s: %s: %s", c.Subject, c.Guarantee, c.Verdict, c.Text))
		}
	}
	return errors.Join(errs...)
}
