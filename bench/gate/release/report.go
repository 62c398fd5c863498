package release

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"eventide/internal/machine"
)

// The exit codes of the command.
const (
	ExitPass         = 0
	ExitRegression   = 1
	ExitUsage        = 2
	ExitInconclusive = 3
	ExitBroken       = 4
)

// A Report is out/gate.json.
type Report struct {
	Schema    int    `json:"schema"`
	Base      string `json:"base"` // commits
	Head      string `json:"head"`
	Workloads string `json:"workloads"` // whether head's or base's workloads measure base
	Go        string `json:"go"`
	CPU       string `json:"cpu"`
	CPUs      int    `json:"cpus"`
	Kernel    string `json:"kernel"`
	Date      string `json:"date"`

	Seconds float64 `json:"seconds"`
	Rounds  int     `json:"rounds"`
	Partial bool    `json:"partial"` // only some benchmarks or tiers were requested
	Strict  bool    `json:"strict"`

	Findings      []Finding `json:"findings"`
	UnusedWaivers []string  `json:"unused_waivers,omitempty"`
}

func (g *gate) about(ctx context.Context, w *workspace) (Report, error) {
	base, head, err := w.Describe(ctx)
	if err != nil {
		return Report{}, err
	}
	return Report{
		Schema: 1, Base: base, Head: head, Workloads: w.workloads,
		Go: w.Go, CPU: machine.CPU(), CPUs: runtime.NumCPU(), Kernel: machine.Kernel(),
		Date: g.now().UTC().Format(time.RFC3339), Rounds: g.n, Strict: g.Strict,
		Partial: g.Run != nil || len(g.Tiers) < len(Tiers),
	}, nil
}

// certain are the tiers whose failures do not depend on the noise of the machine.
var certain = []string{TierExact, TierProperties, TierMutants}

// broken reports whether the self-test failed.
func (r Report) broken() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Tier == TierSelfTest && f.Verdict == Failed })
}

// ExitCode returns the verdict as a number. A failure of a certain tier comes first. Otherwise, if
// base differed from itself, the machine was too restless, and no time has a meaning.
func (r Report) ExitCode() int {
	has := func(match func(Finding) bool) bool { return slices.ContainsFunc(r.Findings, match) }
	switch {
	case r.broken():
		return ExitBroken
	case has(func(f Finding) bool { return f.bad() && slices.Contains(certain, f.Tier) }):
		return ExitRegression
	case has(func(f Finding) bool { return f.Verdict == Inconclusive }):
		return ExitInconclusive
	case has(Finding.bad):
		return ExitRegression
	case r.Partial, r.Strict && len(r.missing()) > 0, has(Finding.unshown), !has(Finding.judged):
		return ExitInconclusive
	}
	return ExitPass
}

// judged reports whether base and head were really compared.
func (f Finding) judged() bool {
	return f.Tier != TierSelfTest && f.Verdict != NotRun && f.Verdict != NotCompared
}

// unshown reports whether a property or a mutant did not run. These need no tools, so a missing
// tool is no reason.
func (f Finding) unshown() bool {
	return f.Verdict == NotRun && (f.Tier == TierProperties || f.Tier == TierMutants)
}

func (f Finding) bad() bool { return f.Verdict == Regression || f.Verdict == Failed }

