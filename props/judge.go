package props

import (
	"bytes"
	"fmt"
	"slices"

	"eventide/props/history"
)

// Verdict is what the properties say about one run of a program.
type Verdict struct {
	Violations []history.Violation
	Exercised  map[string]bool // guarantees whose premise occurred
	history    *history.History
}

// rulesOf says what the history of a program shows, and how core was configured.
func rulesOf(p Program) history.Rules {
	rules := history.Rules{
		Parts: history.All, Virtual: true, AtRest: true,
		QueueBound: p.Limit, Timers: p.Timers, Spawner: len(p.Starts) > 0,
	}
	if slices.Contains(p.Starts, StartSlow) {
		// Then time passes that nothing accounts for.
		rules.Virtual, rules.Slack = false, 10*slowStart
	}
	return rules
}

// Judge applies every predicate, the refinement and the linearizability check to
// the history of a program.
func Judge(p Program, events []history.Event) (Verdict, error) {
	rules := rulesOf(p)
	h, err := history.Of(events, rules)
	if err != nil {
		return Verdict{}, err // the harness is broken, not core
	}
	v := Verdict{Exercised: map[string]bool{}, history: h}
	premises := map[string]int{}
	for _, verdict := range h.Check() {
		v.Violations = append(v.Violations, verdict.Violations...)
		premises[verdict.Predicate.Name] = verdict.Premise
	}
	if broken := Refine(events, rules); broken != nil {
		v.Violations = append(v.Violations, *broken)
	}
	for _, g := range Guarantees {
		v.Exercised[g.ID] = g.exercised(events, premises)
	}
	return v, nil
}

func (g Guarantee) exercised(events []history.Event, premises map[string]int) bool {
	if g.Premise != nil {
		return g.Premise(events) > 0
	}
	for _, name := range g.Predicates {
		if premises[name] > 0 {
			return true
		}
	}
	return false
}

// Against returns the violations of one guarantee; of all, if id is "".
func (v Verdict) Against(id string) []history.Violation {
	if id == "" {
		return v.Violations
	}
	var found []history.Violation
	for _, w := range v.Violations {
		if w.Guarantee == id {
			found = append(found, w)
		}
	}
	return found
}

// Failure renders the first violation for a person: the sentence, the program,
// the trace in columns, and the line to paste.
func (v Verdict) Failure(p Program, first history.Violation, replay string) string {
	var b bytes.Buffer
	if err := history.Report(&b, v.history, first, replay); err != nil {
		fmt.Fprintf(&b, "(%v)\n", err)
	}
	for _, other := range v.Violations {
		if other.Text != first.Text {
			fmt.Fprintf(&b, "also    %v\n", other)
		}
	}
	fmt.Fprintf(&b, "\nas generated\n%v", p)
	return b.String()
}
