package main

import (
	"bytes"
	"strings"
	"testing"

	"eventide/props/interleave/driver"
)

// A result is shown when the tests before it have theirs, not at the end of the package.
func TestResultsAreShownAtOnce(t *testing.T) {
	module(t, "x_test.go", "package x\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n\nfunc TestB(t *testing.T) {}\n")
	var out bytes.Buffer
	code, err := driver.Test(driver.Options{Schedules: 5, Exhaust: -1, Seed: 1, Processes: 1, Verbose: true, Stdout: &out, Stderr: &out,
		Report: func(r driver.Report) {
			if shown := strings.Contains(out.String(), "--- PASS: TestA"); shown != (r.Test == "TestB") {
				t.Errorf("at the end of %s there is\n%s", r.Test, out.String())
			}
		}})
	if code != driver.ExitNothing || err != nil {
		t.Errorf("exit code %d, %v\n%s", code, err, out.String())
	}
}
