package main

import (
	"strings"
	"testing"

	"eventide/props/interleave/driver"
)

// A failure that needs state of earlier schedules is found, and the report says how many
// of them have to run before.
func TestStateOfTheProcess(t *testing.T) {
	module(t, "x_test.go", `package x

import "testing"

var runs int

func TestState(t *testing.T) {
	if runs++; runs == 9 {
		t.Fatal("the ninth run fails")
	}
}
`)
	out := want(t, driver.ExitFinding, []string{"test", "-schedules", "50"}, "the ninth run fails",
		"does not repeat alone: state of the process; it repeats after ", "in the same process")
	m := replayLine.FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no replay line\n%s", out)
	}
	want(t, driver.ExitFinding, []string{"replay", m[1]}, "reproduced: the verdict and the message of the file")
	want(t, driver.ExitNothing, []string{"test", "-fresh", "-schedules", "50"}, "50 schedules")
}

const guarded = `package x

import (
	"testing"
	"time"
)

func TestGuard(t *testing.T) {
	done := make(chan bool)
	go func() {
		for range 10 {
			time.Now()
		}
		done <- true
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Millisecond):
		<-done
		t.Fatal("too slow")
	}
}
`

// A guard that only a slow machine lets expire is no finding while time moves only when
// nobody can run. If timers may expire early, the finding is said to depend on timing.
func TestTiming(t *testing.T) {
	module(t, "x_test.go", guarded)
	want(t, driver.ExitNothing, []string{"test", "-schedules", "300"}, "ok  \texample.com/x")
	want(t, driver.ExitFinding, []string{"test", "-schedules", "300", "-time", "mixed"}, "too slow", "depends on timing")
	out := want(t, driver.ExitFinding, []string{"hunt", "-run", "TestGuard", "-schedules", "300"}, "searching with -time mixed", "depends on timing")
	if strings.Count(out, "FAIL\texample.com/x") != 1 {
		t.Errorf("the first search failed\n%s", out)
	}
}

// The switches that a finding does not need are left out.
func TestMinimised(t *testing.T) {
	module(t, "x_test.go", lost)
	want(t, driver.ExitFinding, []string{"test", "-schedules", "200", "-strategy", "walk"}, "confirmed in a fresh process with 2 switches of ")
}
