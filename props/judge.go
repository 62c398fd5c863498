package props

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"eventide/props/history"

	"github.com/anishathalye/porcupine"
)

// Verdict is what the properties say about one run of a program.
type Verdict struct {
	Violations []history.Violation
	Exercised  map[string]bool // guarantees whose premise occurred
	Undecided  bool            // whether the calls are linearizable was not decided in time
	history    *history.History
}

// undecidedAfter is how long the search for an order of the calls may take.
const undecidedAfter = time.Second

// RulesOf says what the history of a program shows, and how core was configured.
func RulesOf(p Program) history.Rules {
	rules := history.Rules{
		Parts: history.All, Virtual: true, AtRest: true,
		QueueBound: p.Limit, Timers: p.Timers, Spawner: len(p.Starts) > 0,
		Drain: p.Drain, Breaks: p.breaks(),
	}
	if slices.Contains(p.Starts, StartSlow) {
		// Then time passes that nothing accounts for.
		rules.Virtual, rules.Slack = false, 10*slowStart
	}
	return rules
}

// Judge applies every predicate, the refinement and the linearizability check to
// what a run of a program showed.
func Judge(p Program, out Outcome) (Verdict, error) {
	return judge(RulesOf(p), out)
}

func judge(rules history.Rules, out Outcome) (Verdict, error) {
	events := out.Events
	if broken := NameEnds(events); broken != nil {
		return Verdict{Violations: []history.Violation{*broken}}, nil
	}
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
		v.add(*broken)
	}
	switch h.Linearizable(undecidedAfter) {
	case porcupine.Illegal:
		v.add(history.Violation{
			Guarantee: "G5", Predicate: "REF3", Sentence: "each call takes effect at one moment",
			Text: "no order of the calls explains their answers",
		})
	case porcupine.Unknown:
		v.Undecided = true
	}
	if out.AlarmsLeft > 0 {
		v.add(history.Violation{
			Guarantee: "G24", Predicate: "S16", Sentence: "nothing is left behind",
			Text: fmt.Sprintf("%d alarms were still set after done", out.AlarmsLeft),
		})
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

func (v *Verdict) add(w history.Violation) { v.Violations = append(v.Violations, w) }

// Against returns the violations of one guarantee; of all, if id is "". They are
// those that name it, and, in a run that exercised it, those of its predicates: a
// refused task that runs breaks G3, and G17 if it was refused by a failed start.
func (v Verdict) Against(id string) []history.Violation {
	if id == "" {
		return v.Violations
	}
	g, _ := Lookup(id)
	var found []history.Violation
	for _, w := range v.Violations {
		if w.Guarantee == id || v.Exercised[id] && slices.Contains(g.Predicates, w.Predicate) {
			found = append(found, w)
		}
	}
	return found
}

// Failure renders the first violation for a person: the sentence, the program,
// the trace in columns, and the line to paste.
func (v Verdict) Failure(p Program, first history.Violation, replay string) string {
	var b bytes.Buffer
	if v.history == nil {
		fmt.Fprintf(&b, "%v\n\nreplay  %s\n", first, replay) // it never came back
	} else if err := history.Report(&b, v.history, first, replay); err != nil {
		fmt.Fprintf(&b, "(%v)\n", err)
	}
	for _, other := range v.Violations {
		if other.Text != first.Text {
			fmt.Fprintf(&b, "also    %v\n", other)
		}
	}
	fmt.Fprintf(&b, "\nto run\n%v", p)
	return b.String()
}
