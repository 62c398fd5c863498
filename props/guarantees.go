package props

import (
	"eventide/internal/contract"
	"eventide/props/history"
)

// Guarantee is one row of the verdict table: a sentence of the contract, the checks that
// judge it, and the premise without which "no violation" means nothing.
type Guarantee struct {
	ID       string
	Sentence string // from package contract

	// Predicates judge it. A run has exercised the guarantee if the premise of one of them
	// occurred. Empty: no lane of this build checks it.
	Predicates []string

	// Premise, if set, replaces the premise of the predicates: it returns how often the
	// premise of the guarantee occurred in a history.
	Premise func(events []history.Event) int

	// Profile makes the generator prefer the premise.
	Profile Profile

	// Minimum is how many runs must exercise it, in each lane that checks it, before it
	// counts as passed.
	Minimum int

	// Mutant names the planted bug in testdata/mutants that this build must catch before
	// the guarantee counts as passed.
	Mutant string
}

const defaultMinimum = 200

// Guarantees has a row for each guarantee of package contract, in order. Rows without
// predicates and premise are listed as not run.
var Guarantees = withSentences([]Guarantee{
	{
		ID: "G1", Predicates: []string{"S7"},
		Mutant: "g1-state-back-to-started",
	},
	{
		ID: "G2", Predicates: []string{"S6"},
		Profile: Profile{Abrupt: true, Spawner: true}, Mutant: "g2-owner-after-the-first-task",
	},
	{
		ID:         "G3",
		Predicates: []string{"S1", "S2", "S3"}, Premise: admissions,
		Profile: Profile{Ops: map[history.Op]int{history.OpShutdown: 3}}, Mutant: "g3-no-final-drain",
	},
	{
		ID: "G4", Predicates: []string{"S5"},
		Profile: Profile{Ops: map[history.Op]int{history.OpExecute: 20}}, Mutant: "g4-lifo-segment",
	},
	{
		ID: "G5", Predicates: []string{"S4"},
		Profile: Profile{Ops: map[history.Op]int{history.OpShutdown: 4}}, Mutant: "g5-loop-still-accepts",
	},
	{
		ID: "G6", Predicates: []string{"S9", "S22"},
		Profile: Profile{Ops: map[history.Op]int{history.OpAddHook: 12, history.OpRemoveHook: 2}, Abrupt: true}, Mutant: "g6-hooks-only-when-idle",
	},
	{
		ID: "G7", Predicates: []string{"S10", "S23", "S24"},
		Profile: Profile{Ops: map[history.Op]int{history.OpSchedule: 10, history.OpFixedRate: 4, history.OpFixedDelay: 4}, Timers: true}, Mutant: "g7-fixed-rate-drifts",
	},
	{
		ID: "G8", Predicates: []string{"S11"},
		Profile: Profile{Ops: map[history.Op]int{history.OpCancel: 12, history.OpReset: 6, history.OpSubmit: 6, history.OpSchedule: 6}, Timers: true}, Mutant: "g8-cancel-does-not-stop",
	},
	{
		ID: "G9", Predicates: []string{"S1", "S2", "V12"}, Premise: listeners,
		Profile: Profile{Ops: map[history.Op]int{history.OpSubmit: 20, history.OpListen: 6}, Abrupt: true}, Mutant: "g9-goexit-leaves-future",
	},
	{
		ID: "G10", Predicates: []string{"V4"},
		Profile: Profile{Ops: map[history.Op]int{history.OpShutdownGracefully: 8}}, Mutant: "g10-quiet-from-last-task",
	},
	{
		ID: "G11", Predicates: []string{"V3"}, Premise: timeouts,
		Profile: Profile{Ops: map[history.Op]int{history.OpShutdownGracefully: 8}, Long: true}, Mutant: "g11-timeout-by-the-loop",
	},
	{
		ID: "G12", Predicates: []string{"V1", "V2", "V6", "V8"},
		Mutant: "g12-shutdown-does-not-wake",
	},
	{
		ID: "G13", Predicates: []string{"V7", "V10", "V11"},
		Profile: Profile{Again: true, Ops: map[history.Op]int{history.OpSchedule: 6, history.OpAfterIteration: 6}}, Minimum: 50, Mutant: "g13-unbounded-batch",
	},
	{
		ID: "G14", Predicates: []string{"S14"},
		Profile: Profile{Abrupt: true, Spawner: true}, Mutant: "g14-goexit-kills-loop",
	},
	{
		ID: "G15", Predicates: []string{"S8", "S12", "V5", "V9"},
		Mutant: "g15-done-before-cleanup",
	},
	{
		ID: "G16", Predicates: []string{"S13"},
		Profile: Profile{Ops: map[history.Op]int{history.OpShutdownGracefully: 10, history.OpShutdown: 5}}, Mutant: "g16-second-call-lengthens",
	},
	{
		ID: "G17", Predicates: []string{"S3", "S4"}, Premise: failedStarts,
		Profile: Profile{Spawner: true}, Mutant: "g17-failed-start-keeps-task",
	},
	{
		ID: "G18", Predicates: []string{"S18"},
		Profile: Profile{Ops: map[history.Op]int{history.OpClose: 6, history.OpAwait: 6}}, Mutant: "g18-await-in-loop",
	},
	{
		ID: "G19", Predicates: []string{"S4"}, Premise: fullQueues,
		Profile: Profile{Limit: true}, Mutant: "g19-one-too-many",
	},
	{
		ID: "G20", Predicates: []string{"S15"},
		Profile: Profile{Ops: map[history.Op]int{history.OpCancel: 6, history.OpSubmit: 6}, Abrupt: true, Limit: true}, Mutant: "g20-cancelled-counts-as-ran",
	},
	{ID: "G21", Premise: groups, Mutant: "g21-group-done-early"},
	{
		ID: "G22", Predicates: []string{"S19"},
		Profile: Profile{Loop: true}, Mutant: "g22-told-with-nil",
	},
	{
		ID: "G23", Predicates: []string{"S20", "S21"},
		Profile: Profile{Loop: true, Ops: map[history.Op]int{history.OpShutdownGracefully: 8}}, Mutant: "g23-channels-not-waited-for",
	},
	{
		ID: "G24", Predicates: []string{"S16"},
		Mutant: "g24-deadline-left-running",
	},
})

