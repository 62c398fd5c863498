package core_test

import (
	"fmt"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// The bits of a Readiness and of an Interest, what they imply, and their names.
func TestStringsOfReadinessAndInterest(t *testing.T) {
	for _, tt := range []struct {
		r    core.Readiness
		want string
	}{
		{core.NewReadiness(false, false, false, false), "nothing: false false false false false"},
		{core.NewReadiness(true, false, false, false), "readable: true false false false false"},
		{core.NewReadiness(false, true, false, false), "writable: false true false false false"},
		{core.NewReadiness(false, false, true, false), "hung up: true false true false false"},
		{core.NewReadiness(false, false, false, true), "failed: true true false true false"},
		{core.NewReadiness(false, false, false, false).WithUrgent(), "readable|urgent: true false false false true"},
		{core.NewReadiness(true, true, true, true).WithUrgent(), "readable|writable|hung up|failed|urgent: true true true true true"},
	} {
		got := fmt.Sprint(tt.r, ": ", tt.r.Readable(), " ", tt.r.Writable(), " ", tt.r.HungUp(), " ", tt.r.Failed(), " ", tt.r.Urgent())
		coretest.Want(t, "readable, writable, hung up, failed, urgent", got, tt.want)
	}
	for i, want := range map[core.Interest]string{
		0: "nothing", core.Readable: "Readable", core.Writable: "Writable", core.EdgeTriggered: "EdgeTriggered",
		core.Readable | core.Writable | core.EdgeTriggered: "Readable|Writable|EdgeTriggered",
	} {
		coretest.Want(t, "Interest.String", i.String(), want)
	}
}
