package main

import (
	"regexp"
	"strings"

	"eventide/props/history"
	"eventide/props/lane"
)

// The verdicts.
const (
	killed     = "killed"
	survived   = "survived"
	equivalent = "equivalent" // nobody saw it, and its file says why nobody can
)

// Who killed a mutant that no guarantee was blamed for.
const (
	byHang  = "a hang"
	byCrash = "a crash"
	byCheck = "the harness" // it could not make sense of the run
)

// kill is what gave a mutant away.
type kill struct {
	by        string // a guarantee, or one of the above
	predicate string // which judged it
	what      string
}

// killOf returns what the lane found, if anything: of several guarantees the one
// to blame, or else the first of the vocabulary. A hang or a crash counts only
// if nothing else was found; the lane had begun runs by then, or there would be no
// result.
func killOf(r lane.Result, blame string) (kill, bool) {
	switch {
	case len(r.Failed) > 0:
		by := firstGuarantee(r.Failed, blame)
		text := r.Failed[by]
		if by == "" {
			return kill{by: byCheck, what: text}, true
		}
		return kill{by: by, predicate: predicateOf(text), what: text}, true
	case r.Ending == lane.Hung:
		return kill{by: byHang, what: "the lane said nothing more after it had begun runs"}, true
	case r.Ending == lane.Crashed:
		return kill{by: byCrash, what: lastPanic(r.Output)}, true
	}
	return kill{}, false
}

// firstGuarantee returns blame if it failed, or else the least number.
func firstGuarantee(failed map[string]string, blame string) string {
	first := ""
	for id := range failed {
		switch {
		case id == blame && id != "":
			return id
		case id != "" && (first == "" || len(id) < len(first) || len(id) == len(first) && id < first):
			first = id
		}
	}
	return first
}

// ofModel matches a violation that the model found: its text begins with a
// position of the log.
var ofModel = regexp.MustCompile(`^(G\d+|REF1) .*: #\d+: `)

// otherSentences are what predicates say of a guarantee that is not their own, and
// what the search for an order of the calls says.
var otherSentences = map[string]string{
	"REF3": "each call takes effect at one moment",
	"S1":   "a listener is called once",
	"S2":   "every future ends",
}

// predicateOf returns which predicate wrote the text of a violation, or "" if no
// predicate did.
func predicateOf(text string) string {
	_, rest, _ := strings.Cut(text, " ")
	for name, sentence := range otherSentences {
		if strings.HasPrefix(rest, sentence+": ") {
			return name
		}
	}
	for _, p := range history.Predicates() {
		if strings.HasPrefix(rest, p.Sentence+": ") {
			return p.Name
		}
	}
	if ofModel.MatchString(text) {
		return "REF1"
	}
	return ""
}

// lastPanic returns the line that says why a program crashed.
func lastPanic(output string) string {
	last := "no word of why"
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			last = strings.TrimSpace(line)
		}
	}
	return last
}
