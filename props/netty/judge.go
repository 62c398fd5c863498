package netty

import (
	"fmt"
	"slices"
	"strings"
)

// A Verdict is the judgement of one program.
type Verdict struct {
	Program *Program
	Differs bool     // Netty and core had different outcomes
	Rules   []string // the departures in Netty's run, by R number
	Wrong   []string // observations that no rule predicts; must be empty
}

// Judge compares the runs of Netty and core with the two machines. The run of Netty must
// equal the run of reference, and the run of core the run of contract. If the outcomes of
// Netty and core differ, the run of reference must have shown a departure.
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

// String returns what is wrong, with the program.
func (v Verdict) String() string {
	return fmt.Sprintf("program %v\n\tdepartures: %s\n\t%s", v.Program, strings.Join(v.Rules, " "), strings.Join(v.Wrong, "\n\t"))
}

// Predicted returns the departures by which Netty and core differ in p according to the
// two machines; none if they do not differ.
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

// SameOutcome reports whether two runs of p on Netty had the same outcome.
func SameOutcome(p *Program, a, b Trace) bool {
	early := runContract(p, 0).early
	return len(outcomeOf(p, a, early).differences("", outcomeOf(p, b, early), "")) == 0
}
