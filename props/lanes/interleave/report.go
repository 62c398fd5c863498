package interleave

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"eventide/props"
	"eventide/props/history"
	"eventide/props/lane"
)

// fill enters what the explorer has done since the line before.
func (e *exploration) fill() {
	l, x := &e.line, e.x
	l.Runs = x.Schedules - x.Pruned
	l.Undecided, l.Exercised = x.Undecided, x.Exercised
	l.Classes, l.Histories, l.Steps = x.Classes, x.Histories, x.Steps
	l.Processor = x.Processor.Seconds()
	if sec := x.Elapsed.Seconds(); sec > 0 {
		l.StepsPerSec = float64(x.Steps) / sec
	}
	if l.Processor > 0 {
		l.StepRate = float64(x.Steps) / l.Processor
	}
	l.Coverage = lane.Coverage{
		Unseen: x.Unseen(), NewClassRate: x.NewClassRate(e.before),
		Actions: x.Actions.hits(), Conflicts: x.Conflicts.hits(), PCT: x.PCT.confidence(),
	}
	e.before = x.Coverage
	l.Fairness, l.Unrefined = x.Fairness, x.Unrefined
}

// text prints the last line in words.
func (e *exploration) text(w io.Writer) {
	l := e.line
	fmt.Fprintf(w, "seed %d: %d schedules of %d scenarios, %d happens-before classes, %.0f %% of the last ones new, %.0f %% unseen; %d histories; per second of processor time %.2f million steps, %.0f schedules\n",
		l.Seed, l.Runs, l.Scenarios, l.Classes, 100*l.NewClassRate, 100*l.Unseen, l.Histories, l.StepRate/1e6, l.Rate())
	e.before.text(w)
	if n := len(l.Fairness); n > 0 {
		fmt.Fprintf(w, "at %d places of core a goroutine ran while others waited, until it was interrupted\n", n)
	}
	for _, speed := range l.Speed {
		fmt.Fprintln(w, speed)
	}
}

// text prints the coverage in words.
func (c Coverage) text(w io.Writer) {
	hitsText(w, c.Actions.hits(), "actions in a state")
	hitsText(w, c.Conflicts.hits(), "conflicting pairs of places")
	for _, p := range c.PCT.confidence() {
		fmt.Fprintf(w, "chance that pct%d would have found a bug of depth %d, in %d scenarios: %.2g to %.2g, median %.2g\n",
			p.Depth, p.Depth, p.Scenarios, p.Least, p.Most, p.Median)
	}
}

func hitsText(w io.Writer, h lane.Hits, what string) {
	fmt.Fprintf(w, "%s: %d of %d", what, h.Hit, h.Of)
	for i, name := range h.Missing {
		sep := "; "
		if i == 0 {
			sep = "; not yet "
		}
		fmt.Fprint(w, sep, name)
		if i == 4 && h.Of-h.Hit > 5 {
			fmt.Fprintf(w, " and %d more", h.Of-h.Hit-5)
			break
		}
	}
	fmt.Fprintln(w)
}

// against reports whether one of the violations is of that guarantee.
func (f *Found) against(id string) bool {
	return f.Violation.Guarantee == id || slices.ContainsFunc(f.Others, func(v history.Violation) bool { return v.Guarantee == id })
}

// report minimises a failure, saves it as a case, and prints it. It returns the number
// of switches that are left.
func (s settings) report(x *Explorer, f *Found) int {
	y := NewExplorer()
	y.Options, y.Check = x.Options, 0
	least, tries := f, 0
	if !s.quick {
		least, tries = y.Minimise(f)
	}
	replay := ""
	if path, err := NewCase(least).Save(s.caseDir()); err != nil {
		fmt.Fprintln(s.err, "lane: the case could not be saved:", err)
	} else {
		if all, err := filepath.Abs(path); err == nil {
			path = all // so that the line works in any directory of the module
		}
		replay = "go run eventide/props/lanes/interleave/cmd/interleave -case " + props.ShellWord(path)
		s.saveTimeline(least, replay, path)
	}
	s.writeTimeline(least, replay)
	var b bytes.Buffer
	least.Write(&b, replay)
	fmt.Fprintf(&b, "\nfound by %s in schedule %d of %s; %d switches before minimising, %d after, in %d replays\n",
		f.Strategy, f.Schedule, f.Scenario.Name, len(f.Switches), len(least.Switches), tries)
	fmt.Fprintln(s.out, b.String())
	return len(least.Switches)
}

func (s settings) caseDir() string {
	if s.cases != "" {
		return s.cases
	}
	return filepath.Join("out", "cases")
}
