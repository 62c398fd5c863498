package exectest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Status is the result for one guarantee.
type Status uint8

// The results. Only Pass is a pass.
const (
	Inconclusive Status = iota // the premise of the guarantee did not occur
	Pass
	Fail
	NotSupported // the subject cannot do, or does not promise, what the guarantee is about
)

// String returns the status as it is in the table.
func (s Status) String() string {
	return [...]string{"inconclusive", "pass", "FAIL", "not supported"}[s]
}

// Row is the result for one guarantee.
type Row struct {
	Guarantee string // "G3"
	Sentence  string
	Status    Status
	Exercised int    // how often the premise of the guarantee occurred
	Programs  int    // how many programs were run
	Hammers   int    // how many runs without the log were judged
	Planned   int    // how many runs without the log were planned; Hammers is smaller if HammerTime ended, or the subject did not terminate
	Text      string // Fail: the breach and the program; NotSupported: what is missing
	Report    string // Fail: the full report, including the breach
	cause     string // Fail: equal for failures with the same cause
	line      string // Fail: the replay line
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

// Row returns the row of a guarantee, or the zero Row if there is none.
func (r Result) Row(guarantee string) Row {
	for _, row := range r.Rows {
		if row.Guarantee == guarantee {
			return row
		}
	}
	return Row{}
}

// sort puts the rows in the order of their numbers.
func (r *Result) sort() {
	slices.SortFunc(r.Rows, func(a, b Row) int { return number(a.Guarantee) - number(b.Guarantee) })
}

// number returns the number of a guarantee: 3 for G3; 0 if the name has none.
func number(guarantee string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(guarantee, "G"))
	return n
}

// String returns the result as a table: a heading, and one line per guarantee.
func (r Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, tableLine, "", "verdict", "exercised", "guarantee")
	for _, row := range r.Rows {
		fmt.Fprintf(&b, tableLine, row.Guarantee, row.Status, strconv.Itoa(row.Exercised), row.says())
	}
	return b.String()
}

const tableLine = "%-4s %-13s %9s  %s\n"

// says returns the last column: for a failure the breach, which begins with a sentence
// of its own; otherwise the sentence of the guarantee and, if something is missing,
// what.
func (row Row) says() string {
	switch {
	case row.Status == Fail:
		return strings.TrimPrefix(row.Text, row.Guarantee+" ")
	case row.Text != "":
		return row.Sentence + ": " + row.Text
	case row.Hammers < row.Planned:
		return fmt.Sprintf("%s (of %d runs without the log only %d were judged)", row.Sentence, row.Planned, row.Hammers)
	default:
		return row.Sentence
	}
}
