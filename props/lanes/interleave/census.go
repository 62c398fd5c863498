package interleave

import (
	"fmt"
	"slices"
	"strings"

	"eventide/props"
	"eventide/props/history"
	"eventide/props/interleave/inprocess"
)

// Census counts the goroutines of a counterexample: those that take a step in core before
// its guarantee is broken. That is everybody: the loop, and each that it moved to when a
// body exited; the callers; and each goroutine that the clock made for the callback of
// an alarm, whether or not it matters for the failure. What comes after the breach is how
// a run ends that is broken already.
//
// Who takes no step in core is not among them: the clock makes one for the driver, when
// it loses its patience with an executor that does not end.
//
// The driver, which makes the executor, starts the callers, waits for them, and ends what
// they leave, is counted apart: it is one more if it makes a call before the breach that
// a history shows. Of a run without a history it always does.
type Census struct {
	Goroutines int  // in core before the breach, without the driver
	Callbacks  int  // of those, the callbacks of alarms
	Driver     bool // makes a call before the breach
	All        int  // in the whole run, without the driver
}

// Sum is how many there are before the breach, the driver counted if it makes a call.
func (c Census) Sum() int {
	if c.Driver {
		return c.Goroutines + 1
	}
	return c.Goroutines
}

const censusFormat = "goroutines %d before the breach, %d of them callbacks of alarms; %d in the whole run; the driver makes a call before it: %t"

// String is a line, which ParseCensus reads.
func (c Census) String() string {
	return fmt.Sprintf(censusFormat, c.Goroutines, c.Callbacks, c.All, c.Driver)
}

// ParseCensus is the inverse of String.
func ParseCensus(line string) (c Census, err error) {
	_, err = fmt.Sscanf(line, censusFormat, &c.Goroutines, &c.Callbacks, &c.All, &c.Driver)
	return c, err
}

// census counts a failure. It must have a trace, and be the last that was run.
func (f *Found) census() (c Census) {
	steps, lines := f.breach()
	c.Driver = len(f.events) == 0 || slices.ContainsFunc(f.events[:lines], func(e history.Event) bool {
		return e.Kind == history.Invoke && inprocess.Number(e.G) == inprocess.Driver
	})
	seen := map[int]bool{}
	for i, e := range f.result.Trace {
		if e.G <= inprocess.Driver {
			continue
		}
		if _, known := seen[e.G]; !known {
			seen[e.G] = false // not yet in core
			c.All++
		}
		if i >= steps || seen[e.G] || !strings.HasPrefix(e.Site, "core/") {
			continue
		}
		seen[e.G] = true
		c.Goroutines++
		if slices.Contains(f.result.Callbacks, e.G) {
			c.Callbacks++
		}
	}
	return c
}

// breach is how many steps of the trace come before the guarantee is broken: before the
// last line of the shortest beginning of the history that says so; and how many lines
// that has. Of a failure that no history shows, or only the whole one, it is all of them.
//
// Violation.At is not it: of a task that never ran that is the line on which it was
// accepted.
func (f *Found) breach() (steps, lines int) {
	if len(f.result.Marks) != len(f.events) || len(f.events) == 0 {
		return len(f.result.Trace), len(f.events)
	}
	first := 1
	for _, n := range f.Violation.At {
		first = max(first, n)
	}
	for n := first; n < len(f.events); n++ {
		v, err := f.Scenario.judgeHistory(props.Recording{Events: f.events[:n], Unfinished: true})
		if err != nil {
			continue // it is cut where it makes no sense
		}
		if slices.ContainsFunc(v.Violations, func(v history.Violation) bool {
			return v.Guarantee == f.Violation.Guarantee && v.Predicate == f.Violation.Predicate && v.Text == f.Violation.Text
		}) {
			return f.result.Marks[n-1], n
		}
	}
	return len(f.result.Trace), len(f.events)
}
