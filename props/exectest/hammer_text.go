package exectest

import (
	"fmt"
	"strings"
	"time"

	"eventide/props/history"
)

// String returns the hammer on one line.
func (h hammer) String() string {
	if h.ahead > 0 {
		return fmt.Sprintf("%d producers that each get %d tasks done, at most %d at a time, then Shutdown", h.producers, h.calls, h.ahead)
	}
	parts := []string{fmt.Sprintf("%d producers that each call %v %d times", h.producers, h.call, h.calls)}
	if h.busy {
		parts = append(parts, "while a task blocks the loop")
	}
	if h.yields > 0 {
		parts = append(parts, fmt.Sprintf("%d calls of runtime.Gosched", h.yields))
	}
	switch {
	case h.timeout:
		parts = append(parts, "from the moment when the timeout of a shutdown passes")
	case h.inside:
		parts = append(parts, "then Shutdown from a task")
	default:
		parts = append(parts, "then Shutdown")
	}
	return strings.Join(parts, ", ")
}

// String returns the name of the method.
func (c call) String() string { return [...]string{"Execute", "Submit", "AddShutdownHook"}[c] }

// repetitions is how often a run that has found something is repeated, so that the
// report can say how rare the failure is.
const (
	repetitions        = 1000
	timeForRepetitions = time.Second
)

// blow is a run without the log: a hammer or a waker.
type blow interface {
	String() string
	source(guarantee string, bubble bool) string // an equivalent test
}

// explainBlow fills the row of a run without the log that has found something. Instead of
// a trace the report has an equivalent test, and how often it fails. again repeats the run.
func (cl *clause) explainBlow(row *Row, c *config, b blow, text string, again func() verdict) {
	v := history.Violation{Guarantee: row.Guarantee, Sentence: row.Sentence, Text: text}
	row.Status, row.cause, row.line = Fail, v.Cause(), c.line
	row.Text = fmt.Sprintf("%v [hammer%s: %v]", v, cl.madeFor(row), b)
	tries, failed := 0, 0
	if text != restless {
		tries, failed = repeat(row.Guarantee, again)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%v\n\nThere is no trace: this run was made without the log, whose lock would separate the calls.\n", v)
	fmt.Fprintf(&out, "The run: %v.\n", b)
	fmt.Fprintf(&out, "It was repeated %d times and failed %d times. This test does the same:\n\n", tries, failed)
	out.WriteString(b.source(row.Guarantee, !c.realTime))
	fmt.Fprintf(&out, "\nreplay  %s\n", c.line)
	row.Report = out.String() + inWords(row.Guarantee)
}

func repeat(guarantee string, again func() verdict) (tries, failed int) {
	for began := time.Now(); tries < repetitions && time.Since(began) < timeForRepetitions; tries++ {
		v := again()
		failed += one(v.text != "" && v.guarantee == guarantee)
	}
	return tries, failed
}
