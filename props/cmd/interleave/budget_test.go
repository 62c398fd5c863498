package main

import (
	"testing"

	"eventide/props/interleave/driver"
)

// A budget holds although a schedule does not end within it, nor the run without control.
func TestBudgetEndsASchedule(t *testing.T) {
	module(t, "x_test.go", `package x

import (
	"sync/atomic"
	"testing"
)

func TestOn(t *testing.T) {
	var n atomic.Uint64
	for n.Add(1) != 0 {
	}
}
`)
	want(t, driver.ExitUndecided, []string{"test", "-budget", "100ms", "-steps", "50000000"}, "undecided: no schedule ended within the budget")
}

// Two tests that do not end are under way when the run without control ends, so each is run alone, which
// takes its whole budget. A test without a schedule is undecided, not passed.
func TestBudgetSpentBeforeTheFirstSchedule(t *testing.T) {
	module(t, "x_test.go", `package x

import (
	"sync/atomic"
	"testing"
)

func spin(t *testing.T) {
	t.Parallel()
	var n atomic.Uint64
	for n.Add(1) != 0 {
	}
}

func TestOn(t *testing.T)  { spin(t) }
func TestToo(t *testing.T) { spin(t) }
`)
	want(t, driver.ExitUndecided, []string{"test", "-budget", "100ms", "-steps", "50000000"}, "undecided: no schedule ended within the budget", "0 schedules")
}
