package peers

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
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
		if row.RatioLow == 0 && row.RatioHigh == 0 {
			return fmt.Sprintf("%.2f (no interval)", row.Ratio)
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
	for rows := r.Rows; len(rows) > 0; {
		line := rows[:1]
		for len(line) < len(rows) && rows[len(line)].Workload == rows[0].Workload {
			line = rows[:len(line)+1]
		}
		rows = rows[len(line):]
		fmt.Fprintf(t, "%s\t%s", line[0].Workload, line[0].Unit)
		for _, impl := range impls {
			fmt.Fprint(t, "\t", cellOf(line, impl, cell))
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

// cellOf is what the line of one workload says of impl.
func cellOf(line []Row, impl string, cell func(Row) string) string {
	i := slices.IndexFunc(line, func(row Row) bool { return row.Impl == impl })
	switch {
	case i < 0:
		return "not asked"
	case line[i].Status != Measured:
		return line[i].Status
	default:
		return cell(line[i])
	}
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

// reasons says what is missing, once for each reason, and what was not as it should be.
func (r Report) reasons(w io.Writer) {
	who := map[string][]string{} // by what is to be said
	var order []string
	say := func(impl, format string, args ...any) {
		line := fmt.Sprintf(format, args...)
		if who[line] == nil {
			order = append(order, line)
		}
		if !slices.Contains(who[line], impl) {
			who[line] = append(who[line], impl)
		}
	}
	for _, row := range r.Rows {
		switch row.Status {
		case NotRun, NotOffered:
			say(row.Impl, "%s: %s: %s", row.Status, implsHere, row.Reason)
		case Failed:
			say(row.Impl, "FAILED: %s, %s: %s", row.Workload, implsHere, row.Reason)
		}
		if row.Lost > 0 {
			say(row.Impl, "LOST: %s, %s: %d tasks that were accepted never ran, in %d rounds", row.Workload, implsHere, row.Lost, row.Rounds)
		}
		if row.Void > 0 {
			say(row.Impl, "void: %s, %s: %d samples", row.Workload, implsHere, row.Void)
		}
		if row.Short > 0 {
			say(row.Impl, "SHORT: %s, %s: %d quiet periods", row.Workload, implsHere, row.Short)
		}
	}
	fmt.Fprintln(w)
	for _, line := range order {
		fmt.Fprintln(w, strings.Replace(line, implsHere, strings.Join(who[line], ", "), 1))
	}
}

// implsHere stands for the names of whom a line is about.
const implsHere = "{impls}"

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
