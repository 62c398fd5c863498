package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"eventide/bench/gate/measure"
	"eventide/bench/gate/stats"
	"eventide/internal/machine"
)

// A Proof is what the gate sees on one machine: how often it raised an alarm between equal sides,
// and how often it found what was planted, in runs one after the other. The module is the one of
// the self-test, so a proof says nothing about the noise of other benchmarks.
type Proof struct {
	Schema  int        `json:"schema"`
	Commit  string     `json:"commit"` // of the gate
	Go      string     `json:"go"`
	CPU     string     `json:"cpu"`
	CPUs    int        `json:"cpus"`
	Kernel  string     `json:"kernel"`
	Date    string     `json:"date"`
	Rounds  int        `json:"rounds"`
	Layouts int        `json:"layouts"`
	Seconds float64    `json:"seconds"`
	Equal   ProofRow   `json:"equal"` // all figures of a run together; Found counts the runs with an alarm
	Planted []ProofRow `json:"planted"`
	Figures int        `json:"figures"`          // compared between equal sides, in all runs together
	Blind   []string   `json:"blind,omitempty"`  // what was inconclusive of them: "Op ns/op: in 12 runs, could see +14.0 %", the median
	Alarms  []string   `json:"alarms,omitempty"` // between equal sides, and in figures where nothing was planted

	blind map[string][]float64 // by figure: what the inconclusive ones could see
}

// A ProofRow counts the runs with one planted regression.
type ProofRow struct {
	What         string  `json:"what"`
	Benchmark    string  `json:"benchmark"`
	Figure       string  `json:"figure"`
	Runs         int     `json:"runs"`
	Found        int     `json:"found"`
	Inconclusive int     `json:"inconclusive"` // the run said that it could not see such a change
	Change       float64 `json:"change"`       // the median of what was measured, relative; 0 if no run said it
	Visible      float64 `json:"visible"`      // the median of the least change that would have been found; 0 if no run said it

	// What was measured in the runs that compared the figure and passed it.
	Overlooked []string `json:"overlooked,omitempty"`

	changes, visible []float64
}

// A plant is a regression that work.go can have, and where it must be seen.
type plant struct{ name, what, benchmark, figure string }

var plants = []plant{
	{"alloc", "one allocation", "Op", measure.Allocs},
	{"syscall", "one system call", "Op", syscalls},
	{"lock", "one lock", "Locked", measure.Time},
	{"work", "3 % of time", "Work", measure.Time},
	{"clock", "3 % of a steady clock", "Clock", measure.Time},
	{"tail", "a tail of 1 in 50", "Tail", "p99-ns"},
}

// Prove compares the module of the self-test with itself, equal times, and with all plants in it,
// planted times. Of o it takes Rounds, Layouts, Least, Blind and Progress. It returns an error if
// a comparison could not be made.
func Prove(ctx context.Context, o Options, equal, planted int) (p Proof, err error) {
	if equal < 0 || planted < 0 || equal+planted == 0 {
		return p, fmt.Errorf("the numbers of runs are %d and %d, want none below 0, and one above", equal, planted)
	}
	dir, err := os.MkdirTemp("", "gate-proof-")
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := commitPlanted(ctx, dir); err != nil {
		return p, err
	}
	began, progress := time.Now(), o.Progress
	o = Options{
		Dir: dir, Base: "HEAD", Patterns: []string{"./..."}, Rounds: o.Rounds, Layouts: o.Layouts, Least: o.Least, Blind: o.Blind,
		Budget: time.Hour, Times: TimesOn, Always: true,
	}
	p = Proof{
		Schema: 1, Commit: machine.Commit(), CPU: machine.CPU(), CPUs: runtime.NumCPU(), Kernel: machine.Kernel(), Date: began.UTC().Format(time.RFC3339),
		Rounds: o.Rounds, Layouts: o.Layouts, Equal: ProofRow{What: "nothing", Benchmark: "all", Figure: "all"},
	}
	for _, known := range plants {
		p.Planted = append(p.Planted, ProofRow{What: known.what, Benchmark: known.benchmark, Figure: known.figure})
	}
	for n := range equal + planted {
		if n == equal {
			if err := plantAll(dir); err != nil {
				return p, err
			}
		}
		report, err := Run(ctx, o)
		if err != nil {
			return p, err
		}
		if report.broken() {
			return p, fmt.Errorf("the self-test of run %d failed: %+v", n+1, report.SelfTest)
		}
		p.Go = report.Go
		p.count(report, n >= equal)
		if progress != nil {
			fmt.Fprintf(progress, "run %d of %d: %s\n", n+1, equal+planted, report.Verdict())
		}
	}
	p.sumUp()
	p.Seconds = time.Since(began).Seconds()
	return p, nil
}

