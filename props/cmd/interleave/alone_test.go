package main

import (
	"strings"
	"testing"

	"eventide/props/interleave/driver"
)

// A test is not blamed if another test ends the process while it runs.
func TestOthersFailWithoutControl(t *testing.T) {
	module(t, "x_test.go", `package x

import "testing"

var late chan bool

func TestLate(t *testing.T) {
	late = make(chan bool)
	go func() {
		<-late
		t.Error("too late")
	}()
}

func TestVictim(t *testing.T) {
	if late != nil {
		close(late)
		select {}
	}
}
`)
	out := want(t, driver.ExitNothing, []string{"test", "-v", "-leaks=false", "-schedules", "5"}, "--- PASS: TestVictim")
	if strings.Contains(out, "without control") {
		t.Errorf("a test is blamed for what TestLate does\n%s", out)
	}
}

// A test that waits for another one to end is not said to take long.
func TestOthersTakeLongWithoutControl(t *testing.T) {
	module(t, "x_test.go", `package x

import (
	"testing"
	"time"
)

func TestParallel(t *testing.T) { t.Parallel() }

func TestMinutes(t *testing.T) { time.Sleep(9 * time.Minute) }

func TestBeside(t *testing.T) { t.Parallel() }
`)
	out := want(t, driver.ExitNothing, []string{"test", "-schedules", "5", "-timeout", "30s"}, "TestMinutes: it did not end within 10s without control")
	if strings.Contains(out, "TestParallel: ") || strings.Contains(out, "TestBeside: ") {
		t.Errorf("a test is blamed for what TestMinutes does\n%s", out)
	}
}
