package history

import (
	"fmt"
	"slices"
	"strings"
)

// Trace is a log in a file: comments, the rules to judge it by, the required verdict, and
// the events.
type Trace struct {
	Comments []string // the lines that begin with #, without the #; they describe the bug
	Verdict  []Blame  // empty if the trace is good
	Because  string   // why a bad trace breaks more than one predicate
	Rules    Rules
	Events   []Event
}

// Blame names a guarantee and the predicate that finds it broken.
type Blame struct {
	Guarantee, Predicate string
}

// String is the pair as a verdict has it: "G3 S2".
func (b Blame) String() string { return b.Guarantee + " " + b.Predicate }

// Judge checks the events and compares the result with the trace's verdict. It returns
// nil if they are equal, and otherwise an error with the verdict and each violation.
func (t Trace) Judge() error {
	h, err := Of(t.Events, t.Rules)
	if err != nil {
		return err
	}
	var got []Blame
	var texts []string
	for _, v := range h.Violations() {
		got = append(got, Blame{v.Guarantee, v.Predicate})
		texts = append(texts, v.Predicate+" "+v.String())
	}
	if slices.Equal(distinct(got), distinct(t.Verdict)) {
		return nil
	}
	return fmt.Errorf("verdict is %q, found %q:\n%s", verdictText(t.Verdict), verdictText(distinct(got)), strings.Join(texts, "\n"))
}

// distinct returns the blames sorted, each once.
func distinct(blames []Blame) []Blame {
	sorted := slices.SortedFunc(slices.Values(blames), func(a, b Blame) int {
		return strings.Compare(a.String(), b.String())
	})
	return slices.Compact(sorted)
}

func verdictText(blames []Blame) string {
	if len(blames) == 0 {
		return "good"
	}
	var words []string
	for _, b := range blames {
		words = append(words, b.String())
	}
	return "bad " + strings.Join(words, ", ")
}
