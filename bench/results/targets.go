package results

import (
	"regexp"
	"slices"
	"strings"
)

// A goal is a target of any raw file as the page shows it.
type goal struct {
	Verdict             string // missed, not judged or met
	By, Name            string
	Measured, Low, High float64
	Limit               float64
	Least               bool // the limit is a lower one
	Reason              string
}

// The verdicts, in the order of the page: what is not well comes first.
const (
	missed    = "MISSED"
	notJudged = "NOT JUDGED"
	met       = "met"
)

// Interval is false of what has none: a count, or too few rounds.
func (g goal) Interval() bool { return g.Low != 0 || g.High != 0 }

// Goals are the targets of all raw files that are there.
func (r raw) Goals() []goal {
	var all []goal
	for _, t := range r.Bench.Targets {
		all = append(all, goal{
			Verdict: verdict(t.Met, ""), By: "make compare", Name: t.Name,
			Measured: t.Ratio, Low: t.Low, High: t.High, Limit: t.Limit,
		})
	}
	if r.Peers != nil {
		for _, t := range r.Peers.Targets {
			all = append(all, goal{
				Verdict: verdict(t.Met, t.Reason), By: "make peers", Name: t.Name,
				Measured: t.Ratio, Low: t.Low, High: t.High, Limit: t.Limit, Least: t.Least, Reason: t.Reason,
			})
		}
	}
	rank := []string{missed, notJudged, met}
	slices.SortStableFunc(all, func(a, b goal) int { return slices.Index(rank, a.Verdict) - slices.Index(rank, b.Verdict) })
	return all
}

func verdict(isMet bool, reason string) string {
	switch {
	case reason != "":
		return notJudged
	case isMet:
		return met
	default:
		return missed
	}
}

// Score counts the goals of each verdict.
func (r raw) Score() map[string]int {
	n := map[string]int{missed: 0, notJudged: 0, met: 0}
	for _, g := range r.Goals() {
		n[g.Verdict]++
	}
	return n
}

// memoryWorkload begins the names of the workloads whose figures are bytes.
const memoryWorkload = "memory/"

// Memory are the rows about memory that were measured.
func (p peers) Memory() []peersRow {
	return p.rows(func(r peersRow) bool { return r.Rounds > 0 && isMemory(r) })
}

// Others are the rows about anything else that somebody was asked and has.
func (p peers) Others() []peersRow {
	return p.rows(func(r peersRow) bool { return !isMemory(r) && r.Status != notOffered })
}

func isMemory(r peersRow) bool { return strings.HasPrefix(r.Workload, memoryWorkload) }

func (p peers) rows(want func(peersRow) bool) []peersRow {
	return slices.DeleteFunc(slices.Clone(p.Rows), func(r peersRow) bool { return !want(r) })
}

// notOffered is the status of what an implementation does not have.
const notOffered = "not offered"

// An absence is a reason why figures are missing.
type absence struct {
	Status, Reason   string
	Impls, Workloads []string
}

// Absent says for each reason who did not do what.
func (p peers) Absent() []absence {
	var all []absence
	for _, r := range p.Rows {
		if r.Rounds > 0 || p.About.NotRun[r.Impl] != "" { // those are listed with the versions
			continue
		}
		i := slices.IndexFunc(all, func(a absence) bool { return a.Status == r.Status && a.Reason == r.Reason })
		if i < 0 {
			i = len(all)
			all = append(all, absence{Status: r.Status, Reason: r.Reason})
		}
		all[i].Impls = with(all[i].Impls, r.Impl)
		all[i].Workloads = with(all[i].Workloads, family.ReplaceAllString(r.Workload, ""))
	}
	return all
}

// family matches what tells apart the points of a curve and the percentiles of a
// workload: of those, one name is enough.
var family = regexp.MustCompile(`=.*$|/p[0-9.]+$`)

// with appends what is not there yet.
func with(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}
