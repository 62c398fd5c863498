package exectest

import (
	"fmt"
	"slices"
	"strconv"
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
	Hammers   int    // how many runs without the log were judged
	Text      string // Fail: the breach and what was done; NotSupported: what is missing
	Report    string // Fail: the whole story for a person, the breach included
	cause     string // Fail: equal for failures that have the same cause
	line      string // Fail: to paste
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

// sort puts the rows in the order of their numbers, whichever was checked first.
func (r *Result) sort() {
	slices.SortFunc(r.Rows, func(a, b Row) int { return number(a.Guarantee) - number(b.Guarantee) })
}

// number is that of the guarantee: 3 of G3; 0 if the name has none.
func number(guarantee string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(guarantee, "G"))
	return n
}

// String is the result as a table: a heading, and one line per guarantee.
func (r Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, tableLine, "", "verdict", "exercised", "guarantee")
	for _, row := range r.Rows {
		fmt.Fprintf(&b, tableLine, row.Guarantee, row.Status, strconv.Itoa(row.Exercised), row.says())
	}
	return b.String()
}

const tableLine = "%-4s %-13s %9s  %s\n"

// says is the sentence, with what is missing; of a failure the breach, which has a
// sentence of its own.
func (row Row) says() string {
	switch {
	case row.Status == Fail:
		return strings.TrimPrefix(row.Text, row.Guarantee+" ")
	case row.Text != "":
		return row.Sentence + ": " + row.Text
	default:
		return row.Sentence
	}
}
