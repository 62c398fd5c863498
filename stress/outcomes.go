package stress

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Verdict is what a table says of an outcome. The zero value is no verdict, and
// a table with such a row does not pass.
type Verdict uint8

const (
	// Acceptable: the contract allows the outcome.
	Acceptable Verdict = iota + 1

	// Forbidden: the contract rules the outcome out; seen once, the test fails.
	Forbidden
)

// String returns the verdict as tables show it.
func (v Verdict) String() string {
	switch v {
	case Acceptable:
		return "ACCEPTABLE"
	case Forbidden:
		return "FORBIDDEN"
	}
	return "NO VERDICT"
}

// Row is an outcome that somebody has thought about before the race was run.
type Row struct {
	Outcome string
	Verdict Verdict
	Why     string // one sentence
}

// Table counts the outcomes of a race, in the manner of jcstress. It is not safe
// for simultaneous use: outcomes are counted after the race.
type Table struct {
	name  string
	rows  []Row
	count map[string]int
	total int
}

// NewTable returns an empty table. Its rows are judged by Check.
func NewTable(name string, rows ...Row) *Table {
	return &Table{name: name, rows: rows, count: make(map[string]int)}
}

// Add counts an outcome. One without a row gets one without a verdict.
func (t *Table) Add(outcome string) {
	if t.row(outcome) == nil {
		t.rows = append(t.rows, Row{Outcome: outcome, Why: "Nobody has thought about it: no row has this outcome."})
	}
	t.count[outcome]++
	t.total++
}

func (t *Table) row(outcome string) *Row {
	i := slices.IndexFunc(t.rows, func(r Row) bool { return r.Outcome == outcome })
	if i < 0 {
		return nil
	}
	return &t.rows[i]
}

// Count returns how often an outcome was seen.
func (t *Table) Count(outcome string) int { return t.count[outcome] }

// Total returns how many outcomes were counted.
func (t *Table) Total() int { return t.total }

// Seen returns how many different outcomes were counted.
func (t *Table) Seen() int { return len(t.count) }

// Check returns nil if every row has a verdict and a sentence and stands once,
// something was counted, and nothing forbidden was. Otherwise it returns all that
// is wrong, joined.
func (t *Table) Check() error {
	var errs []error
	for i, r := range t.rows {
		n := t.count[r.Outcome]
		switch {
		case r.Verdict != Acceptable && r.Verdict != Forbidden:
			errs = append(errs, fmt.Errorf("%s: outcome %q, seen %d times, has no verdict, want ACCEPTABLE or FORBIDDEN", t.name, r.Outcome, n))
		case r.Verdict == Forbidden && n > 0:
			errs = append(errs, fmt.Errorf("%s: FORBIDDEN outcome %q seen %d times in %d: %s", t.name, r.Outcome, n, t.total, r.Why))
		}
		if r.Why == "" {
			errs = append(errs, fmt.Errorf("%s: outcome %q has no sentence that says why", t.name, r.Outcome))
		}
		if t.row(r.Outcome) != &t.rows[i] {
			errs = append(errs, fmt.Errorf("%s: outcome %q has two rows", t.name, r.Outcome))
		}
	}
	if t.total == 0 {
		errs = append(errs, fmt.Errorf("%s: nothing was counted", t.name))
	}
	return errors.Join(errs...)
}

// WriteTo writes the table: outcome, count, share, verdict, sentence. Rows stand
// in the order given, so that two runs can be compared line by line.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d runs\n", t.name, t.total)
	tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "  outcome\tcount\tshare\tverdict\twhy")
	for _, r := range t.rows {
		n := t.count[r.Outcome]
		fmt.Fprintf(tab, "  %s\t%d\t%s\t%v\t%s\n", r.Outcome, n, share(n, t.total), r.Verdict, r.Why)
	}
	if err := tab.Flush(); err != nil {
		return 0, err
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

// String returns what WriteTo writes.
func (t *Table) String() string {
	var b strings.Builder
	_, _ = t.WriteTo(&b) // a Builder does not fail
	return b.String()
}

// share is a percentage that rounds neither a rare outcome to none nor a frequent
// one to all.
func share(n, total int) string {
	percent := 100 * float64(n) / float64(max(total, 1))
	switch {
	case n > 0 && percent < 0.01:
		return "<0.01%"
	case n < total && percent > 99.99:
		return ">99.99%"
	}
	return fmt.Sprintf("%.2f%%", percent)
}