// sumUp sets what follows from all runs.
func (p *Proof) sumUp() {
	for i := range p.Planted {
		if row := &p.Planted[i]; len(row.changes) > 0 {
			row.Change, row.Visible = stats.Median(row.changes), stats.Median(row.visible)
		}
	}
	for _, figure := range slices.Sorted(maps.Keys(p.blind)) {
		could := p.blind[figure]
		p.Blind = append(p.Blind, fmt.Sprintf("%s: in %d runs, could see %s", figure, len(could), visible(stats.Median(could))))
	}
}

// count enters a run.
func (p *Proof) count(r Report, planted bool) {
	alarms := slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool {
		return !f.bad() || planted && slices.ContainsFunc(plants, func(known plant) bool { return known.benchmark == f.Benchmark })
	})
	for _, f := range alarms {
		p.Alarms = append(p.Alarms, fmt.Sprintf("%s %s: %s", f.Benchmark, f.Figure, percent(f.Change)))
	}
	if !planted {
		p.Equal.Runs++
		p.sight(r)
		if len(alarms) > 0 {
			p.Equal.Found++
		} else if r.ExitCode() == ExitInconclusive {
			p.Equal.Inconclusive++
		}
		return
	}
	for i := range p.Planted {
		p.Planted[i].count(r)
	}
}

// sight enters what a run between equal sides could see.
func (p *Proof) sight(r Report) {
	for _, f := range r.Findings {
		if !f.judged() {
			continue
		}
		p.Figures++
		if f.Verdict == Inconclusive {
			if p.blind == nil {
				p.blind = map[string][]float64{}
			}
			figure := f.Benchmark + " " + f.Figure
			p.blind[figure] = append(p.blind[figure], f.Visible)
		}
	}
}

// count enters the finding for the row's figure.
func (row *ProofRow) count(r Report) {
	row.Runs++
	for _, f := range r.Findings {
		if f.Benchmark != row.Benchmark || f.Figure != row.Figure {
			continue
		}
		switch f.Verdict {
		case Regression:
			row.Found++
		case Inconclusive, NotRun:
			row.Inconclusive++
		default:
			row.Overlooked = append(row.Overlooked, fmt.Sprintf("%s, %s to %s, could see %s", percent(f.Change), percent(f.Low), percent(f.High), visible(f.Visible)))
		}
		if f.Visible > 0 {
			row.changes, row.visible = append(row.changes, f.Change), append(row.visible, f.Visible)
		}
	}
}

// commitPlanted makes a repository of the module of the self-test, with one commit.
func commitPlanted(ctx context.Context, dir string) error {
	if err := writePlanted(dir); err != nil {
		return err
	}
	c := &measure.Checkout{New: dir}
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=gate", "-c", "user.email=gate@example.org", "commit", "-q", "-m", "base"},
	} {
		if _, err := c.Command(ctx, dir, "git", args...); err != nil {
			return err
		}
	}
	return nil
}

// plantAll plants every regression in the working tree.
func plantAll(dir string) error {
	names := make([]string, len(plants))
	for i, known := range plants {
		names[i] = known.name
	}
	const nothing = `always = ""`
	text := strings.Replace(string(plantedSource), nothing, fmt.Sprintf("always = %q", strings.Join(names, ",")), 1)
	return os.WriteFile(filepath.Join(dir, "work.go"), []byte(text), 0o666)
}

// WriteJSON writes the proof as JSON.
func (p Proof) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(p)
}

// WriteTable writes the proof for a terminal.
func (p Proof) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "planted\tfigure\truns\tfound\tinconclusive\tchange\tvisible from")
	for _, row := range append([]ProofRow{p.Equal}, p.Planted...) {
		change, visible := "-", "-"
		if row.Visible > 0 {
			change, visible = percent(row.Change), percent(row.Visible)
		}
		fmt.Fprintf(t, "%s\t%s %s\t%d\t%d\t%d\t%s\t%s\n", row.What, row.Benchmark, row.Figure, row.Runs, row.Found, row.Inconclusive, change, visible)
	}
	for _, row := range p.Planted {
		for _, passed := range row.Overlooked {
			fmt.Fprintf(t, "OVERLOOKED\t%s %s: %s\n", row.Benchmark, row.Figure, passed)
		}
	}
	for _, line := range p.Blind {
		fmt.Fprintln(t, "inconclusive\t"+line)
	}
	for _, alarm := range p.Alarms {
		fmt.Fprintln(t, "ALARM\t"+alarm)
	}
	return t.Flush()
}

// Sound reports whether no alarm was false, and of the runs that were not inconclusive at most a tenth overlooked
// what was planted, even if they said that they see larger changes only. If more than half of the runs with a plant
// are inconclusive, or more than half of the figures between equal sides, the proof is not sound either: it shows that the machine
// is too noisy.
func (p Proof) Sound() bool {
	inconclusive := 0
	for _, could := range p.blind {
		inconclusive += len(could)
	}
	return len(p.Alarms) == 0 && !slices.ContainsFunc(p.Planted, func(row ProofRow) bool {
		conclusive := row.Runs - row.Inconclusive
		return 10*row.Found < 9*conclusive || 2*conclusive < row.Runs
	}) && 2*inconclusive <= p.Figures
}
