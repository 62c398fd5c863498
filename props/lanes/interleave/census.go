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
// its guarantee is broken. These are the loop, and each goroutine that it moved to when a
// body exited; the callers; and each goroutine that the clock started for the callback of
// an alarm, even if it does not matter for the failure. Steps after the breach do not
// count: the run is already broken.
//
// A goroutine without a step in core does not count. For example, the clock starts one
// when the driver has waited too long for the end of an executor.
//
// The driver makes the executor, starts the callers, waits for them, and shuts down an
// executor that they leave open. It counts as one more goroutine only if it makes a call
// before the breach. In a run without a history it always counts.
type Census struct {
	Goroutines int  // in core before the breach, without the driver
	Callbacks  int  // callbacks of alarms among them
	Driver     bool // the driver makes a call before the breach
	All        int  // in the whole run, without the driver
}

// Sum is the number of goroutines before the breach, with the driver if it makes a
// call.
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

// census counts the goroutines of a failure, which must have a trace and be of the last
// run.
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

// breach finds the shortest beginning of the history that shows the violation. It returns
// the number of its lines, and the number of steps of the trace before its last line. If
// there is no history, or only the whole history shows the violation, it returns the
// numbers of all steps and lines.
//
// Violation.At does not say this: for a task that never ran, it has the line on which
// the task was accepted.
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
			continue // a history that is cut here is not valid
		}
		if slices.ContainsFunc(v.Violations, func(v history.Violation) bool {
			return v.Guarantee == f.Violation.Guarantee && v.Predicate == f.Violation.Predicate && v.Text == f.Violation.Text
		}) {
			return f.result.Marks[n-1], n
		}
	}
	return len(f.result.Trace), len(f.events)
}
