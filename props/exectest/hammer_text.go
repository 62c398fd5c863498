package exectest

import (
	"fmt"
	"strings"
	"time"

	"eventide/props/history"
)

// String is the hammer on one line.
func (h hammer) String() string {
	parts := []string{fmt.Sprintf("%d producers, each %d times %v", h.producers, h.calls, h.call)}
	if h.busy {
		parts = append(parts, "with a task that holds the loop")
	}
	if h.yields > 0 {
		parts = append(parts, fmt.Sprintf("%d times runtime.Gosched", h.yields))
	}
	switch {
	case h.timeout:
		parts = append(parts, "when the timeout of a shutdown passes")
	case h.inside:
		parts = append(parts, "then Shutdown from a task")
	default:
		parts = append(parts, "then Shutdown")
	}
	return strings.Join(parts, ", ")
}

// String is the name of the method.
func (c call) String() string { return [...]string{"Execute", "Submit", "AddShutdownHook"}[c] }

// repetitions is how often a hammer that has broken something is tried again, so
// that the report can say how rare it is, and how long that may take.
const (
	repetitions        = 1000
	timeForRepetitions = time.Second
)

// tellHammer fills the row of a hammer that has found something. There is no
// trace, so the report has a test that does the same, and how often it fails.
func (cl *clause) tellHammer(row *Row, factory func() Subject, c *config, h hammer, text string) {
	v := history.Violation{Guarantee: row.Guarantee, Sentence: row.Sentence, Text: text}
	row.Status, row.cause, row.line = Fail, v.Cause(), c.line
	row.Text = fmt.Sprintf("%v [hammer%s: %v]", v, cl.madeFor(row), h)
	tries, failed := 0, 0
	if text != restless {
		tries, failed = cl.repeat(row.Guarantee, factory, c, h)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n\nThere is no trace: this run was made without the log, which keeps calls apart.\n", v)
	fmt.Fprintf(&b, "What was done: %v.\n", h)
	fmt.Fprintf(&b, "Done again %d times it failed %d times. The test does the same.\n\n", tries, failed)
	b.WriteString(h.source(row.Guarantee, !c.realTime))
	fmt.Fprintf(&b, "\nreplay  %s\n", c.line)
	row.Report = b.String() + inWords(row.Guarantee)
}

func (cl *clause) repeat(guarantee string, factory func() Subject, c *config, h hammer) (tries, failed int) {
	for began := time.Now(); tries < repetitions && time.Since(began) < timeForRepetitions; tries++ {
		v := cl.strike(factory, c, h)
		failed += one(v.text != "" && v.guarantee == guarantee)
	}
	return tries, failed
}
