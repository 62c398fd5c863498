package exectest

import (
	"fmt"
	"strings"
)

// Status is what the kit found out about one guarantee.
type Status uint8

// The results. Only Pass is a pass.
const (
	Inconclusive Status = iota // what the guarantee speaks of did not occur
	Pass
	Fail
	NotSupported // the subject cannot do, or does not promise, what it speaks of
)

// String is the status as the table has it.
func (s Status) String() string {
	return [...]string{"inconclusive", "pass", "FAIL", "not supported"}[s]
}

// Row is the result for one guarantee.
type Row struct {
	Guarantee string // "G3"
	Sentence  string
	Status    Status
	Exercised int    // how often what the guarantee speaks of really occurred
	Programs  int    // how many programs were run
	Text      string // Fail: the breach and the smallest program found; NotSupported: what is missing
	Report    string // Fail: the whole story for a person
}

// Result has one row for each guarantee, in the order of their numbers.
type Result struct {
	Rows []Row
}

// Failed returns the guarantees that failed.
func (r Result) Failed() []string {
	var names []string
	for _, row := range r.Rows {
		if row.Status == Fail {
			names = append(names, row.Guarantee)
		}
	}
	return names
}

// Row returns the row of a guarantee; its zero value if the kit has none.
func (r Result) Row(guarantee string) Row {
	for _, row := range r.Rows {
		if row.Guarantee == guarantee {
			return row
		}
	}
	return Row{}
}

// String is the result as a table, one line per guarantee.
func (r Result) String() string {
	var b strings.Builder
	for _, row := range r.Rows {
		line := fmt.Sprintf("%-4s %-13s %7d  %s", row.Guarantee, row.Status, row.Exercised, row.Sentence)
		if row.Text != "" {
			line += ": " + row.Text
		}
		fmt.Fprintln(&b, line)
	}
	return b.String()
}