func withSentences(rows []Guarantee) []Guarantee {
	for i := range rows {
		rows[i].Sentence = contract.Sentence(rows[i].ID)
	}
	return rows
}

// Lookup returns the guarantee with that number, such as "G3".
func Lookup(id string) (Guarantee, bool) {
	for _, g := range Guarantees {
		if g.ID == id {
			return g, true
		}
	}
	return Guarantee{}, false
}

// Checked reports whether the virtual lane checks the guarantee.
func (g Guarantee) Checked() bool { return len(g.Predicates) > 0 || g.Premise != nil }

// Needed returns Minimum or its default.
func (g Guarantee) Needed() int {
	if g.Minimum > 0 {
		return g.Minimum
	}
	return defaultMinimum
}

// admissions returns 1 if tasks were both accepted and refused, and the refusals were by
// closed admission.
func admissions(events []history.Event) int {
	accepted, refused := false, false
	for i := range events {
		if e := &events[i]; e.Kind == history.Return && e.Op.Tasks() && e.ID < extraIDs {
			accepted = accepted || e.Outcome == history.Accepted
			refused = refused || e.Outcome == history.RefusedClosed
		}
	}
	if accepted && refused {
		return 1
	}
	return 0
}

func listeners(events []history.Event) int {
	return count(events, func(e *history.Event) bool { return e.Kind == history.Begin && e.Body == history.BodyListener })
}

func failedStarts(events []history.Event) int {
	return count(events, func(e *history.Event) bool {
		return e.Kind == history.Return && (e.Outcome == history.RefusedStartFailed || e.Outcome == history.RefusedStarting)
	})
}

func fullQueues(events []history.Event) int {
	return count(events, func(e *history.Event) bool {
		return e.Kind == history.Return && e.Outcome == history.RefusedQueueFull
	})
}

// timeouts counts closes of admission while a body ran.
func timeouts(events []history.Event) int {
	open := 0
	for i := range events {
		e := &events[i]
		switch {
		case e.Body == history.BodyListener:
		case e.Kind == history.Begin:
			open++
		case e.Kind == history.End:
			open--
		case e.Kind == history.Transit && e.From == history.ShuttingDown && e.To == history.Shutdown && open > 0:
			return 1
		}
	}
	return 0
}

// groups is the premise of G21. The programs of G21 write no history: GroupProperty
// counts itself.
func groups([]history.Event) int { return 0 }

func count(events []history.Event, what func(*history.Event) bool) int {
	n := 0
	for i := range events {
		if what(&events[i]) {
			n++
		}
	}
	return n
}
