package peers

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// A Report is out/peers.json.
type Report struct {
	Schema  int       `json:"schema"`
	About   RawHeader `json:"about"`
	Rows    []Row     `json:"rows"`
	Targets []Target  `json:"targets"`
}

// Report judges the recording.
func (rec Recording) Report() Report {
	return Report{Schema: 1, About: rec.Header, Rows: rec.Rows(), Targets: rec.Targets()}
}

// WriteJSON writes the report.
func (r Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// WriteTable writes the report for people: a table of medians, one of ratios, why
// something is missing, and the targets.
func (r Report) WriteTable(w io.Writer) error {
	h := r.About
	fmt.Fprintf(w, "commit %s, %s, %d CPUs, %s; %d rounds, orders by seed %d\n", h.Commit, h.CPU, h.CPUs, h.Kernel, h.Rounds, h.Seed)
	impls := r.impls()
	for _, impl := range impls {
		version := h.Versions[impl]
		if version == "" {
			version = NotRun + ": " + h.NotRun[impl]
		}
		fmt.Fprintf(w, "  %-14s %s\n", impl, version)
	}
	fmt.Fprintln(w, "\nmedians")
	r.grid(w, impls, func(row Row) string { return number(row.Median) })
	fmt.Fprintln(w, "\nratios to the base, with the 95 % confidence interval")
	r.grid(w, impls, func(row Row) string {
		if row.Base == "" {
			return "no base"
		}
		if row.Base == row.Impl {
			return "base"
		}
		return fmt.Sprintf("%.2f (%.2f..%.2f)", row.Ratio, row.RatioLow, row.RatioHigh)
	})
	r.reasons(w)
	return r.targetTable(w)
}

func (r Report) impls() []string {
	var names []string
	for _, im := range Impls {
		if slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Impl == im.Name }) {
			names = append(names, im.Name)
		}
	}
	return names
}

// grid writes workload x implementation.
func (r Report) grid(w io.Writer, impls []string, cell func(Row) string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "workload\tunit")
	for _, impl := range impls {
		fmt.Fprint(t, "\t", impl)
	}
	fmt.Fprintln(t)
	for i := 0; i < len(r.Rows); {
		name := r.Rows[i].Workload
		fmt.Fprintf(t, "%s\t%s", name, r.Rows[i].Unit)
		for ; i < len(r.Rows) && r.Rows[i].Workload == name; i++ {
			if r.Rows[i].Status != Measured {
				fmt.Fprint(t, "\t", r.Rows[i].Status)
			} else {
				fmt.Fprint(t, "\t", cell(r.Rows[i]))
			}
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

// number writes three digits, or all of what is before the point.
func number(v float64) string {
	switch {
	case v < 10 && v > -10:
		return fmt.Sprintf("%.2f", v)
	case v < 100 && v > -100:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.0f", v)
	}
}

// reasons says once for each what is missing, and what was not as it should be.
func (r Report) reasons(w io.Writer) {
	said := map[string]bool{}
	say := func(format string, args ...any) {
		line := fmt.Sprintf(format, args...)
		if !said[line] {
			said[line] = true
			fmt.Fprintln(w, line)
		}
	}
	fmt.Fprintln(w)
	for _, row := range r.Rows {
		switch row.Status {
		case NotRun, NotOffered:
			say("%s: %s: %s", row.Status, row.Impl, row.Reason)
		case Failed:
			say("FAILED: %s, %s: %s", row.Workload, row.Impl, row.Reason)
		}
		if row.Lost > 0 {
			say("LOST: %s, %s: %d tasks that were accepted never ran, in %d rounds", row.Workload, row.Impl, row.Lost, row.Rounds)
		}
		if row.Void > 0 {
			say("void: %s, %s: %d samples", row.Workload, row.Impl, row.Void)
		}
		if row.Short > 0 {
			say("SHORT: %s, %s: %d quiet periods", row.Workload, row.Impl, row.Short)
		}
	}
}

func (r Report) targetTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	met := 0
	fmt.Fprintln(t, "\ntarget\tmeasured\t95 %\tlimit\t")
	for _, g := range r.Targets {
		measured, interval, verdict, side := number(g.Ratio), fmt.Sprintf("%s..%s", number(g.Low), number(g.High)), "MISSED", "<="
		switch {
		case g.Reason != "":
			measured, interval, verdict = "-", "-", "NOT JUDGED: "+g.Reason
		case g.Met:
			verdict = "met"
			met++
		}
		if g.Least {
			side = ">="
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s %s\t%s\n", g.Name, measured, interval, side, number(g.Limit), verdict)
	}
	fmt.Fprintf(t, "\n%d of %d targets met\n", met, len(r.Targets))
	return t.Flush()
}
