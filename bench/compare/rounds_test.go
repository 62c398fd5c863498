package compare

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"eventide/bench"
)

// scripted is a runner that writes down when it runs, and takes what it is told.
type scripted struct {
	name    string
	journal *[]string
	nsPerOp time.Duration
	err     error
}

func (s scripted) Run(n int) (bench.Slice, error) {
	*s.journal = append(*s.journal, fmt.Sprintf("%s %d", s.name, n))
	return bench.Slice{Ops: n, Elapsed: time.Duration(n) * s.nsPerOp}, s.err
}

func (s scripted) Close() error {
	*s.journal = append(*s.journal, s.name+" closed")
	return nil
}

// scriptedGroup compares a with b; c stands alone.
func scriptedGroup(journal *[]string) bench.Group {
	var g bench.Group
	for _, s := range []scripted{{"a", journal, 20, nil}, {"b", journal, 10, nil}, {"c", journal, 5, nil}} {
		against := "b"
		if s.name == "c" {
			against = ""
		}
		g = append(g, bench.Case{
			Workload: "W/k=1", Impl: s.name, Against: against, Unit: "op", MinOps: 3,
			Open: func() (bench.Runner, error) { return s, nil },
		})
	}
	return g
}

func options(g bench.Group, run string) Options {
	return Options{Groups: []bench.Group{g}, Run: regexp.MustCompile(run), Rounds: MinRounds, Slice: time.Nanosecond}
}

// TestRoundsAreInterleaved: A B C, C B A, ..., each with as many operations as what
// it is compared with, and all are closed.
func TestRoundsAreInterleaved(t *testing.T) {
	var journal []string
	r, err := Measure(options(scriptedGroup(&journal), ""))
	if err != nil {
		t.Fatal(err)
	}
	const cases = 3
	end := len(journal) - cases
	if closed := journal[end:]; !slices.Equal(closed, []string{"a closed", "b closed", "c closed"}) {
		t.Errorf("at the end: got %v, want each closed once", closed)
	}
	measured := strings.Join(journal[end-MinRounds*cases:end], ", ")
	want := strings.Repeat("a 3, b 3, c 3, c 3, b 3, a 3, ", MinRounds/2)
	if measured+", " != want {
		t.Errorf("rounds: got %s\nwant %s", measured, want)
	}
	rows := r.Rows()
	if got := rows[0]; got.Ratio != 2 || got.Low != 2 || got.High != 2 || got.Median != 20 || got.Rounds != MinRounds {
		t.Errorf("a takes twice as long as b, always: got %+v", got)
	}
	if got := rows[2]; got.Ratio != 0 {
		t.Errorf("c is compared with nothing: got %+v", got)
	}
}

func TestRunChoosesTheReferenceToo(t *testing.T) {
	for run, want := range map[string]string{"impl=a": "a b", "impl=b": "b", "impl=c": "c", "W": "a b c", "nothing": ""} {
		var journal []string
		r, err := Measure(options(scriptedGroup(&journal), run))
		if err != nil {
			t.Fatal(err)
		}
		var impls []string
		for _, s := range r {
			impls = append(impls, s.Impl)
		}
		if got := strings.Join(impls, " "); got != want {
			t.Errorf("-run %s: got %q, want %q", run, got, want)
		}
	}
}

func TestMeasureReportsErrors(t *testing.T) {
	var journal []string
	g := scriptedGroup(&journal)
	broken := errors.New("broken")
	g[2].Open = func() (bench.Runner, error) { return scripted{"c", &journal, 1, broken}, nil }
	if _, err := Measure(options(g, "")); !errors.Is(err, broken) || !strings.Contains(err.Error(), "W/impl=c/k=1") {
		t.Errorf("a case that fails: got %v, want its error and its name", err)
	}
	g[2].Open = func() (bench.Runner, error) { return nil, broken }
	if _, err := Measure(options(g, "")); !errors.Is(err, broken) {
		t.Errorf("a case that cannot be opened: got %v, want its error", err)
	}
	if closed := journal[len(journal)-2:]; !slices.Equal(closed, []string{"a closed", "b closed"}) {
		t.Errorf("then the others are closed: got %v", closed)
	}
	few := options(g, "")
	few.Rounds = MinRounds - 1
	if _, err := Measure(few); err == nil {
		t.Errorf("%d rounds: got no error", few.Rounds)
	}
}

// TestMeasuresTheRealThing is a run of everything that has a limit, as short as it
// goes.
func TestMeasuresTheRealThing(t *testing.T) {
	o := Options{
		Groups: bench.Groups([]int{10, 100}), Run: regexp.MustCompile(`impl=core/producers|(RoundTrip|ShutdownIdle)/impl=core$|ScheduleCancel/impl=core/`),
		Rounds: MinRounds, Slice: 50 * time.Microsecond,
	}
	r, err := Measure(o)
	if err != nil {
		t.Fatal(err)
	}
	rows := r.Rows()
	if got, want := len(RatioTargets(rows)), 8; got != want {
		t.Errorf("got %d ratios with a limit, want %d", got, want)
	}
	if got, want := len(GrowthTargets(Growths(rows))), 2; got != want {
		t.Errorf("got %d curves with a limit, want %d", got, want)
	}
	for _, row := range rows {
		if row.Median <= 0 || row.Rounds != MinRounds || row.Low > row.Ratio || row.Ratio > row.High {
			t.Errorf("got row %+v, want a positive median and a ratio inside its interval", row)
		}
	}
}
