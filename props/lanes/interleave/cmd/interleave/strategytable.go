package main

import (
	"slices"

	"eventide/props/internal/runner"
)

// tableVersion is the version of the format of strategyTable. From version 2 on,
// interleave.Census counts the goroutines of a minimised kill.
const tableVersion = 2

// strategyTable has the number of schedules that each strategy needs to find each
// planted bug. It is kept in a file, which is written after each mutant.
type strategyTable struct {
	Schema  int           `json:"schema"`
	Core    string        `json:"core"` // hash of the source of core, without a bug
	Mutants []strategyRow `json:"mutants"`
}

// strategyRow is one planted bug.
type strategyRow struct {
	Name      string     `json:"name"`
	Guarantee string     `json:"guarantee"`
	Mutant    string     `json:"mutant"`           // hash of the change
	State     rowState   `json:"state"`            // as of the last run
	Reason    string     `json:"reason,omitempty"` // why it is in error
	Commit    string     `json:"commit,omitempty"` // of the last run
	Cells     []cell     `json:"strategies,omitempty"`
	Minimised *minimised `json:"minimised,omitempty"`
}

// rowState is the state of a row.
type rowState string

const (
	rowNotRun rowState = "not run"
	rowRun    rowState = "run"
	rowError  rowState = "error" // it does not build, or the lane does not run
)

// cell is one strategy against one bug, with several seeds.
type cell struct {
	Strategy string `json:"strategy"`
	Limit    int    `json:"limit"` // schedules that one seed gets
	Seeds    int    `json:"seeds"` // that were requested
	// Schedules are the numbers of schedules to the first kill, by seed from 1; 0: not
	// found. There are fewer than Seeds if further seeds could not change the median.
	Schedules []int `json:"schedules"`
	Found     int   `json:"found"` // of the seeds in Schedules
	// Median is the median of all seeds. A seed that did not find the bug counts as
	// longer than all others. If the median is such a seed, it is 0, and not in the
	// file.
	Median int `json:"median,omitempty"`
	Late   int `json:"late,omitempty"` // seeds that ran out of time before the limit
	// Own is the number of seeds that ended at a failure that core has without the bug
	// too. They count as not found.
	Own int      `json:"own,omitempty"`
	By  []string `json:"by,omitempty"` // guarantees that broke
}

// minimised is the minimised schedule of one kill.
type minimised struct {
	Strategy  string `json:"strategy"`
	Seed      int    `json:"seed"`
	Guarantee string `json:"guarantee"`
	Scenario  string `json:"scenario"`
	// Goroutines are those of interleave.Census.
	Goroutines int  `json:"goroutines"` // that take a step before the breach, without the driver
	Callbacks  int  `json:"callbacks"`  // of those, callbacks of alarms
	WholeRun   int  `json:"whole_run"`  // that take a step at all, without the driver
	Driver     bool `json:"driver"`     // it makes a call on the executor before the breach
	Switches   int  `json:"switches"`
}

// add enters the result of the next seed.
func (c *cell) add(t trial) {
	n := t.schedule
	if n > c.Limit || t.own {
		n = 0
	}
	if t.own {
		c.Own++
	}
	c.Schedules = append(c.Schedules, n)
	switch {
	case n > 0:
		c.Found++
		for _, id := range t.by {
			if !slices.Contains(c.By, id) {
				c.By = append(c.By, id)
			}
		}
	case t.tried < c.Limit && !t.own:
		c.Late++
	}
	c.Median = c.median()
}

// median is the median of all requested seeds; of two middle values it is the higher
// one. The tempting wrong version takes the median of the seeds that found the bug: it
// gets better with each seed that does not.
func (c *cell) median() int {
	found := slices.DeleteFunc(slices.Sorted(slices.Values(c.Schedules)), func(n int) bool { return n == 0 })
	if middle := c.Seeds / 2; len(found) > middle && len(c.Schedules) == c.Seeds {
		return found[middle]
	}
	return 0
}

// decided reports whether no further seed is needed: all were run, or so many did not
// find the bug that the median is one of them.
func (c *cell) decided() bool {
	misses := len(c.Schedules) - c.Found
	return len(c.Schedules) >= c.Seeds || misses >= c.Seeds-c.Seeds/2
}

// cell returns the cell of a strategy, or nil.
func (r *strategyRow) cell(name string) *cell {
	if i := slices.IndexFunc(r.Cells, func(c cell) bool { return c.Strategy == name }); i >= 0 {
		return &r.Cells[i]
	}
	return nil
}

// killed reports whether any strategy has found the bug.
func (r *strategyRow) killed() bool {
	return slices.ContainsFunc(r.Cells, func(c cell) bool { return c.Found > 0 })
}

// row returns the row of a mutant, or nil.
func (t *strategyTable) row(name string) *strategyRow {
	if i := slices.IndexFunc(t.Mutants, func(r strategyRow) bool { return r.Name == name }); i >= 0 {
		return &t.Mutants[i]
	}
	return nil
}

// openTable returns the table that a run continues, with one row for each planted bug.
// It leaves out results of another core, and of mutants that have changed.
func openTable(path, core string, planted []strategyRow) (strategyTable, error) {
	fresh := strategyTable{Schema: tableVersion, Core: core, Mutants: planted}
	old, err := runner.ReadOr(path, tableVersion, func(t strategyTable) int { return t.Schema }, fresh)
	if err != nil || old.Core != core {
		return fresh, err
	}
	for i := range fresh.Mutants {
		if r := old.row(fresh.Mutants[i].Name); r != nil && r.Mutant == fresh.Mutants[i].Mutant {
			fresh.Mutants[i] = *r
		}
	}
	return fresh, nil
}
