package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"eventide/props/internal/runner"
	"eventide/props/lanes/interleave"
)

// fake is a lane that answers from a table: by strategy, the schedules by seed; 0: not
// found. It fails on a seed that nobody should ask for.
type fake struct {
	schedules map[string][]int
	tried     int // by those that do not find it; 0: as many as they may
	hunts     map[string]int
	made      []string // what was made small
}

func (f *fake) hunt(_ context.Context, strategy string, seed, limit int) (trial, error) {
	all := f.schedules[strategy]
	if seed > len(all) {
		return trial{}, fmt.Errorf("%s was asked for seed %d, want at most %d", strategy, seed, len(all))
	}
	f.hunts[strategy]++
	if n := all[seed-1]; n > 0 {
		return trial{schedule: n, tried: n, by: []string{"G12"}}, nil
	}
	if f.tried > 0 {
		return trial{tried: f.tried}, nil
	}
	return trial{tried: limit}, nil
}

func (f *fake) small(_ context.Context, strategy string, seed, _ int, want trial) (*minimised, error) {
	f.made = append(f.made, fmt.Sprintf("%s %d %d", strategy, seed, want.schedule))
	return &minimised{Strategy: strategy, Seed: seed, Goroutines: 2, Driver: true, Switches: 3}, nil
}

func TestCell(t *testing.T) {
	for _, c := range []struct {
		name      string
		schedules []int
		seeds     int
		tried     int
		text      string
		found     int
		hunts     int
	}{
		{"the middle one of an odd number", []int{9, 1, 5}, 3, 0, "5", 3, 3},
		{"of two in the middle the higher", []int{4, 1, 3, 2}, 4, 0, "3", 4, 4},
		{"a seed that did not find it is the longest", []int{0, 1, 5}, 3, 0, "5", 2, 3},
		{"most seeds did not find it", []int{1, 0, 0}, 3, 0, "1 of 3", 1, 3},
		{"the rest cannot change it", []int{1, 0, 0, 0, 7}, 5, 0, "1 of 4", 1, 4},
		{"half of an even number", []int{1, 0, 0, 1}, 4, 0, "1 of 3", 1, 3},
		{"behind the limit is not found", []int{1, 101, 101}, 3, 0, "1 of 3", 1, 3},
		{"at the limit is found", []int{100}, 1, 0, "100", 1, 1},
		{"none", []int{0}, 1, 0, "-", 0, 1},
		{"none, in too little time", []int{0}, 1, 99, "?", 0, 1},
	} {
		f := &fake{schedules: map[string][]int{"walk": c.schedules, "pos": slices.Repeat([]int{1}, c.seeds)}, tried: c.tried, hunts: map[string]int{}}
		var r strategyRow
		if err := r.run(t.Context(), f, r.lacks([]string{"walk", "pos"}, c.seeds, 100)); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := r.cell("walk")
		if got.text() != c.text || got.Found != c.found || f.hunts["walk"] != c.hunts {
			t.Errorf("%s: of %v got %q, found %d in %d runs; want %q, %d in %d", c.name, c.schedules, got.text(), got.Found, f.hunts["walk"], c.text, c.found, c.hunts)
		}
		if late := min(c.tried, 1); got.Late != late {
			t.Errorf("%s: got %d seeds that were late, want %d", c.name, got.Late, late)
		}
	}
	own := cell{Strategy: "walk", Limit: 100, Seeds: 1}
	own.add(trial{schedule: 7, tried: 7, by: []string{"G22"}, own: true})
	if own.Found != 0 || own.Median != 0 || own.Own != 1 || own.Late != 0 || len(own.By) > 0 {
		t.Errorf("a failure that core has without the bug: got %+v, want it not found, and counted as its own", own)
	}
	if got := (*cell)(nil).text(); got != "not run" {
		t.Errorf("no cell: got %q, want %q", got, "not run")
	}
}

