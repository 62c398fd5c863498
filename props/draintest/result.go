package draintest

import (
	"fmt"
	"strconv"
	"strings"
)

// Status is the result of one verdict.
type Status uint8

// The results. Only Pass is a pass.
const (
	Inconclusive Status = iota // the event that the verdict judges did not occur
	Pass
	Fail
	NotRun // the verdict cannot be judged: Row.Text has the reason
)

// String returns the status as in the table.
func (s Status) String() string {
	return [...]string{"inconclusive", "pass", "FAIL", "NOT RUN"}[s]
}

// The verdicts, in the order of the table.
const (
	NoneLost     = "none-lost"
	NoneCut      = "none-cut"
	CleanRefusal = "clean-refusal"
	ReadyFirst   = "ready-first"
	Ended        = "ended"
	NothingLeft  = "nothing-left"
)

// Verdicts returns the names of all verdicts, in the order of the table.
func Verdicts() []string {
	return []string{NoneLost, NoneCut, CleanRefusal, ReadyFirst, Ended, NothingLeft}
}

// Sentence returns the verdict as a sentence that is true of a passing server; "" if
// there is no such verdict.
func Sentence(verdict string) string {
	return map[string]string{
		NoneLost:     "No accepted request is lost",
		NoneCut:      "No response is cut before the deadline",
		CleanRefusal: "A refusal is clean: no accepted connection is closed or reset without an answer",
		ReadyFirst:   "Readiness turns before the listener closes",
		Ended:        "The server has ended by the deadline",
		NothingLeft:  "No goroutine and no descriptor is left",
	}[verdict]
}

// Row is the result for one verdict.
type Row struct {
	Verdict   string // NoneLost and so on
	Sentence  string
	Status    Status
	Exercised int    // how often the event that the verdict judges occurred
	Failures  int    // number of failures
	Text      string // Fail: counts, by kind of client; Inconclusive, NotRun: why
	Report    string // Fail: Sentence, Text, and the timeline of the shortest failing example
}

// Result has one row for each verdict.
type Result struct {
	Rows   []Row
	Rounds int // how many servers were started

	// Unaccepted counts connections that ended in the accept queue when the listener
	// closed, before the server accepted them. No verdict counts them: only a filter in
	// the kernel prevents them (process.HTTP has one).
	Unaccepted int
}

// Row returns the row of a verdict, or the zero Row if there is no such verdict.
func (r Result) Row(verdict string) Row {
	for _, row := range r.Rows {
		if row.Verdict == verdict {
			return row
		}
	}
	return Row{}
}

// Failed returns the verdicts that failed.
func (r Result) Failed() []string {
	var names []string
	for _, row := range r.Rows {
		if row.Status == Fail {
			names = append(names, row.Verdict)
		}
	}
	return names
}

const tableLine = "%-13s %-12s %9s  %s\n"

// String returns the result as a table: a heading, one line for each verdict, and the
// counts.
func (r Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, tableLine, "", "verdict", "exercised", "")
	for _, row := range r.Rows {
		text := row.Sentence
		if row.Text != "" {
			text += ": " + row.Text
		}
		fmt.Fprintf(&b, tableLine, row.Verdict, row.Status, strconv.Itoa(row.Exercised), text)
	}
	fmt.Fprintf(&b, "%d rounds; %d connections ended with the listener before the server accepted them\n", r.Rounds, r.Unaccepted)
	return b.String()
}