// missing returns the figures that were not run, each with its reason.
func (r Report) missing() []string {
	var all []string
	for _, f := range r.Findings {
		if f.Verdict != NotRun || f.Tier == TierSelfTest {
			continue
		}
		line := fmt.Sprintf("%s, %s: %s", f.Tier, f.Metric, f.Note)
		if !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	return all
}

// Verdict is the sentence that goes with the exit code.
func (r Report) Verdict() string {
	bad, restless := 0, 0
	for _, f := range r.Findings {
		if f.bad() {
			bad++
		}
		if f.Verdict == Inconclusive {
			restless++
		}
	}
	text := ""
	switch r.ExitCode() {
	case ExitBroken:
		text = "GATE BROKEN: the self-test failed, nothing was compared"
	case ExitRegression:
		text = fmt.Sprintf("REGRESSION: %d findings", bad)
	case ExitInconclusive:
		text = fmt.Sprintf("INCONCLUSIVE: %d figures of base differ from themselves", restless)
		if restless == 0 {
			text = "INCONCLUSIVE: not everything was run"
		}
	default:
		text = "PASS"
	}
	if missing := r.missing(); len(missing) > 0 {
		text += "; NOT RUN: " + strings.Join(missing, "; ")
	}
	return text
}

// WriteJSON writes the report, with the exit code and the verdict.
func (r Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(struct {
		Exit    int    `json:"exit"`
		Verdict string `json:"verdict"`
		Report
	}{r.ExitCode(), r.Verdict(), r})
}

// WriteTable writes a row for each finding, then the notes of those that are not a plain pass,
// then the verdict.
func (r Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "base %s\nhead %s\n%s, %s, %d CPUs, kernel %s, %d rounds, workloads: %s\n\n",
		r.Base, r.Head, r.Go, r.CPU, r.CPUs, r.Kernel, r.Rounds, r.Workloads)
	fmt.Fprintln(t, "tier\tbenchmark\tfigure\tbase\thead\tdelta\tlimit\tp\tA/A p90\tverdict")
	for _, f := range r.Findings {
		fmt.Fprintln(t, strings.Join(f.cells(), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, f := range r.Findings {
		if f.Note != "" && f.Verdict != Pass && f.Verdict != NotRun {
			fmt.Fprintf(w, "%s: %s, %s: %s\n", f.Verdict, f.Benchmark, f.Metric, f.Note)
		}
	}
	for _, u := range r.UnusedWaivers {
		fmt.Fprintf(w, "unused waiver, %s\n", u)
	}
	_, err := fmt.Fprintf(w, "\n%s\n", r.Verdict())
	return err
}

// cells are one row.
func (f Finding) cells() []string {
	row := []string{f.Tier, f.Benchmark, f.Metric, "-", "-", "-", "-", "-", "-", string(f.Verdict)}
	if f.Limit != 0 || f.Base != 0 || f.Head != 0 {
		row[3], row[4], row[6] = number(f.Base), number(f.Head), number(f.Limit)
		row[5] = fmt.Sprintf("%+.1f %%", 100*f.Delta())
		if f.Base == 0 || f.Delta() > 10 {
			row[5] = fmt.Sprintf("%+.3g", f.Head-f.Base) // a ratio to nearly 0 says nothing
		}
	}
	if f.Tier == TierTime || f.Tier == TierLatency {
		row[7], row[8] = fmt.Sprintf("%.2g", f.P), fmt.Sprintf("%.1f %%", 100*f.Noise)
	}
	return row
}

// number writes three significant digits, or all digits before the point.
func number(v float64) string {
	if v >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// WriteMarkdown writes the report for a page or a review.
func (r Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Release gate: %s\n\n", r.Verdict())
	fmt.Fprintf(&b, "| | |\n|---|---|\n| base | `%s` |\n| head | `%s` |\n| Go | %s |\n| machine | %s, %d CPUs, kernel %s |\n| workloads | %s |\n| rounds | %d |\n| date | %s, %.0f s |\n\n",
		r.Base, r.Head, r.Go, r.CPU, r.CPUs, r.Kernel, r.Workloads, r.Rounds, r.Date, r.Seconds)
	fmt.Fprintln(&b, "| tier | benchmark | figure | base | head | delta | limit | p (Holm) | A/A p90 | verdict | |\n|---|---|---|---|---|---|---|---|---|---|---|")
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(f.cells(), " | "), cell(f.Note))
	}
	for _, u := range r.UnusedWaivers {
		fmt.Fprintf(&b, "\nUnused waiver, %s.\n", u)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cell keeps a text inside one cell of a Markdown table.
func cell(text string) string {
	return strings.NewReplacer("\n", " ", "|", "\\|").Replace(text)
}
