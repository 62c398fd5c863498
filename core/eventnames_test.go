package core_test

import (
	"testing"

	"eventide/core"

	"pgregory.net/rapid"
)

// TestPropEventKindNames: each kind of event has a name, and any other number is "?".
func TestPropEventKindNames(t *testing.T) {
	names := map[core.EventKind]string{
		core.EventAdmit: "Admit", core.EventBegin: "Begin", core.EventEnd: "End", core.EventState: "State", core.EventPark: "Park",
		core.EventUnpark: "Unpark", core.EventWake: "Wake", core.EventTimerCancelled: "TimerCancelled",
		core.EventPollerClosed: "PollerClosed", core.EventDone: "Done", core.EventRegistrationClosed: "RegistrationClosed",
	}
	rapid.Check(t, func(t *rapid.T) {
		kind := core.EventKind(rapid.OneOf(rapid.IntRange(0, 16), rapid.IntRange(0, 255)).Draw(t, "kind"))
		want, ok := names[kind]
		if !ok {
			want = "?"
		}
		if got := kind.String(); got != want {
			t.Fatalf("event %d has the name %q, want %q", kind, got, want)
		}
	})
}
