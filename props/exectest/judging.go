package exectest

import (
	"fmt"
	"slices"

	"eventide/internal/contract"
	"eventide/props/history"
)

// finding is the judgement of one run: how often the premise of its clause occurred, and
// the violations of all guarantees that are judged.
type finding struct {
	exercised  int
	violations []history.Violation
	run        run
}

// against returns the violations of one guarantee.
func (f finding) against(guarantee string) []history.Violation {
	var found []history.Violation
	for _, v := range f.violations {
		if v.Guarantee == guarantee {
			found = append(found, v)
		}
	}
	return found
}

func (f finding) breaks(guarantee string) bool { return len(f.against(guarantee)) > 0 }

// judge judges one run of a program of the clause by every predicate. A run that did not
// end breaks the clause whose program it ran.
func (cl *clause) judge(c *config, r run) finding {
	f := finding{run: r}
	switch {
	case r.hung:
		f.violations = []history.Violation{cl.violation(restless)}
		return f
	case r.err != nil:
		f.violations = []history.Violation{cl.violation(r.err.Error())}
		return f
	}
	for _, v := range r.history.Check() {
		if slices.Contains(cl.predicates, v.Predicate.Name) {
			f.exercised += v.Premise
		}
		f.violations = append(f.violations, v.Violations...)
	}
	if cl.extra != nil {
		found := cl.extra(r)
		f.exercised += one(r.done || len(found) > 0) // of an executor that has not ended it judges nothing
		f.violations = append(f.violations, found...)
	}
	if cl.also != nil {
		f.violations = append(f.violations, cl.also(r)...)
	}
	if len(f.violations) == 0 { // after a violation in the log, wrong counts may only be its consequence
		f.violations = slices.Concat(startsLazily(r), nothingLeft(r), addsUp(r))
	}
	f.violations = slices.DeleteFunc(f.violations, func(v history.Violation) bool { return !c.judges(v.Guarantee) })
	return f
}

// restless is the failure text of a run that the kit had to abandon.
const restless = "a run did not come to rest: a goroutine spins, or waits for a lock that is never released"

func (cl *clause) violation(text string) history.Violation {
	return history.Violation{Guarantee: cl.name, Sentence: contract.Sentence(cl.name), Text: text}
}

// judges reports whether a breach of the guarantee counts. It counts if the guarantee
// was not declared with Without and, if the kit has a clause for the guarantee, this
// clause is selected and supported.
func (c *config) judges(guarantee string) bool {
	if _, declared := c.without[guarantee]; declared {
		return false
	}
	cl := clauseOf(guarantee)
	if cl == nil {
		return len(c.only) == 0
	}
	ok, _ := cl.supported(c)
	return ok && (len(c.only) == 0 || slices.Contains(c.only, guarantee))
}

func clauseOf(guarantee string) *clause {
	i := slices.IndexFunc(clauses[:], func(cl clause) bool { return cl.name == guarantee })
	if i < 0 {
		return nil
	}
	return &clauses[i]
}

// startsLazily is G17, as far as counting goroutines shows it.
func startsLazily(r run) []history.Violation {
	if r.early > 0 {
		return []history.Violation{{
			Guarantee: "G17", Sentence: "no goroutine before first use",
			Text: fmt.Sprintf("%d ran before the first call", r.early),
		}}
	}
	return nil
}

// startsUnused is G17 in programs that begin with the shutdown.
func startsUnused(r run) []history.Violation {
	if found := startsLazily(r); found != nil {
		return found
	}
	if !r.done {
		return []history.Violation{{
			Guarantee: "G17", Sentence: "a shutdown starts a loop that never ran",
			Text: "Done was not closed, though it is closed in a program that begins with a task",
		}}
	}
	return nil
}

// nothingLeft is G24 for goroutines. It does not judge an executor that is never done:
// G15 does.
func nothingLeft(r run) []history.Violation {
	if r.done && r.left > 0 {
		return []history.Violation{{
			Guarantee: "G24", Sentence: "no goroutine is left after done",
			Text: fmt.Sprintf("%d goroutines were left when nothing could run any more", r.left),
		}}
	}
	return nil
}

// addsUp is G20 as seen from outside, for every executor: each attempt was answered, and
// each accepted task ran or was cancelled.
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
