package history

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
)

// Predicate is a sentence that every history of a correct executor satisfies, with the
// function that checks it.
type Predicate struct {
	Name      string // "S2"; the package documentation lists them
	Guarantee string // the guarantee that a violation breaks: "G3"
	Sentence  string // what must hold, in words
	needs     Parts  // what the log must show for the predicate to apply
	judge     func(*judge)
}

// predicates is the whole suite, in the order of reports.
var predicates = [...]Predicate{
	{Name: "S1", Guarantee: "G3", Sentence: "accepted work runs at most once", judge: judgeOnce},
	{Name: "S2", Guarantee: "G3", Sentence: "accepted tasks run before done", judge: judgeAcceptedRun},
	{Name: "S3", Guarantee: "G3", Sentence: "refused work never runs", judge: judgeRefusedNeverRun},
	{Name: "S4", Guarantee: "G5", Sentence: "refusal is final and honest", judge: judgeRefusal},
	{Name: "S5", Guarantee: "G4", Sentence: "tasks begin in the order submitted", judge: judgeFIFO},
	{Name: "S6", Guarantee: "G2", Sentence: "bodies run one at a time, on the loop", judge: judgeOneAtATime},
	{Name: "S7", Guarantee: "G1", Sentence: "states only move forward", judge: judgeStates},
	{Name: "S8", Guarantee: "G15", Sentence: "nothing runs after done", judge: judgeNothingAfterDone},
	{Name: "S9", Guarantee: "G6", Sentence: "hooks always run", judge: judgeHooks},
	{Name: "S10", Guarantee: "G7", Sentence: "timers keep their time", judge: judgeTimers},
	{Name: "S11", Guarantee: "G8", Sentence: "cancelled and ran exclude each other", judge: judgeCancel},
	{Name: "S12", Guarantee: "G15", Sentence: "done happens once, and every observer sees it", judge: judgeDoneOnce},
	{Name: "S13", Guarantee: "G16", Sentence: "the first shutdown call wins", judge: judgeFirstWins},
	{Name: "S14", Guarantee: "G14", Sentence: "a panic or Goexit stays inside its body", judge: judgeContained},
	{Name: "S15", Guarantee: "G20", Sentence: "accepted = ran + cancelled + pending", needs: Samples, judge: judgeConservation},
	{Name: "S16", Guarantee: "G24", Sentence: "nothing is left behind", judge: judgeNothingLeft},
	{Name: "S18", Guarantee: "G18", Sentence: "every call from the loop returns", judge: judgeReentrant},
	{Name: "S19", Guarantee: "G22", Sentence: "a registration ends once, gets no call afterwards, and its owner is notified", judge: judgeRegistrations},
	{Name: "S20", Guarantee: "G23", Sentence: "a shutdown drains or aborts each open channel, by policy", judge: judgeDrain},
	{Name: "S21", Guarantee: "G23", Sentence: "the report counts how channels ended", judge: judgeChannelCounts},
	{Name: "S22", Guarantee: "G6", Sentence: "later tasks do not pass a tail task that hooks wait for", judge: judgePassedTails},
	{Name: "S23", Guarantee: "G7", Sentence: "timers that a shutdown cancels have ended when the next body begins", judge: judgeCancelledInTime},
	{Name: "S24", Guarantee: "G7", Sentence: "the policy decides which timers run in a shutdown", judge: judgeTimerPolicy},
	{Name: "V1", Guarantee: "G12", Sentence: "the loop never sleeps on work", needs: Parks, judge: judgeSleep},
	{Name: "V2", Guarantee: "G12", Sentence: "accepted work begins as soon as the loop is free", judge: judgePrompt},
	{Name: "V3", Guarantee: "G11", Sentence: "the timeout is a deadline for admission", needs: Deadlines, judge: judgeDeadline},
	{Name: "V4", Guarantee: "G10", Sentence: "the quiet period is exact", needs: QuietPeriod, judge: judgeQuiet},
	{Name: "V5", Guarantee: "G15", Sentence: "a shutdown with extreme parameters ends", judge: judgeExtremes},
	{Name: "V6", Guarantee: "G12", Sentence: "a loop with nothing to do sleeps", needs: Parks, judge: judgeBusy},
	{Name: "V7", Guarantee: "G13", Sentence: "nothing waits longer than a batch", judge: judgeStarvation},
	{Name: "V8", Guarantee: "G12", Sentence: "a sleep takes one wake, from outside", needs: Parks, judge: judgeWakes},
	{Name: "V9", Guarantee: "G15", Sentence: "a shutdown ends once everything has run", judge: judgeConverges},
	{Name: "V10", Guarantee: "G13", Sentence: "tasks do not starve readiness", judge: judgeReadinessStarves},
	{Name: "V11", Guarantee: "G13", Sentence: "a turn runs handlers, a batch of tasks, due timers and tail tasks, in this order", needs: Parks | Readiness, judge: judgeTurnOrder},
	{Name: "V12", Guarantee: "G9", Sentence: "the listeners of what a body completes run before the next body", needs: States | OneLoop, judge: judgeListenerOrder},
}