func TestRow(t *testing.T) {
	f := &fake{schedules: map[string][]int{"walk": {0, 0, 0}, "pos": {0, 0, 0}, exhaustive: {0}}, hunts: map[string]int{}}
	var r strategyRow
	names := []string{"walk", "pos", exhaustive}
	if err := r.run(t.Context(), f, r.lacks(names, 3, 100)); err != nil {
		t.Fatal(err)
	}
	if want := map[string]int{"walk": 1, "pos": 1, exhaustive: 1}; !reflect.DeepEqual(f.hunts, want) || r.killed() || r.Minimised != nil {
		t.Errorf("nobody finds it: got runs %v, killed %v, minimised %v; want one run of each and nothing", f.hunts, r.killed(), r.Minimised)
	}
	if got := r.cell(exhaustive); got.Limit != 100*exhaustiveFactor || got.Seeds != 1 {
		t.Errorf("exhaustive: got limit %d, %d seeds; want %d, 1", got.Limit, got.Seeds, 100*exhaustiveFactor)
	}
	if got := r.lacks(names, 3, 100); len(got) > 0 {
		t.Errorf("a row that is done lacks %v", got)
	}

	// Another strategy finds it, so the others are no longer given up.
	f.schedules["surw"], f.schedules[exhaustive] = []int{7, 5, 6}, []int{2}
	names = append(names, "surw")
	if err := r.run(t.Context(), f, r.lacks([]string{"surw"}, 3, 100)); err != nil {
		t.Fatal(err)
	}
	if got := r.lacks(names, 3, 100); len(got) != 2 || got[0].Strategy != "walk" || got[1].Strategy != "pos" {
		t.Errorf("given up before it was found: the row lacks %v, want walk and pos", got)
	}
	if want := []string{"surw 2 5"}; !slices.Equal(f.made, want) {
		t.Errorf("got %q made small, want %q", f.made, want)
	}
	if got := r.lacks([]string{exhaustive, "surw"}, 4, 100); len(got) != 1 || got[0].Strategy != "surw" {
		t.Errorf("more seeds: the row lacks %v, want surw alone", got)
	}
	if got := r.lacks([]string{exhaustive, "surw"}, 3, 50); len(got) != 2 {
		t.Errorf("another limit: the row lacks %v, want both", got)
	}

	// The exhaustive one is quicker, and yet not the one that is made small.
	r.Cells = append(r.Cells, cell{Strategy: "pct3", Schedules: []int{9}, Found: 1})
	r.cell(exhaustive).Schedules = []int{2}
	if err := r.minimise(t.Context(), f); err != nil || f.made[1] != "surw 2 5" {
		t.Errorf("got %q made small (%v), want surw again", f.made, err)
	}
}

// tableRow makes one with a pct3 cell and a minimised kill.
func tableRow(name, guarantee string, median, seeds, goroutines, switches int) strategyRow {
	c := cell{Strategy: promised, Limit: 10_000, Seeds: seeds, Schedules: slices.Repeat([]int{median}, seeds), Median: median}
	if median > 0 {
		c.Found = seeds
	}
	r := strategyRow{Name: name, Guarantee: guarantee, State: rowRun, Cells: []cell{c, {Strategy: "walk", Limit: 10_000, Seeds: 1, Schedules: []int{50}, Found: 1, Median: 50}}}
	if switches >= 0 {
		r.Minimised = &minimised{Goroutines: goroutines, Driver: true, Switches: switches}
	}
	return r
}

