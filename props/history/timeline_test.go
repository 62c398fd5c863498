package history_test

import (
	"slices"
	"strings"
	"testing"

	"eventide/internal/timeline"
	"eventide/props/history"
)

// TestTimelinesOfKeptTraces: the page can draw each kept trace, and each violation in one of
// them has exactly one row where the rule is broken.
func TestTimelinesOfKeptTraces(t *testing.T) {
	for name, tr := range traces(t) {
		h, err := history.Of(tr.Events, tr.Rules)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range append(h.Violations(), history.Violation{}) {
			l := h.Timeline(v)
			if _, err := l.HTML(); err != nil {
				t.Errorf("%s, %v: %v", name, v, err)
			}
			broken := slices.DeleteFunc(slices.Clone(l.Rows), func(r timeline.Row) bool { return r.Kind != timeline.Breach })
			if want := min(1, len(v.Text)); len(broken) != want {
				t.Errorf("%s, %v: %d rows are marked as the breach, want %d", name, v, len(broken), want)
			}
		}
	}
}

// TestTimelineOfAStepBack: the band shows the furthest state, the row the step that was made.
func TestTimelineOfAStepBack(t *testing.T) {
	h := mustIndex(t, []history.Event{
		{G: 5, Kind: history.Transit, From: history.NotStarted, To: history.Shutdown},
		{G: 5, Kind: history.Transit, From: history.Shutdown, To: history.Started},
	}, history.Rules{})
	v := h.Violations()[0]
	l := h.Timeline(v)
	last := l.Rows[len(l.Rows)-1]
	if v.Guarantee != "G1" || l.States[last.State] != "Shutdown" || last.Kind != timeline.Breach || !strings.Contains(last.Text, "Started") {
		t.Errorf("%v: the last row is %+v in the state %s, want the step to Started as the breach, in Shutdown", v, last, l.States[last.State])
	}
}

// TestNamesOfTheProgram: goroutines have the names that Name gives, and no other has one of them.
func TestNamesOfTheProgram(t *testing.T) {
	h := mustIndex(t, []history.Event{
		{G: 71, Kind: history.Observe, Op: history.OpDone, Outcome: history.False},
		{G: 72, Kind: history.Observe, Op: history.OpDone, Outcome: history.False},
		{G: 73, Kind: history.Observe, Op: history.OpDone, Outcome: history.False},
	}, history.Rules{})
	h.Name(map[int64]string{72: "g1", 71: "main"})
	if got, want := h.Timeline(history.Violation{}).Actors, []string{"main", "g1", "g2"}; !slices.Equal(got, want) {
		t.Errorf("the columns are %q, want %q", got, want)
	}
}

// TestBreachIsWhereTheRuleIsBroken: a task that is accepted and never runs breaks the rule at
// done, not where it was accepted; what never comes breaks it at the end of the log.
func TestBreachIsWhereTheRuleIsBroken(t *testing.T) {
	absent := 0
	for name, tr := range traces(t) {
		h, err := history.Of(tr.Events, tr.Rules)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range h.Violations() {
			rows := h.Timeline(v).Rows
			last, want := rows[len(rows)-1], ""
			switch {
			case v.Absent:
				absent++
				want = "the run has ended: " + v.Text
			case name == "bad-9603-task-lost-at-termination":
				want = "done"
			default:
				continue
			}
			if last.Kind != timeline.Breach || last.Text != want {
				t.Errorf("%s: the last row is %+v, want the breach, %q", name, last, want)
			}
		}
	}
	if absent == 0 {
		t.Error("no kept trace has a violation by absence: nothing was checked")
	}
}
