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

// A test that waits for a system call for ever is reported as that, and is no finding.
func TestWaitsForTheKernel(t *testing.T) {
	module(t, "x_test.go", `package x

import (
	"syscall"
	"testing"
	"time"
)

func TestRead(t *testing.T) {
	var p [2]int
	if err := syscall.Pipe(p[:]); err != nil {
		t.Fatal(err)
	}
	done := make(chan bool)
	go func() { syscall.Read(p[0], make([]byte, 1)); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Hour):
		t.Error("the clock ran ahead")
	}
}
`)
	out := want(t, driver.ExitUndecided, []string{"test", "-schedules", "5", "-timeout", "3s"},
		"1 schedule undecided: the test waits for a system call or a descriptor of the kernel, which are outside of control", "blocking system call")
	if strings.Contains(out, "hung") || strings.Contains(out, "FAIL") {
		t.Errorf("the wait counts as a finding\n%s", out)
	}
}

// A test that spins while a child runs hangs by itself.
func TestSpinsBesideAChild(t *testing.T) {
	module(t, "x_test.go", waits("for {\n\t\tn++\n\t}"))
	want(t, driver.ExitFinding, []string{"test", "-schedules", "5", "-timeout", "3s"}, "hung: a schedule did not end")
}