func TestTheTableSaysWhatDoesNotHold(t *testing.T) {
	for _, c := range []struct {
		name string
		rows []strategyRow
		want []string // in the text
	}{
		{"all is well", []strategyRow{tableRow("a", "G12", 2000, 15, 2, 6)},
			[]string{"holds: pct3 kills 1 of the 1", "holds: 1 of 1 kills made small", "; 1 if it is not counted", "not run: 0 of 1"}},
		{"too many schedules", []strategyRow{tableRow("a", "G12", 2001, 15, 2, 6)}, []string{"DOES NOT HOLD: pct3 kills 0 of the 1", "the rest: a: 2001"}},
		{"not found", []strategyRow{tableRow("a", "G12", 0, 15, 2, 6)}, []string{"DOES NOT HOLD: pct3 kills 0", "a: found with 0 of 15 seeds", "walk 1 (1, 1); pct3 0 (0, 0)"}},
		{"too few seeds", []strategyRow{tableRow("a", "G12", 10, 14, 2, 6)}, []string{"DOES NOT HOLD: pct3 kills 0", "a: not run with 15 seeds"}},
		{"another guarantee", []strategyRow{tableRow("a", "G3", 2001, 15, 2, 6)}, []string{"pct3 kills 0 of the 0"}},
		{"too many switches", []strategyRow{tableRow("a", "G3", 1, 15, 3, 7)}, []string{"DOES NOT HOLD: 0 of 1 kills made small", "the rest: a: 3+1 and 7"}},
		{"too many goroutines", []strategyRow{tableRow("a", "G3", 1, 15, 4, 1)}, []string{"DOES NOT HOLD: 0 of 1 kills made small", "the rest: a: 4+1 and 1"}},
		{"too many with the driver", []strategyRow{tableRow("a", "G3", 1, 15, 3, 1)}, []string{"DOES NOT HOLD: 0 of 1 kills made small", "; 1 if it is not counted", "a: 3+1 and 1"}},
		{"not minimised", []strategyRow{tableRow("a", "G3", 1, 15, 0, -1)}, []string{"DOES NOT HOLD: 0 of 1 kills made small", "a: not minimised"}},
		{"nothing was run", []strategyRow{{Name: "a", Guarantee: "G12", State: rowNotRun}},
			[]string{"DOES NOT HOLD: pct3 kills 0 of the 0", "DOES NOT HOLD: 0 of 0", "not run: 1 of 1"}},
		{"an error", []strategyRow{{Name: "a", State: rowError, Reason: "no such file\nmore"}}, []string{"error: no such file\n"}},
	} {
		var b bytes.Buffer
		(&strategyTable{Mutants: c.rows}).write(&b, []string{promised, "walk"})
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: the table has no %q:\n%s", c.name, want, b.String())
			}
		}
	}
}

// TestTheKeptTable: what is promised holds in the table that the docs speak of.
func TestTheKeptTable(t *testing.T) {
	kept, err := runner.ReadVersion(filepath.Join("..", "..", "..", "..", "..", "testdata", "interleave", "strategies.json"), tableVersion, func(t strategyTable) int { return t.Schema })
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	kept.write(&b, []string{promised})
	for _, want := range []string{"holds: pct3 kills 20 of the 20 lost wake-ups", "holds: 151 of 164 kills made small have at most 3 goroutines", "not run: 0 of 268"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table has no %q", want)
		}
	}
	for _, bad := range []string{"DOES NOT HOLD", "error: "} {
		if strings.Contains(b.String(), bad) {
			t.Errorf("the table has %q", bad)
		}
	}
}

// TestTheFileIsGoneOnFrom: a row holds for the same core and the same mutant.
func TestTheFileIsGoneOnFrom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "table.json")
	kept := tableRow("a", "G12", 7, 15, 2, 3)
	kept.Mutant = "1111"
	before := strategyTable{Schema: tableVersion, Core: "c", Mutants: []strategyRow{kept, {Name: "gone"}}}
	if err := runner.WriteJSON(path, before); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		core, mutant string
		cells        int
	}{{"c", "1111", 2}, {"d", "1111", 0}, {"c", "2222", 0}} {
		got, err := openTable(path, c.core, []strategyRow{{Name: "a", Mutant: c.mutant, State: rowNotRun}, {Name: "b", State: rowNotRun}})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Mutants) != 2 || len(got.Mutants[0].Cells) != c.cells || got.Core != c.core || got.Mutants[1].State != rowNotRun {
			t.Errorf("core %s, mutant %s: got %+v, want 2 rows, %d cells in the first, and the second not run", c.core, c.mutant, got, c.cells)
		}
	}
	before.Schema++
	if err := runner.WriteJSON(path, before); err != nil {
		t.Fatal(err)
	}
	if _, err := openTable(path, "c", nil); err == nil || !strings.Contains(err.Error(), "schema is 3, want 2") {
		t.Errorf("another schema: got %v, want an error that names both", err)
	}
}

