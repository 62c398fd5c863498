package interleave

import (
	"maps"
	"slices"
	"time"

	"eventide/props/lane"
)

// Coverage says how much of the scenarios was seen. All counts add up, over visits and
// over shards: merged shards have the coverage of one run.
type Coverage struct {
	Schedules int
	Pruned    int
	Steps     int
	Classes   int // happens-before classes of whole schedules, counted by visit
	Singles   int // classes seen once: f1 of Good and Turing
	Histories int // distinct histories, each judged once
	Unrefined int // judged by the predicates, not by the model
	Undecided int // past the step limit, or linearizability not decided
	Fairness  map[string]int
	Exercised map[string]int // by guarantee: schedules in which its premise occurred
	Actions   Actions
	Conflicts Conflicts
	PCT       PCTs
	Elapsed   time.Duration
	Processor time.Duration // processor time
}

func newCoverage() Coverage {
	return Coverage{
		Fairness: map[string]int{}, Exercised: map[string]int{},
		Actions: Actions{}, Conflicts: Conflicts{}, PCT: PCTs{},
	}
}

// whole is the number of schedules that were not pruned.
func (c Coverage) whole() int { return c.Schedules - c.Pruned }

// Unseen estimates the chance that the next schedule is of a class not yet seen
// (Good and Turing).
func (c Coverage) Unseen() float64 {
	if c.whole() > 0 {
		return float64(c.Singles) / float64(c.whole())
	}
	return 1
}

// NewClassRate is the share of the schedules since then that were of a new class. If
// there were none since then, it is the share of all schedules.
func (c Coverage) NewClassRate(then Coverage) float64 {
	if c.whole() == then.whole() {
		then = Coverage{}
	}
	if c.whole() == then.whole() {
		return 1
	}
	return float64(c.Classes-then.Classes) / float64(c.whole()-then.whole())
}

// merge adds the coverage of other visits.
func (c *Coverage) merge(d Coverage) {
	c.Schedules += d.Schedules
	c.Pruned += d.Pruned
	c.Steps += d.Steps
	c.Classes += d.Classes
	c.Singles += d.Singles
	c.Histories += d.Histories
	c.Unrefined += d.Unrefined
	c.Undecided += d.Undecided
	c.Elapsed += d.Elapsed
	c.Processor += d.Processor
	addCounts(c.Fairness, d.Fairness)
	addCounts(c.Exercised, d.Exercised)
	addCounts(c.Actions, d.Actions)
	addCounts(c.Conflicts, d.Conflicts)
	c.PCT.merge(d.PCT)
}

// mostNamed bounds the names of missing actions and pairs in a line. The file of a part
// has everything that was seen.
const mostNamed = 20

// newHits compares the seen names with the possible ones, which are sorted.
func newHits(possible []string, seen map[string]int) lane.Hits {
	h := hitsOf(possible, seen)
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		if _, is := slices.BinarySearch(possible, name); !is && len(h.Unexpected) < mostNamed {
			h.Unexpected = append(h.Unexpected, name)
		}
	}
	return h
}

// hitsOf returns how many of the names were seen, and the first of those that were not.
func hitsOf(names []string, seen map[string]int) lane.Hits {
	h := lane.Hits{Of: len(names)}
	for _, name := range names {
		switch {
		case seen[name] > 0:
			h.Hit++
		case len(h.Missing) < mostNamed:
			h.Missing = append(h.Missing, name)
		}
	}
	return h
}

func (a Actions) hits() lane.Hits { return newHits(possibleActions(), a) }

// hits has no unexpected names: the pairs that were met are the possible ones.
func (c Conflicts) hits() lane.Hits { return hitsOf(slices.Sorted(maps.Keys(c)), c) }
