// Package interleave has functions for tests that are written for the command
// interleave, which runs them under chosen schedules.
//
// An ordinary test needs none of these functions: the command explores any test as it
// is. In a run of go test, where schedules are not chosen, the functions fail the test,
// so that it cannot pass unexplored.
package interleave

import (
	"testing"

	"eventide/props/interleave/control"
)

// Explore runs f under the schedule that the command chose for this run of the test.
// The command repeats the test, each time with another schedule. In a process that is
// not controlled, such as one of go test, Explore fails the test at once.
//
// Explore returns when f returns. It must be called by the test's own goroutine.
func Explore(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	needControl(t)
	f(t)
}

// needControl fails the test unless its schedule is chosen. It accepts the run without
// control that the command makes on purpose.
func needControl(t *testing.T) {
	t.Helper()
	if text := refusal(control.Chosen(), control.Plain()); text != "" {
		t.Fatal(text)
	}
}

// refusal says why a test must not run in this process, or is "".
func refusal(controlled, plain bool) string {
	if controlled || plain {
		return ""
	}
	return "interleave: this process chooses no schedules: run the test by the command interleave test"
}