// TestTrial: of a lane that prints lines, what the strategy needed. One that has made its
// schedules is ended.
func TestTrial(t *testing.T) {
	const limit = 100
	for _, c := range []struct {
		name, strategy, text string
		endless              bool
		want                 trial
	}{
		{"found", "walk", `@@{"runs":10}` + "\n" + `@@{"failed":{"G3":"x"},"found_by":"walk","schedule":12,"runs":12}`, false, trial{schedule: 12, tried: 12, by: []string{"G3"}}},
		{"the limit", "walk", `@@{"runs":99}` + "\n" + `@@{"runs":100}`, true, trial{tried: 100}},
		{"out of time", "walk", `@@{"runs":10}`, false, trial{tried: 10}},
		{"exhaustive, found", exhaustive, `@@{"exhausted":{"schedules":50},"failed":{"G3":"x"},"found_by":"exhaustive","schedule":12}`, false, trial{schedule: 62, tried: 62, by: []string{"G3"}}},
		{"exhaustive, over", exhaustive, `@@{"exhausted":{"schedules":50},"runs":1}`, true, trial{tried: 50}},
		{"what was explored after it", exhaustive, `@@{"exhausted":{"schedules":50},"failed":{"G3":"x"},"found_by":"walk","schedule":3,"runs":3}`, false, trial{tried: 50}},
	} {
		dir := t.TempDir()
		script := "#!/bin/sh\necho a report\ncat <<'END'\n" + c.text + "\nEND\n"
		if c.endless {
			script += "exec sleep 1000\n"
		}
		p := planted{bin: filepath.Join(dir, "lane"), root: "../../../../.."}
		if err := os.WriteFile(p.bin, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		got, err := p.trial(c.strategy, 1, limit, dir, time.Hour)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, %v; want %+v", c.name, got, err, c.want)
		}
	}
}

func TestCensusOf(t *testing.T) {
	want := interleave.Census{Goroutines: 2, Callbacks: 1, Driver: true, All: 5}
	for _, c := range []struct {
		text string
		ok   bool
	}{
		{"G3 x\nschedule 2 switches\n" + want.String() + "\n\ntrace\n     g1 (driver)     g3     g4   \n", true},
		{"G3 x\n\ntrace\n     g3     g4   \n", false},
		{"", false},
	} {
		got, err := censusOf(c.text)
		if (err == nil) != c.ok || c.ok && got != want {
			t.Errorf("%q: got %+v, %v; want %+v: %v", c.text, got, err, want, c.ok)
		}
	}
}

func TestStrategyNames(t *testing.T) {
	all, err := strategyNames("")
	if err != nil || !slices.Contains(all, exhaustive) || !slices.Contains(all, promised) {
		t.Errorf("got %v, %v; want all strategies, with %s and %s", all, err, exhaustive, promised)
	}
	if _, err := strategyNames("pct3,fast"); err == nil || !strings.Contains(err.Error(), `"fast"`) {
		t.Errorf("got %v, want an error that names fast", err)
	}
}

// TestAnErrorOfTheLaneIsNoMiss: a hunt that fails leaves no cell.
func TestAnErrorOfTheLaneIsNoMiss(t *testing.T) {
	var r strategyRow
	err := r.run(t.Context(), failing{&fake{}}, r.lacks([]string{"walk"}, 3, 100))
	if !errors.Is(err, errNoLane) || len(r.Cells) > 0 {
		t.Errorf("got %v and cells %v, want %v and none", err, r.Cells, errNoLane)
	}
}

var errNoLane = errors.New("no lane")

type failing struct{ *fake }

func (failing) hunt(context.Context, string, int, int) (trial, error) { return trial{}, errNoLane }
