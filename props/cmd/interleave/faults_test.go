package main

import (
	"testing"

	"eventide/props/interleave/driver"
)

const deadline = `package x

import (
	"context"
	"testing"
	"time"
)

func TestDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	c := make(chan int)
	go func() { c <- 1 }()
	select {
	case <-c:
	case <-ctx.Done():
		t.Error("too late")
	}
}
`

// A fault is a decision: it is found on request, minimised, named, and repeated from the
// file. The goroutine that has no receiver is a leak of the same schedules.
func TestFaults(t *testing.T) {
	module(t, "x_test.go", deadline)
	want(t, driver.ExitNothing, []string{"test", "-schedules", "300"})
	want(t, driver.ExitNothing, []string{"test", "-schedules", "300", "-faults", "short,reset"})
	out := want(t, driver.ExitFinding, []string{"test", "-schedules", "300", "-leaks=false", "-faults", "all"}, "too late",
		"confirmed in a fresh process with 1 switch of", "needs faults of the world outside: contexts (g1)", " faults")
	m := replayLine.FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no replay line\n%s", out)
	}
	want(t, driver.ExitFinding, []string{"replay", m[1]}, "reproduced: the verdict and the message of the file")
}
