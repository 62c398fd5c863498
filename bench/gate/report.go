package gate

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"eventide/bench/gate/measure"
)

// The exit codes of the command.
const (
	ExitPass         = 0
	ExitRegression   = 1
	ExitUsage        = 2
	ExitInconclusive = 3
	ExitBroken       = 4
)

// A Report is the result of a run. The flag -json writes it, with the exit code and the
// verdict.
type Report struct {
	Schema int    `json:"schema"`
	Base   string `json:"base"` // commits
	Head   string `json:"head"`
	Go     string `json:"go"`
	CPU    string `json:"cpu"`
	CPUs   int    `json:"cpus"`
	Kernel string `json:"kernel"`
	Date   string `json:"date"`

	Seconds  float64 `json:"seconds"`
	Strict   bool    `json:"strict"`
	TimesOff bool    `json:"times_off"`       // only counts were requested
	Noise    string  `json:"noise,omitempty"` // why the machine was too noisy for times

	SelfTest      []Finding `json:"selftest"`
	Findings      []Finding `json:"findings"`
	Drift         []string  `json:"drift,omitempty"` // what the history shows
	UnusedWaivers []string  `json:"unused_waivers,omitempty"`
}

func (r Report) has(match func(Finding) bool) bool { return slices.ContainsFunc(r.Findings, match) }

// broken reports whether the self-test failed.
func (r Report) broken() bool {
	return slices.ContainsFunc(r.SelfTest, func(f Finding) bool { return f.Verdict == Failed })
}

// ExitCode returns the verdict as a number. A regression outranks an inconclusive figure,
// because it was found twice.
func (r Report) ExitCode() int {
	switch {
	case r.broken():
		return ExitBroken
	case r.has(Finding.bad):
		return ExitRegression
	case r.has(func(f Finding) bool { return f.Verdict == Inconclusive }), !r.has(Finding.judged),
		!r.TimesOff && r.has(func(f Finding) bool { return f.Figure == measure.Time && f.Verdict == NotRun }),
		r.has(func(f Finding) bool { return f.Figure == allCounts && f.Verdict == NotRun }),
		r.Strict && len(r.missing()) > 0:
		return ExitInconclusive
	}
	return ExitPass
}

// missing returns the figures that were not run: each reason once, and how many benchmarks it concerns.
func (r Report) missing() []string {
	var all []string
	number := map[string]int{}
	for _, f := range r.Findings {
		if f.Verdict != NotRun {
			continue
		}
		line := fmt.Sprintf("%s: %s", f.Figure, f.Note)
		if number[line]++; number[line] == 1 {
			all = append(all, line)
		}
	}
	for i, line := range all {
		if n := number[line]; n > 1 {
			all[i] = fmt.Sprintf("%s (%d benchmarks)", line, n)
		}
	}
	return all
}

// lost has the benchmarks, and the packages, that only the base has.
func (r Report) lost() (names []string) {
	for _, f := range r.Findings {
		switch {
		case f.Verdict != NotCompared || f.Note != lacking:
		case f.Benchmark == "all":
			names = append(names, "all of "+f.Package)
		default:
			names = append(names, f.Benchmark)
		}
	}
	return names
}

func (r Report) number(v ...Verdict) int {
	n := 0
	for _, f := range r.Findings {
		if slices.Contains(v, f.Verdict) {
			n++
		}
	}
	return n
}

// Verdict is the sentence that goes with the exit code.
func (r Report) Verdict() string {
	text := ""
	switch r.ExitCode() {
	case ExitBroken:
		text = "GATE BROKEN: the self-test failed, so nothing was compared"
	case ExitRegression:
		text = fmt.Sprintf("REGRESSION: %d of %d figures", r.number(Regression, Failed), r.number(Pass, Better, Regression, Failed, Inconclusive, Waived))
	case ExitInconclusive:
		text = "INCONCLUSIVE: no regression was found, but some figures could not show one"
		if n := r.number(Inconclusive); n > 0 {
			text += fmt.Sprintf(" (%d figures)", n)
		}
		if !r.has(Finding.judged) {
			text = "INCONCLUSIVE: nothing was compared"
		}
	default:
		text = "PASS: " + r.sight()
	}
	if r.Noise != "" {
		text += "; TOO NOISY FOR TIMES: " + r.Noise
	}
	if missing := r.missing(); len(missing) > 0 {
		text += "; NOT RUN: " + strings.Join(missing, "; ")
	}
	if lost := r.lost(); len(lost) > 0 {
		text += "; NOT COMPARED, because " + lacking + ": " + strings.Join(lost, ", ")
	}
	return text
}

