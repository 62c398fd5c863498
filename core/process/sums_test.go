package process

import (
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// TestSumsOfAReport are over all steps.
func TestSumsOfAReport(t *testing.T) {
	r := Report{Steps: []StepReport{
		{Name: "a", Lost: 1, Work: core.Report{Cancelled: 10, TimersCancelled: 100}},
		{Name: "b", Lost: 2, Work: core.Report{Cancelled: 20, TimersCancelled: 200}, Outcome: Failed},
	}}
	coretest.Want(t, "Lost", r.Lost(), 3)
	coretest.Want(t, "Cancelled", r.Cancelled(), 330)
	if names := r.NotBegun(); len(names) != 1 || names[0] != "a" {
		t.Errorf("NotBegun: got %q, want a", names)
	}
}
