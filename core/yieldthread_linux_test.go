package core

import "testing"

// The kernel knows the call: with another number or other arguments it would be an unknown or another one, whose error
// the loop ignores.
func TestYieldThread(t *testing.T) {
	if errno := yieldThread(); errno != 0 {
		t.Errorf("sched_yield: %v, want success", errno)
	}
}