// Predicates returns the suite. The slice is the caller's.
func Predicates() []Predicate { return append([]Predicate(nil), predicates[:]...) }

// Violation is one breach of a guarantee that one predicate found.
type Violation struct {
	Guarantee string // "G3"; may differ from that of the predicate: some predicates judge several guarantees
	Predicate string // "S2"
	Sentence  string // what should have held
	Text      string // what happened: "task 2, accepted at #3, never ran"
	At        []int  // positions in the log, the decisive one last
	Absent    bool   // the violation is that an event is missing up to the end of the log, so no position is decisive
}

// String returns the first line of a failure.
func (v Violation) String() string {
	return fmt.Sprintf("%s %s: %s", v.Guarantee, v.Sentence, v.Text)
}

// Cause returns a text that is equal for violations that probably have the same cause:
// their predicate, guarantee and text agree, apart from labels, positions and times.
func (v Violation) Cause() string {
	return v.Guarantee + " " + v.Predicate + " " + numbers.ReplaceAllString(v.Text, "n")
}

// numbers are counts, labels and durations.
var numbers = regexp.MustCompile(`[0-9]+(\.[0-9]+)?(ns|µs|ms|[smh])?([0-9.]+(ns|µs|ms|[smh]))*`)

// Status is the result of one predicate.
type Status uint8

// The results. Only Passed is a pass.
const (
	NotApplicable Status = iota // the log lacks events that the predicate reads
	NotExercised                // its premise did not occur
	Passed
	Failed
)

// String is the status in words.
func (s Status) String() string {
	return word("status", []string{"not applicable", "not exercised", "passed", "failed"}, int(s))
}

// Verdict is the result of one predicate for one history.
type Verdict struct {
	Predicate  Predicate
	Status     Status
	Premise    int // how often the premise of the predicate occurred
	Violations []Violation
}

// Check judges the history with the named predicates, or with all of them if none is
// named. It panics on an unknown name.
func (h *History) Check(names ...string) []Verdict {
	if len(names) == 0 {
		return slices.Collect(h.Verdicts())
	}
	var verdicts []Verdict
	for _, name := range names {
		verdicts = append(verdicts, lookup(name).Check(h))
	}
	return verdicts
}

// Verdicts judges the history with all predicates, one after the other.
func (h *History) Verdicts() iter.Seq[Verdict] {
	return func(yield func(Verdict) bool) {
		j := judge{History: h}
		for i := range predicates {
			if !yield(j.check(&predicates[i])) {
				return
			}
		}
	}
}

// Violations returns the violations that Check finds.
func (h *History) Violations(names ...string) []Violation {
	var found []Violation
	for _, v := range h.Check(names...) {
		found = append(found, v.Violations...)
	}
	return found
}

func lookup(name string) Predicate {
	for _, p := range predicates {
		if p.Name == name {
			return p
		}
	}
	panic("history: no predicate " + name)
}

// Check judges the history. It changes nothing and is safe for concurrent use.
func (p Predicate) Check(h *History) Verdict {
	j := judge{History: h}
	return j.check(&p)
}

// check applies p to the history.
func (j *judge) check(p *Predicate) Verdict {
	if !j.Rules.Has(p.needs) {
		return Verdict{Predicate: *p, Status: NotApplicable}
	}
	j.predicate, j.premise, j.found = p, 0, nil
	p.judge(j)
	v := Verdict{Predicate: *p, Status: Passed, Premise: j.premise, Violations: j.found}
	switch {
	case len(j.found) > 0:
		v.Status = Failed
	case j.premise == 0:
		v.Status = NotExercised
	}
	return v
}

// judge applies one predicate to one history.
type judge struct {
	*History
	predicate *Predicate
	premise   int
	found     []Violation
}

// exercised counts one occurrence of the predicate's premise.
func (j *judge) exercised() { j.premise++ }

// at returns positions in the log for blame, the decisive one last.
func at(positions ...int) []int { return positions }

// blame records a violation of the predicate's guarantee.
func (j *judge) blame(where []int, format string, args ...any) {
	j.blameOn(j.predicate.Guarantee, j.predicate.Sentence, where, format, args...)
}

// blameAbsence records a violation of the predicate's guarantee: up to the end of the
// log, an event that the given positions require did not occur.
func (j *judge) blameAbsence(where []int, format string, args ...any) {
	j.blame(where, format, args...)
	j.found[len(j.found)-1].Absent = true
}

// blameOn records a violation of a guarantee other than the predicate's own.
func (j *judge) blameOn(guarantee, sentence string, where []int, format string, args ...any) {
	j.found = append(j.found, Violation{
		Guarantee: guarantee,
		Predicate: j.predicate.Name,
		Sentence:  sentence,
		Text:      fmt.Sprintf(format, args...),
		At:        where,
	})
}
