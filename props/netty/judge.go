package netty

import (
	"fmt"
	"slices"
	"strings"
)

// A Verdict is what came of one program.
type Verdict struct {
	Program *Program
	Differs bool     // Netty and core had different outcomes
	Rules   []string // the departures that showed in Netty's run, by R number
	Wrong   []string // what no rule predicts: empty, or something is broken
}

// Judge compares what Netty did, what core did, and what the rules of both say. The
// outcomes of Netty and core must be equal, or be what a named departure predicts:
// Netty must have done exactly what its rules say, core exactly what the contract
// says, and where these two differ a departure must have shown.
func Judge(p *Program, netty, core Trace) Verdict {
	r := runReference(p)
	c := runContract(p, 0)
	project := func(t Trace) outcome { return outcomeOf(p, t, c.early) }
	v := Verdict{Program: p}
	for rule := range r.hits {
		v.Rules = append(v.Rules, rule)
	}
	slices.Sort(v.Rules)
	v.Wrong = append(v.Wrong, project(netty).differences("Netty did", project(r.trace), "its rules say")...)
	v.Wrong = append(v.Wrong, project(core).differences("core did", project(c.trace), "the contract says")...)
	between := project(netty).differences("Netty", project(core), "core")
	v.Differs = len(between) > 0
	if v.Differs && len(v.Rules) == 0 {
		for _, d := range between {
			v.Wrong = append(v.Wrong, "no departure has shown, but "+d)
		}
	}
	return v
}

// String says what is wrong, with the program.
func (v Verdict) String() string {
	return fmt.Sprintf("program %v\n\tdepartures: %s\n\t%s", v.Program, strings.Join(v.Rules, " "), strings.Join(v.Wrong, "\n\t"))
}

// Predicted returns the departures by which, as the rules of both say, Netty and core
// differ in p; none if they do not differ.
func Predicted(p *Program) (rules []string) {
	r, c := runReference(p), runContract(p, 0)
	if len(outcomeOf(p, r.trace, c.early).differences("", outcomeOf(p, c.trace, c.early), "")) == 0 {
		return nil
	}
	for rule := range r.hits {
		rules = append(rules, rule)
	}
	slices.Sort(rules)
	return rules
}

// SameOutcome tells whether two runs of p on Netty came to the same.
func SameOutcome(p *Program, a, b Trace) bool {
	early := runContract(p, 0).early
	return len(outcomeOf(p, a, early).differences("", outcomeOf(p, b, early), "")) == 0
}
