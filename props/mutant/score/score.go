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

// By is a kind of check.
type By string

// The kinds of checks. The first eight are generic: nobody wrote them for one bug.
const (
	ByVirtual    By = "virtual"    // generated programs in virtual time
	ByInterleave By = "interleave" // generated programs under chosen schedules
	ByReal       By = "real"       // generated programs in real time, on the kernel's poller
	BySockets    By = "sockets"    // generated programs of connections, over a model of the kernel's sockets
	ByBlocking   By = "blocking"   // the same, of core/blocking
	ByExits      By = "exits"      // generated plans of core/process
	ByKit        By = "kit"        // the conformance kits for executors and for pollers, and properties of core/frame, core/tcp and core/watch
	ByRaceLane   By = "race"       // as interleave, with the race detector
	ByTest       By = "tests"      // tests that somebody wrote
	ByRaceTest   By = "race tests" // the same, with the race detector
)

// Order is the order in which the checks look for a pick.
func Order() []By {
	return []By{ByVirtual, ByInterleave, ByReal, BySockets, ByBlocking, ByExits, ByKit, ByRaceLane, ByTest, ByRaceTest}
}

// Generic reports whether the checks of this kind are made from the contract, by machine.
func (b By) Generic() bool { return b != ByTest && b != ByRaceTest }

// Always reports whether this kind of check runs for every Whole pick of its packages, so that
// its share of these picks does not depend on the other kinds. The other kinds run only for picks
// that all kinds before them have missed.
func (b By) Always() bool { return b.Generic() && b != ByRaceLane }

// Races reports whether this kind of check runs with the race detector.
func (b By) Races() bool { return b == ByRaceLane || b == ByRaceTest }

// Look is what one kind of check made of a pick.
type Look struct {
	By      By      `json:"by"`
	Killed  bool    `json:"killed"`
	What    string  `json:"what,omitempty"` // what the check said
	Runs    int     `json:"runs,omitempty"` // programs or schedules
	Seconds float64 `json:"seconds"`
}

// Edit is the text that a pick replaces, in whole lines.
type Edit struct {
	File string `json:"file"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// Pick is what became of one pick.
type Pick struct {
	Name     string  `json:"name"`
	Seed     uint64  `json:"seed"` // that it was drawn by
	Nth      int     `json:"nth"`  // pick of the seed, from 0
	Package  string  `json:"package"`
	Operator string  `json:"operator"`
	Function string  `json:"function"`
	Place    string  `json:"place"` // file, line and what was changed to what
	Edit     Edit    `json:"edit"`
	Verdict  Verdict `json:"verdict"`
	Looks    []Look  `json:"looks"`           // in the order of Order
	Brief    bool    `json:"brief,omitempty"` // no check ran after the first kill
	Proof    string  `json:"proof,omitempty"` // of what is neither killed nor a survivor
	Seconds  float64 `json:"seconds"`
}

// By is the first kind of check that killed the pick, or "".
func (p Pick) By() By {
	for _, l := range p.Looks {
		if l.Killed {
			return l.By
		}
	}
	return ""
}

// What is what the first kind of check that killed the pick said, or "".
func (p Pick) What() string {
	l, _ := p.Look(p.By())
	return l.What
}

// Look returns what one kind of check made of the pick, and whether it looked at all.
func (p Pick) Look(by By) (Look, bool) {
	at := slices.IndexFunc(p.Looks, func(l Look) bool { return l.By == by })
	if at < 0 {
		return Look{}, false
	}
	return p.Looks[at], true
}

// Whole reports whether every kind of check that covers the package of the pick ran for it, also
// after the first kill.
func (p Pick) Whole() bool { return !p.Brief }

// Counts reports whether a pick changes behaviour, as far as is known: whether it is part
// of the score.
func (p Pick) Counts() bool { return p.Verdict == Killed || p.Verdict == Survived }

// Share is how many of some picks were killed, by which kind of check.
type Share struct {
	Of       int `json:"of"` // picks that count
	Generic  int `json:"generic"`
	Tests    int `json:"tests"` // killed by tests only
	Survived int `json:"survived"`

	// Picks that change no behaviour, by their class.
	Equivalent int `json:"equivalent"`
	Slower     int `json:"performance"`
	Larger     int `json:"memory"`
}

func (s *Share) add(p Pick) {
	switch {
	case p.Verdict == Equivalent:
		s.Equivalent++
		return
	case p.Verdict == Slower:
		s.Slower++
		return
	case p.Verdict == Larger:
		s.Larger++
		return
	case p.Verdict == Survived:
		s.Survived++
	case p.By().Generic():
		s.Generic++
	default:
		s.Tests++
	}
	s.Of++
}

// Aside is how many picks change no behaviour.
func (s Share) Aside() int { return s.Equivalent + s.Slower + s.Larger }

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