// sight says how large a change the run would have found.
func (r Report) sight() string {
	counts, times, worst := 0, 0, 0.0
	for _, f := range r.Findings {
		switch {
		case !slices.Contains([]Verdict{Pass, Better, Waived}, f.Verdict):
		case f.Figure == measure.Time:
			times++
			worst = max(worst, f.Visible)
		default:
			counts++
		}
	}
	if times+counts == 0 {
		return "both sides are the same binaries"
	}
	text := fmt.Sprintf("%d other figures", counts)
	if times > 0 {
		text = fmt.Sprintf("%d times, of which a change of %s would have been seen in each, and %s", times, percent(worst), text)
	}
	return text
}

// WriteJSON writes the report with the exit code and the verdict.
func (r Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(struct {
		Exit    int    `json:"exit"`
		Verdict string `json:"verdict"`
		Report
	}{r.ExitCode(), r.Verdict(), r})
}

var columns = []string{"benchmark", "figure", "base", "head", "change", "could see", "p", "verdict"}

// WriteTable writes every figure, then the reasons, then the verdict.
func (r Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "base %s\nhead %s\n%s, %s, %d CPUs, kernel %s, %.0f s\n\n", r.Base, r.Head, r.Go, r.CPU, r.CPUs, r.Kernel, r.Seconds)
	fmt.Fprintln(t, strings.Join(columns, "\t"))
	for _, f := range slices.Concat(r.SelfTest, r.Findings) {
		fmt.Fprintln(t, strings.Join(f.cells(), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, line := range r.remarks() {
		fmt.Fprintln(w, line)
	}
	_, err := fmt.Fprintf(w, "\n%s\n", r.Verdict())
	return err
}

// remarks are what a reader must know beyond the table.
func (r Report) remarks() []string {
	var all []string
	for _, f := range slices.Concat(r.SelfTest, r.Findings) {
		if f.Note != "" && f.Verdict != NotRun && f.Verdict != Identical {
			all = append(all, fmt.Sprintf("%s: %s, %s: %s", f.Verdict, f.name(), f.Figure, f.Note))
		}
		if f.Culprit != "" {
			all = append(all, fmt.Sprintf("%s, %s: %s", f.name(), f.Figure, f.Culprit))
		}
	}
	all = append(all, r.Drift...)
	for _, u := range r.UnusedWaivers {
		all = append(all, "unused waiver, "+u)
	}
	return all
}

func (f Finding) name() string {
	if f.Package == "" {
		return f.Benchmark
	}
	return f.Package + "." + f.Benchmark
}

// cells are one row.
func (f Finding) cells() []string {
	row := []string{f.name(), f.Figure, "-", "-", "-", "-", "-", string(f.Verdict)}
	if !f.judged() || f.Package == "" || f.Verdict == Identical || f.Verdict == Failed {
		return row
	}
	row[2], row[3], row[4] = number(f.Base), number(f.Head), percent(f.Change)
	if f.Base == 0 {
		row[4] = fmt.Sprintf("%+.3g", f.Head-f.Base)
	}
	if _, counted := tolerances[f.Figure]; counted {
		return row
	}
	row[5], row[6] = visible(f.Visible), fmt.Sprintf("%.2g", f.P)
	return row
}

// WriteMarkdown writes the report for a pull request: the verdict, the figures that are not a
// plain pass, and the other figures folded.
func (r Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### Benchmarks: %s\n\n", r.Verdict())
	fmt.Fprintf(&b, "base `%s`, head `%s`, %s, %s, %d CPUs, kernel %s, %.0f s\n\n", r.Base, r.Head, r.Go, r.CPU, r.CPUs, r.Kernel, r.Seconds)
	var first, rest []Finding
	for _, f := range slices.Concat(r.SelfTest, r.Findings) {
		if slices.Contains([]Verdict{Pass, NotRun, Identical, NotCompared}, f.Verdict) {
			rest = append(rest, f)
		} else {
			first = append(first, f)
		}
	}
	writeRows(&b, first)
	for _, line := range r.remarks() {
		fmt.Fprintf(&b, "* %s\n", cell(line))
	}
	fmt.Fprintf(&b, "\n<details><summary>%d more</summary>\n\n", len(rest))
	writeRows(&b, rest)
	fmt.Fprintln(&b, "</details>")
	_, err := io.WriteString(w, b.String())
	return err
}

func writeRows(b *strings.Builder, found []Finding) {
	if len(found) == 0 {
		return
	}
	fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for _, f := range found {
		row := f.cells()
		for i := range row {
			row[i] = cell(row[i])
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(row, " | "))
	}
	fmt.Fprintln(b)
}

// cell keeps a text inside one cell of a Markdown table.
func cell(text string) string {
	return strings.NewReplacer("\n", " ", "|", "\\|").Replace(text)
}
