package main

import (
	"strings"
	"testing"

	"eventide/props/interleave/driver"
)

// waits returns a package with one test that starts a child and then does what.
func waits(what string) string {
	return `package x

import (
	"os/exec"
	"testing"
)

var n int

func TestChild(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	` + what + `
}
`
}

// A test that waits for a child process is reported as waiting for that process, and is no finding.
func TestWaitsForAChild(t *testing.T) {
	module(t, "x_test.go", waits("cmd.Wait()"))
	out := want(t, driver.ExitUndecided, []string{"test", "-schedules", "5", "-timeout", "3s"},
		"1 schedule undecided: the test waits for the process sleep, which is outside of control", ", 1 child process (first at ")
	if strings.Contains(out, "hung") || strings.Contains(out, "FAIL") {
		t.Errorf("the wait counts as a finding\n%s", out)
	}
}

// A test that spins while a child runs hangs by itself.
func TestSpinsBesideAChild(t *testing.T) {
	module(t, "x_test.go", waits("for {\n\t\tn++\n\t}"))
	want(t, driver.ExitFinding, []string{"test", "-schedules", "5", "-timeout", "3s"}, "hung: a schedule did not end")
}
