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
