package driver

import (
	"slices"
	"testing"

	"eventide/props/interleave/protocol"
)

// Goroutine 1 has the name of the test, even if it has ended and its first operation is
// one of package testing.
func TestColumnOfTheTest(t *testing.T) {
	f := &found{
		ops: []protocol.Op{
			{Goroutine: 1, Name: "now", Func: "testing.highPrecisionTimeNow"},
			{Goroutine: 2, Name: "lock", Func: "example.com/x.(*T).serve"},
		},
		born: map[uint64]string{1: "testing.tRunner", 2: "example.com/x.New.gowrap1"},
	}
	names := map[uint64]string{}
	for _, l := range newTimeline(f, "TestServe", &sourceLines{}).lanes {
		names[l.number] = l.name
	}
	if names[1] != "TestServe" || names[2] != "(*T).serve" {
		t.Errorf("columns are %v, want TestServe and (*T).serve", names)
	}
}

// Lines of other modules are left out, but for those at which the turn was taken away.
func TestRowsOfOtherModules(t *testing.T) {
	rows := []row{{file: "/m/a.go", line: 1}, {file: "/dep/b.go", line: 2}, {file: "/dep/b.go", line: 3, moved: true}, {file: "/dep/b.go", line: 3},
		{file: "/dep/b.go", line: 4, note: waitsForEver}, {file: "/m/a.go", line: 5}, {file: "/m/a.go", line: 6}}
	lines := func(rows []row) (all []uint64) {
		for _, r := range rows {
			all = append(all, r.line)
		}
		return all
	}
	some := &timeline{rows: slices.Clone(rows)}
	some.keepOwn("/m")
	if got := lines(some.rows); !slices.Equal(got, []uint64{1, 3, 3, 4, 5, 6}) || some.others != 1 {
		t.Errorf("rows %v are left, %d are not", got, some.others)
	}
	all := &timeline{rows: slices.Clone(rows)}
	all.keepOwn("/other")
	if len(all.rows) != len(rows) {
		t.Errorf("%d rows are left of a module that has none, want %d", len(all.rows), len(rows))
	}
}

// A row has what its first operations found.
func TestValuesOfARow(t *testing.T) {
	r := row{}
	for _, v := range []string{"", "3", "", "closed, 1 of 2", "4", "5", "6"} {
		r.found(v)
	}
	if want := "3; closed, 1 of 2; 4; 5"; r.value != want {
		t.Errorf("got %q, want %q", r.value, want)
	}
}
