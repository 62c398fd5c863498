package gate

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"eventide/bench/gate/measure"
	"eventide/bench/gate/stats"
)

// An entry is one line of the history: the figures of head in one run. Times of different days
// cannot be compared, so the history keeps an index for each figure: the index of the run's
// base times the ratio of head to base, which the run measured side by side. The index of the
// first entry is 1.
type entry struct {
	Commit  string            `json:"commit"`
	Base    string            `json:"base"`
	Date    string            `json:"date"`
	CPU     string            `json:"cpu"`
	Figures map[string]record `json:"figures"` // by package, benchmark and unit
}

type record struct {
	Value    float64 `json:"value"`
	Index    float64 `json:"index"`
	Variance float64 `json:"variance"` // of the logarithm of Index
}

func readHistory(name string) ([]entry, error) {
	file, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []entry
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("history %s, line %d: %w", name, n, err)
		}
		all = append(all, e)
	}
	return all, lines.Err()
}

// next returns the entry of a run that follows the kept entries. A figure whose base is not in
// the history begins at 1.
func next(kept []entry, r Report) entry {
	e := entry{Commit: r.Head, Base: r.Base, Date: r.Date, CPU: r.CPU, Figures: map[string]record{}}
	var base entry
	for _, k := range kept {
		if k.Commit == r.Base {
			base = k
		}
	}
	for _, f := range r.Findings {
		if !slices.Contains([]Verdict{Pass, Better, Regression, Waived}, f.Verdict) {
			continue
		}
		key := f.key()
		from, is := base.Figures[key]
		if !is {
			from = record{Index: 1}
		}
		to := record{Value: f.Head, Index: from.Index * (1 + f.Change), Variance: from.Variance}
		if _, counted := tolerances[f.Figure]; !counted {
			sd := (math.Log1p(f.High) - math.Log1p(f.Low)) / 2 / stats.NormalQuantile(0.975)
			to.Variance += sd * sd
		}
		e.Figures[key] = to
	}
	for key, from := range base.Figures { // figures that the run did not measure keep their index
		if _, is := e.Figures[key]; !is {
			e.Figures[key] = from
		}
	}
	return e
}

// drifts turns a time that passed into a regression if it is slower than in the best kept
// entry, because several small steps may add up to a regression. It returns the entries at
// which a time has changed. An improvement becomes the best entry for later runs.
func drifts(kept []entry, last entry, findings []Finding, least float64) (lines []string) {
	tests := float64(max(1, len(last.Figures)))
	for i, f := range findings {
		now, is := last.Figures[f.key()]
		if !is || f.Figure != measure.Time || f.Verdict != Pass {
			continue
		}
		best, at := record{}, ""
		var series []float64
		for _, e := range kept {
			if r, has := e.Figures[f.key()]; has {
				series = append(series, math.Log(r.Index))
				if at == "" || r.Index < best.Index {
					best, at = r, e.Commit
				}
			}
		}
		if at == "" {
			continue
		}
		apart := math.Log(now.Index / best.Index)
		sd := math.Sqrt(max(0, now.Variance-best.Variance))
		if apart > math.Log1p(least) && apart > stats.NormalQuantile(1-level/tests/2)*sd {
			f.Verdict = Regression
			f.Note = fmt.Sprintf("%s slower than %s, the best entry of the history, in steps that were each too small for an alarm", percent(math.Expm1(apart)), at)
			findings[i] = f
		}
		series = append(series, math.Log(now.Index))
		for _, change := range stats.ChangePoints(series, level) {
			before, after := stats.Median(series[:change]), stats.Median(series[change:])
			lines = append(lines, fmt.Sprintf("history: %s changed by %s at %s", f.key(), percent(math.Expm1(after-before)), commitAt(kept, last, f.key(), change)))
		}
	}
	return lines
}

// commitAt returns the commit of the n-th entry that has a figure.
func commitAt(kept []entry, last entry, key string, n int) string {
	for _, e := range kept {
		if _, has := e.Figures[key]; has {
			if n == 0 {
				return e.Commit
			}
			n--
		}
	}
	return last.Commit
}

// history compares the run with the kept ones, and appends it if Options.Keep is set.
func (g *gate) history() error {
	if g.History == "" {
		return nil
	}
	kept, err := readHistory(g.History)
	if err != nil {
		return err
	}
	last := next(kept, *g.report)
	g.report.Drift = drifts(kept, last, g.report.Findings, g.Least)
	if !g.Keep {
		return nil
	}
	text, err := json.Marshal(last)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(g.History, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	return errors.Join(err, file.Close())
}
