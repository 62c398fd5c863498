package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Targets of the lane. promised kills each lost wake-up within promisedSchedules
// schedules, at the median of promisedSeeds seeds. smallShare percent of the minimised
// kills have at most smallGoroutines goroutines and smallSwitches switches.
const (
	promised          = "pct3"
	promisedSchedules = 2000
	promisedSeeds     = 15
	lostWakeUp        = "G12" // the guarantee that a lost wake-up breaks
	smallGoroutines   = 3
	smallSwitches     = 6
	smallShare        = 90
)

// text is the cell as the table shows it: the median; or, if there is none, the number of
// seeds that found the bug; or a dash if no seed did, or a question mark if moreover a seed
// ran out of time.
func (c *cell) text() string {
	switch {
	case c == nil:
		return "not run"
	case c.Median > 0:
		return strconv.Itoa(c.Median)
	case c.Found > 0:
		return fmt.Sprintf("%d of %d", c.Found, len(c.Schedules))
	case c.Late > 0:
		return "?"
	}
	return "-"
}

func (r *strategyRow) text(names []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-42s", r.Name)
	for _, name := range names {
		fmt.Fprintf(&b, " %10s", r.cell(name).text())
	}
	if m := r.Minimised; m != nil {
		fmt.Fprintf(&b, "  %d%s goroutines (%d in the whole run), %d switches", m.Goroutines, m.plus(), m.WholeRun, m.Switches)
	}
	return b.String()
}

// write prints the rows that were run, and the sums.
func (t *strategyTable) write(w io.Writer, names []string) {
	fmt.Fprintf(w, "\nschedules to the kill, at the median of all seeds; \"2 of 5\": found with 2 of the 5 seeds that were run; -: not found; ?: not found in the time that it had; +1: the driver makes a call too\n")
	fmt.Fprintf(w, "%-42s", "mutant (seeds, at most)")
	for _, name := range names {
		fmt.Fprintf(w, " %10s", name)
	}
	fmt.Fprintln(w, "  made small")
	notRun := 0
	for _, r := range t.Mutants {
		switch r.State {
		case rowNotRun:
			notRun++
		case rowError:
			fmt.Fprintf(w, "%-42s error: %s\n", r.Name, firstLine(r.Reason))
		default:
			r.Name += fmt.Sprintf(" (%d)", r.seeds())
			fmt.Fprintln(w, r.text(names))
		}
	}
	for _, text := range []string{t.most(names), t.promise(), t.sizes(), fmt.Sprintf("not run: %d of %d mutants of what the lane explores", notRun, len(t.Mutants))} {
		fmt.Fprintln(w, text)
	}
}

func (r *strategyRow) seeds() int {
	n := 0
	for _, c := range r.Cells {
		n = max(n, c.Seeds)
	}
	return n
}

// tally has the sums of one strategy over the table.
type tally struct {
	name                   string
	median, ever, quickest int // mutants
}

// most says which strategies find most mutants. It counts the mutants that some
// strategy has found and that all strategies were run on.
func (t *strategyTable) most(names []string) string {
	tallies, rows := make([]tally, len(names)), 0
	for i, name := range names {
		tallies[i].name = name
	}
	for _, r := range t.Mutants {
		if !r.killed() || slices.ContainsFunc(names, func(name string) bool { return r.cell(name) == nil }) {
			continue
		}
		rows++
		least := 0
		for _, name := range names {
			if n := r.cell(name).Median; n > 0 && (least == 0 || n < least) {
				least = n
			}
		}
		for i, name := range names {
			c := r.cell(name)
			tallies[i].count(c, least)
		}
	}
	slices.SortStableFunc(tallies, func(a, b tally) int {
		return cmp.Or(cmp.Compare(b.median, a.median), cmp.Compare(b.ever, a.ever), cmp.Compare(b.quickest, a.quickest))
	})
	var parts []string
	for _, y := range tallies {
		parts = append(parts, fmt.Sprintf("%s %d (%d, %d)", y.name, y.median, y.ever, y.quickest))
	}
	return fmt.Sprintf("found at the median, of %d mutants (with any seed, with no strategy quicker): %s", rows, strings.Join(parts, "; "))
}

func (y *tally) count(c *cell, least int) {
	if c.Found > 0 {
		y.ever++
	}
	if c.Median > 0 {
		y.median++
		if c.Median == least {
			y.quickest++
		}
	}
}

// promise says whether the target for lost wake-ups holds for each lost wake-up that a
// strategy kills. A row with fewer than promisedSeeds seeds does not count as holding.
func (t *strategyTable) promise() string {
	killed, holds := 0, 0
	var rest []string
	for _, r := range t.Mutants {
		if r.Guarantee != lostWakeUp || !r.killed() {
			continue
		}
		killed++
		switch c := r.cell(promised); {
		case c == nil || c.Seeds < promisedSeeds:
			rest = append(rest, r.Name+": not run with "+strconv.Itoa(promisedSeeds)+" seeds")
		case c.Median == 0:
			rest = append(rest, fmt.Sprintf("%s: found with %d of %d seeds", r.Name, c.Found, len(c.Schedules)))
		case c.Median > promisedSchedules:
			rest = append(rest, fmt.Sprintf("%s: %d", r.Name, c.Median))
		default:
			holds++
		}
	}
	return fmt.Sprintf("%s: %s kills %d of the %d lost wake-ups that any strategy kills within %d schedules at the median of %d seeds%s",
		verdict(killed > 0 && holds == killed), promised, holds, killed, promisedSchedules, promisedSeeds, listed(rest))
}

// sizes says how many of the minimised kills are small.
func (t *strategyTable) sizes() string {
	killed, small, without := 0, 0, 0
	var rest []string
	for _, r := range t.Mutants {
		if !r.killed() {
			continue
		}
		killed++
		m := r.Minimised
		if m == nil {
			rest = append(rest, r.Name+": not minimised")
			continue
		}
		if m.small(1) {
			small++
		} else {
			rest = append(rest, fmt.Sprintf("%s: %d%s and %d", r.Name, m.Goroutines, m.plus(), m.Switches))
		}
		if m.small(0) {
			without++
		}
	}
	return fmt.Sprintf("%s: %d of %d kills made small have at most %d goroutines, the driver counted, and %d switches, want %d%%; %d if it is not counted%s",
		verdict(killed > 0 && small*100 >= killed*smallShare), small, killed, smallGoroutines, smallSwitches, smallShare, without, listed(rest))
}

// small reports whether the kill is within the bounds. driver is the number of goroutines
// that the driver counts for, if it makes a call.
func (m *minimised) small(driver int) bool {
	n := m.Goroutines
	if m.Driver {
		n += driver
	}
	return n <= smallGoroutines && m.Switches <= smallSwitches
}

func (m *minimised) plus() string { return map[bool]string{true: "+1"}[m.Driver] }

func verdict(holds bool) string {
	return map[bool]string{true: "holds", false: "DOES NOT HOLD"}[holds]
}

func listed(rest []string) string {
	if len(rest) == 0 {
		return ""
	}
	return "; the rest: " + strings.Join(rest, ", ")
}
