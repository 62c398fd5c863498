package coretest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/internal/coretest"
)

// TestPassIsForBubbles: Pass lets virtual time pass, and panics where it would have to sleep.
func TestPassIsForBubbles(t *testing.T) {
	var outside any
	func() {
		defer func() { outside = recover() }()
		coretest.Pass(time.Nanosecond)
	}()
	if outside == nil {
		t.Error("Pass outside a bubble has returned, want a panic")
	}
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		coretest.Pass(time.Hour)
		coretest.Want(t, "time that passed", time.Since(begin), time.Hour)
	})
}

// TestTimesOfCallBeside: second begins half a step behind each beginning of a step.
func TestTimesOfCallBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		at := make([]time.Duration, 3)
		coretest.CallBeside(len(at), coretest.TakeStep, func(k int) { at[k] = time.Since(begin) })
		for k, got := range at {
			coretest.Want(t, "begin of a call", got, time.Duration(2*k+1)*coretest.Step/2)
		}
	})
}
