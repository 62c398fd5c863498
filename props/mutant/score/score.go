// Package score keeps what became of mechanical mutants (package auto), and says which
// share of them was killed, by package, by operator and by the kind of check that did it.
//
// The picks are a uniform sample, so that each share is an estimate with an interval
// (Wilson's, 95 %). A share of few picks has a wide interval, and the tables show it.
package score

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Verdict is what became of a pick.
type Verdict string

// The verdicts.
const (
	Killed     Verdict = "killed"
	Survived   Verdict = "survived"
	Equivalent Verdict = "equivalent"  // no check saw it, and a proof says that none can
	Slower     Verdict = "performance" // it changes speed only: Proof names the benchmark
	Larger     Verdict = "memory"      // it changes memory only: Proof names the figure
)

// By is the kind of check that killed a pick: the first of the order below that did.
type By string

// The kinds of checks. The first three are generic: nobody wrote them for one bug.
const (
	ByVirtual    By = "virtual"    // generated programs in virtual time
	ByInterleave By = "interleave" // generated programs under chosen schedules
	ByRaceLane   By = "race"       // the same, with the race detector
	ByTest       By = "tests"      // tests that somebody wrote
	ByRaceTest   By = "race tests" // the same, with the race detector
)

// Order is the order in which the checks look for a pick.
func Order() []By { return []By{ByVirtual, ByInterleave, ByRaceLane, ByTest, ByRaceTest} }

// Generic reports whether the checks of this kind are made from the contract, by machine.
func (b By) Generic() bool { return b == ByVirtual || b == ByInterleave || b == ByRaceLane }

// Pick is what became of one pick.
type Pick struct {
	Name     string  `json:"name"`
	Seed     uint64  `json:"seed"` // that it was drawn by
	Package  string  `json:"package"`
	Operator string  `json:"operator"`
	Function string  `json:"function"`
	Place    string  `json:"place"` // file, line and what was changed to what
	Verdict  Verdict `json:"verdict"`
	By       By      `json:"by,omitempty"`
	What     string  `json:"what,omitempty"`  // what the check said
	Proof    string  `json:"proof,omitempty"` // of what is neither killed nor a survivor
	Seconds  float64 `json:"seconds"`
}

// Counts reports whether a pick changes behaviour, as far as is known: whether it is part
// of the score.
func (p Pick) Counts() bool { return p.Verdict == Killed || p.Verdict == Survived }

// Share is how many of some picks were killed, by which kind of check.
type Share struct {
	Of       int `json:"of"` // picks that count
	Generic  int `json:"generic"`
	Tests    int `json:"tests"` // killed by tests only
	Survived int `json:"survived"`
	Aside    int `json:"aside"` // equivalent, performance or memory only
}

func (s *Share) add(p Pick) {
	switch {
	case !p.Counts():
		s.Aside++
		return
	case p.Verdict == Survived:
		s.Survived++
	case p.By.Generic():
		s.Generic++
	default:
		s.Tests++
	}
	s.Of++
}

// Interval is a share with its 95 % interval, all from 0 to 1.
type Interval struct{ Low, Share, High float64 }

// String is the interval in percent: 85.0 % (81.9 to 87.7).
func (i Interval) String() string {
	return fmt.Sprintf("%.1f %% (%.1f to %.1f)", 100*i.Share, 100*i.Low, 100*i.High)
}

// GenericScore is the share that the generic checks killed, and Score the share that any
// check did. Of no picks it is 0 with the interval from 0 to 1.
func (s Share) GenericScore() Interval { return wilson(s.Generic, s.Of) }

// Score is the share that any check killed.
func (s Share) Score() Interval { return wilson(s.Generic+s.Tests, s.Of) }

// wilson is the score interval of a binomial share (E. B. Wilson, 1927). Unlike the normal
// approximation it is right near 0 and 1 and for few picks.
func wilson(k, n int) Interval {
	if n == 0 {
		return Interval{0, 0, 1}
	}
	const z = 1.959964
	p, m := float64(k)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return Interval{max(0, middle-half), p, min(1, middle+half)}
}

// Row is the share of the picks that have one thing in common.
type Row struct {
	Name string
	Share
}

// Rows are the shares of the picks by what key says of them, in the order of their names,
// or in the order given. Names of the order that no pick has are left out.
func Rows(picks []Pick, key func(Pick) string, order ...string) []Row {
	var rows []Row
	for _, p := range picks {
		name := key(p)
		at := slices.IndexFunc(rows, func(r Row) bool { return r.Name == name })
		if at < 0 {
			at, rows = len(rows), append(rows, Row{Name: name})
		}
		rows[at].add(p)
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Name), slices.Index(order, b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return rows
}

// Total is the share of all picks.
func Total(picks []Pick) (all Share) {
	for _, p := range picks {
		all.add(p)
	}
	return all
}
