package exectest

import (
	"fmt"

	"eventide/props/history"
)

// clauses is the kit: one entry per guarantee, in the order of their numbers.
// Each has programs of its own, which keep clear of what the other guarantees
// speak of, so that one defect breaks one guarantee.
var clauses = [...]clause{
	{name: "G1", sentence: "states only move forward",
		predicates: []string{"S7"}, needs: []string{"Stater"}, rounds: 40, program: watched},
	{name: "G2", sentence: "bodies run one at a time",
		predicates: []string{"S6"}, rounds: 40, program: busy,
		hammering: hammering{judge: oneAtATime, runs: 200, dwell: 1}},
	{name: "G3", sentence: "accepted tasks run exactly once before done, refused ones never",
		predicates: []string{"S1", "S2", "S3"}, rounds: 300, program: racing,
		hammering: hammering{judge: exactlyOnce, runs: 4000}},
	{name: "G4", sentence: "tasks begin in the order submitted",
		predicates: []string{"S5"}, rounds: 60, program: relayed,
		hammering: hammering{judge: inOrder, runs: 200}},
	{name: "G5", sentence: "refusal is final and honest",
		predicates: []string{"S4"}, rounds: 120, program: closing},
	{name: "G6", sentence: "hooks always run",
		predicates: []string{"S1", "S9"}, needs: []string{"Hooker"}, rounds: 60, program: hooked, abrupt: true,
		hammering: hammering{call: callAddHook, judge: exactlyOnce, runs: 200}},
	{name: "G7", sentence: "timers keep their time",
		predicates: []string{"S10"}, needs: []string{"Scheduler"}, rounds: 60, program: timed},
	{name: "G8", sentence: "cancelled and ran exclude each other",
		predicates: []string{"S11"}, needs: []string{"Scheduler"}, rounds: 80, program: cancelling},
	{name: "G9", sentence: "every future ends",
		predicates: []string{"S1", "S2"}, needs: []string{"Submitter"}, rounds: 40, program: promised, abrupt: true,
		hammering: hammering{call: callSubmit, judge: everyFutureEnds, runs: 200}},
	{name: "G10", sentence: "the quiet period is exact",
		predicates: []string{"V4"}, rounds: 80, program: quiet, mayLack: true},
	{name: "G11", sentence: "the timeout is a deadline for admission",
		predicates: []string{"V3"}, virtual: true, rounds: 20, program: overrun, mayLack: true},
	{name: "G12", sentence: "accepted work begins as soon as the loop is free",
		predicates: []string{"V2"}, virtual: true, rounds: 60, program: idling},
	{name: "G13", sentence: "nothing waits longer than a batch",
		predicates: []string{"V7"}, needs: []string{"Scheduler"}, virtual: true, rounds: 4, program: hogging},
	{name: "G14", sentence: "a panic or Goexit stays inside its body",
		predicates: []string{"S14"}, rounds: 20, program: dying, abrupt: true, mayLack: true},
	{name: "G15", sentence: "termination happens once, and nothing after it",
		predicates: []string{"S8", "S12", "V5", "V9"}, rounds: 120, program: ending},
	{name: "G16", sentence: "the first shutdown call wins",
		predicates: []string{"S13"}, rounds: 30, program: insisting, mayLack: true},
	{name: "G17", sentence: "no goroutine before first use, and a shutdown starts the loop",
		rounds: 6, program: unused, extra: lazyStart, counts: true, control: plainest, mayLack: true},
	{name: "G18", sentence: "every call from inside a task returns",
		predicates: []string{"S18"}, rounds: 20, program: nested},
	{name: "G20", sentence: "accepted = ran + cancelled + pending",
		predicates: []string{"S15"}, rounds: 40, program: counted, extra: addsUp},
	{name: "G24", sentence: "nothing is left behind",
		predicates: []string{"S16"}, rounds: 20, program: busy, extra: nothingLeft, counts: true},
}

// lazyStart is G17, as far as goroutines tell it, and as far as a shutdown
// before the first use differs from one after it.
func lazyStart(r run) []history.Violation {
	if r.early > 0 {
		return []history.Violation{{
			Guarantee: "G17", Sentence: "no goroutine before first use",
			Text: fmt.Sprintf("%d ran before the first call", r.early),
		}}
	}
	if !r.done {
		return []history.Violation{{
			Guarantee: "G17", Sentence: "a shutdown starts a loop that never ran",
			Text: "done never came, though after a task it does",
		}}
	}
	return nil
}

// nothingLeft is G24 for goroutines. An executor that is never done is not
// judged: that is G15's.
func nothingLeft(r run) []history.Violation {
	if r.done && r.left > 0 {
		return []history.Violation{{
			Guarantee: "G24", Sentence: "no goroutine is left after done",
			Text: fmt.Sprintf("%d still ran when nothing moved any more", r.left),
		}}
	}
	return nil
}

// addsUp is G20 by what was seen from outside, for every executor: each attempt
// was answered, and each accepted task ran.
func addsUp(r run) []history.Violation {
	t := r.history.Tally()
	if !r.done || t.Attempts == t.Accepted+t.Refused && t.Accepted == t.Ended+t.Cancelled {
		return nil
	}
	return []history.Violation{{
		Guarantee: "G20", Sentence: "attempts = accepted + refused, accepted = ran + cancelled",
		Text: fmt.Sprintf("%d attempts, %d accepted, %d refused, %d ran, %d cancelled", t.Attempts, t.Accepted, t.Refused, t.Ended, t.Cancelled),
	}}
}
