package interleave

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"

	"eventide/internal/command"
	"eventide/props/internal/runner"
)

// recordVersion is the version of the format of Record.
const recordVersion = 1

// Record is the progress of -exhaust, as a file. A later run with the same file leaves
// out the scenarios that were exhausted to the same bound in the same core.
type Record struct {
	Schema    int        `json:"schema"`
	Core      string     `json:"core"` // hash of its source
	Scenarios []Recorded `json:"scenarios"`
}

// Recorded is one scenario of a Record.
type Recorded struct {
	Name      string  `json:"name"`
	Bound     int     `json:"bound"`    // each schedule with no more preemptions was seen
	Complete  bool    `json:"complete"` // no schedule needs more preemptions
	Runs      int     `json:"runs"`     // with the pruned ones
	Pruned    int     `json:"pruned"`
	Classes   int     `json:"classes"`
	Histories int     `json:"histories"`
	Seconds   float64 `json:"seconds"`
}

// coreHash names the core in this binary. The build sets it.
var coreHash = "unknown"

func (e exhaustion) entry(sc Scenario) Recorded {
	x := e.explorer
	return Recorded{
		Name: sc.Name, Bound: e.bound, Complete: e.all, Runs: x.Schedules, Pruned: x.Pruned,
		Classes: x.Classes, Histories: x.Histories, Seconds: x.Elapsed.Seconds(),
	}
}

// openRecord returns the record that a run continues: an empty one if there is no such
// file, or if the file is of another core.
func (s settings) openRecord() (Record, error) {
	fresh := Record{Schema: recordVersion, Core: coreHash}
	r, err := runner.ReadOr(s.record, recordVersion, Record.version, fresh)
	if err == nil && r.Core != coreHash {
		return fresh, nil
	}
	return r, err
}

func (r Record) version() int { return r.Schema }

// LoadRecord reads a record.
func LoadRecord(path string) (Record, error) {
	return runner.ReadVersion(path, recordVersion, Record.version)
}

// has reports whether a scenario was exhausted to that bound.
func (r Record) has(name string, bound int) bool {
	return slices.ContainsFunc(r.Scenarios, func(e Recorded) bool { return e.Name == name && e.reaches(bound) })
}

func (e Recorded) reaches(bound int) bool { return e.Complete || e.Bound >= bound }

// save replaces the file in one step; without a path it does nothing.
func (r Record) save(path string) error {
	if path == "" {
		return nil
	}
	return runner.WriteJSON(path, r)
}

// missing returns the scenarios that were not exhausted to their bounds. The bound of
// groups and of programs without a Tracer, which are longer, is one less than that of
// pairs of calls.
func (r Record) missing(bound, shutdown int) (names []string) {
	s := settings{exhaust: bound, exhaustShutdown: shutdown}
	for _, sc := range exhaustible() {
		want := s.boundOf(sc)
		if !sc.writesHistory() {
			want--
		}
		if !r.has(sc.Name, want) {
			names = append(names, sc.Name)
		}
	}
	return names
}

// MergeRecords joins the records of shards. It returns an error if they are of
// different cores.
func MergeRecords(paths []string) (Record, error) {
	var all Record
	for i, path := range paths {
		r, err := LoadRecord(path)
		switch {
		case err != nil:
			return all, err
		case i == 0:
			all = Record{Schema: r.Schema, Core: r.Core}
		case r.Core != all.Core:
			return all, fmt.Errorf("interleave: %s is of core %s, and %s of %s", path, r.Core, paths[0], all.Core)
		}
		all.Scenarios = append(all.Scenarios, r.Scenarios...)
	}
	// Of two entries of a scenario the one with the higher bound is kept.
	slices.SortFunc(all.Scenarios, func(a, b Recorded) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(b.Bound, a.Bound))
	})
	all.Scenarios = slices.CompactFunc(all.Scenarios, func(a, b Recorded) bool { return a.Name == b.Name })
	return all, nil
}

// RecordMain is the command line of MergeRecords. Its arguments are the records; -o
// names the file for the merged record, and -bound and -shutdown the bounds that it
// must reach. It prints the sums.
func RecordMain(args []string, out, errs io.Writer) int {
	f := flag.NewFlagSet("record", flag.ContinueOnError)
	to := f.String("o", "", "file for the merged record")
	bound := f.Int("bound", 2, "bound to which every pair of calls has to be complete; other programs: one less")
	shutdown := f.Int("shutdown", 3, "bound for pairs with a shutdown call")
	err := command.ParseFlags(f, args, errs)
	if err == nil {
		err = errors.Join(command.AtLeast("-bound", *bound, 0), command.AtLeast("-shutdown", *shutdown, 0))
	}
	if err != nil {
		return command.Refuse(errs, "record", err)
	}
	if f.NArg() == 0 {
		fmt.Fprintln(errs, "record: want the records of the shards")
		return exitUsage
	}
	all, err := MergeRecords(f.Args())
	if err == nil {
		err = all.save(*to)
	}
	if err != nil {
		fmt.Fprintln(errs, "record:", err)
		return exitUsage
	}
	fmt.Fprintln(out, all)
	if missing := all.missing(*bound, *shutdown); len(missing) > 0 {
		fmt.Fprintf(out, "%d scenarios are not complete to their bounds: %q\n", len(missing), missing)
		return exitFound
	}
	return exitClean
}

// String sums up a record.
func (r Record) String() string {
	var sum Recorded
	to := map[int]int{}
	for _, e := range r.Scenarios {
		sum.Runs += e.Runs
		sum.Pruned += e.Pruned
		sum.Classes += e.Classes
		sum.Histories += e.Histories
		sum.Seconds += e.Seconds
		to[e.Bound]++
	}
	return fmt.Sprintf("core %s: %d scenarios, by bound %v; %d runs (%d pruned), %d classes, %d histories, %.0f s",
		r.Core, len(r.Scenarios), to, sum.Runs, sum.Pruned, sum.Classes, sum.Histories, sum.Seconds)
}
