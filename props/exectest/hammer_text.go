package exectest

import (
	"fmt"
	"strings"
	"time"

	"eventide/props/history"
)

// String returns the hammer on one line.
func (h hammer) String() string {
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

// repetitions is how often a hammer that has found something is repeated, so that the
// report can say how rare the failure is.
const (
	repetitions        = 1000
	timeForRepetitions = time.Second
)

// explainHammer fills the row of a hammer that has found something. Instead of a trace the
// report has an equivalent test, and how often it fails.
func (cl *clause) explainHammer(row *Row, factory func() Subject, c *config, h hammer, text string) {
	v := history.Violation{Guarantee: row.Guarantee, Sentence: row.Sentence, Text: text}
	row.Status, row.cause, row.line = Fail, v.Cause(), c.line
	row.Text = fmt.Sprintf("%v [hammer%s: %v]", v, cl.madeFor(row), h)
	tries, failed := 0, 0
	if text != restless {
		tries, failed = cl.repeat(row.Guarantee, factory, c, h)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n\nThere is no trace: this run was made without the log, whose lock would separate the calls.\n", v)
	fmt.Fprintf(&b, "The run: %v.\n", h)
	fmt.Fprintf(&b, "It was repeated %d times and failed %d times. This test does the same:\n\n", tries, failed)
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
