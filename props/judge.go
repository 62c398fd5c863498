package props

import (
	"bytes"
	"fmt"
	"slices"

	"eventide/internal/timeline"
	"eventide/props/history"

	"github.com/anishathalye/porcupine"
)

// Verdict is the judgement of one run of a program.
type Verdict struct {
	Violations []history.Violation
	Exercised  map[string]bool // guarantees whose premise occurred
	Undecided  bool            // the search for an order of the calls was not finished in time
	Unrefined  bool            // the model has no step for some event, so the run was not followed there
	history    *history.History
	goroutines []int64 // of the actors, in history
}

// Judge judges a run in the lane Virtual.
func Judge(p Program, out Recording) (Verdict, error) { return JudgeIn(Virtual, p, out) }

// Check is a check of a history that only some lanes can make. It returns nil or a
// violation.
type Check func(events []history.Event) *history.Violation

// JudgeIn judges a recording of a lane: by the given checks, every predicate, the refinement and
// linearizability, except for the relaxations of that lane. All lanes judge by this function. An
// error means that the harness is broken, not core.
func JudgeIn(lane Lane, p Program, out Recording, checks ...Check) (Verdict, error) {
	events, terms := out.Events, termsOf(lane, p)
	terms.rules.AtRest, terms.observed.AtRest = !out.Unfinished, !out.Unfinished
	if broken := NameEnds(events); broken != nil {
		return Verdict{Violations: []history.Violation{*broken}}, nil
	}
	h, err := history.Of(events, terms.observed)
	if err != nil {
		return Verdict{}, err
	}
	v := Verdict{Exercised: make(map[string]bool, len(Guarantees)), history: h, goroutines: out.Goroutines}
	for _, check := range checks { // first: they name the faulty step and are fast
		v.addAny(check(events))
	}
	v.addAny(checkFinal(p, h, terms.observed, out.Final))
	v.addAny(checkMeter(h, terms.observed, out.Final))
	v.addAny(checkPool(events, terms.observed, p, out.Resized))
	v.addAny(checkRetries(events, out.Asides, terms.observed, p))
	v.addAny(checkInstant(lane, events, p))
	if out.Wrong != "" {
		v.add(contradiction(out.Wrong))
	}
	for verdict := range h.Verdicts() {
		if name := verdict.Predicate.Name; !slices.Contains(terms.skipped, name) {
			v.Violations = append(v.Violations, verdict.Violations...)
			if verdict.Premise > 0 {
				for _, id := range exercisedBy[name] {
					v.Exercised[id] = true
				}
			}
		}
	}
	v.addAny(checkSamples(lane, p, events, terms.observed, out)) // here: it infers skipped tasks from the order, which a predicate may find wrong
	steps, modelled := asModelled(events, terms.early)
	if v.Unrefined = !modelled || terms.alone; !v.Unrefined {
		v.addAny(Refine(steps, terms.rules))
	}
	switch linearizable(h, events, terms) {
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
	for i := range Guarantees {
		if g := &Guarantees[i]; g.Premise != nil && g.Premise(events) > 0 {
			v.Exercised[g.ID] = true
		}
	}
	return v, nil
}

// exercisedBy has the guarantees that the premise of a predicate exercises.
var exercisedBy = func() map[string][]string {
	by := map[string][]string{}
	for _, g := range Guarantees {
		if g.Premise == nil {
			for _, name := range g.Predicates {
				by[name] = append(by[name], g.ID)
			}
		}
	}
	return by
}()

// Recycle gives the memory of the judged history to a later judgement, and reports whether it did: then there is
// no history that Failure and Timeline could show, and the events may be changed. It keeps the history of a verdict
// with a violation, and of one that is undecided: the search for an order, which was given up, may still read it.
func (v *Verdict) Recycle() bool {
	if v.history == nil || v.Undecided || len(v.Violations) > 0 {
		return false
	}
	v.history.Recycle()
	v.history = nil
	return true
}

func (v *Verdict) addAny(w *history.Violation) {
	if w != nil {
		v.add(*w)
	}
}

func (v *Verdict) add(w history.Violation) { v.Violations = append(v.Violations, w) }

// Against returns the violations of one guarantee, or all of them if id is "". They are
// the violations that name it and, in a run that exercised it, those of its predicates: a
// refused task that runs breaks G3, and also G17 if a failed start refused it.
func (v Verdict) Against(id string) []history.Violation {
	if id == "" || len(v.Violations) == 0 {
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

// named is the history with the names that the program has for its goroutines.
func (v Verdict) named(p Program) *history.History {
	v.history.Name(p.NamesOf(v.goroutines))
	return v.history
}

// Timeline returns the run as a timeline in which the violation is marked, with the program
// and the command that runs it again. It is nil if there is no history to draw.
func (v Verdict) Timeline(p Program, first history.Violation, replay string) *timeline.Timeline {
	if v.history == nil {
		return nil
	}
	t := v.named(p).Timeline(first)
	t.Replay, t.Program = replay, p.String()
	return t
}

// Failure returns the text of the first violation: the sentence, the program, the trace
// in columns, and the replay command.
func (v Verdict) Failure(p Program, first history.Violation, replay string) string {
	var b bytes.Buffer
	if v.history == nil {
		fmt.Fprintf(&b, "%v\n\nreplay  %s\n", first, replay) // the run did not end
	} else if err := history.Report(&b, v.named(p), first, replay); err != nil {
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
