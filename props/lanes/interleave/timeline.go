package interleave

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"eventide/internal/timeline"
	"eventide/internal/vocabulary"
	"eventide/props/history"
	"eventide/props/interleave/inprocess"
)

// Timeline returns the schedule, which must have a trace, as a timeline: a column for each
// goroutine, a row for each operation with the row whose change of the same object it saw,
// and the states of the executor.
func (f *Found) Timeline(replay string) *timeline.Timeline {
	t := &timeline.Timeline{
		Title: "One schedule, of " + f.Scenario.Name + ": nothing broke", Replay: replay, Program: f.Scenario.text(),
	}
	if f.Violation.Guarantee != "" {
		t.Title = f.Violation.String()
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s, time %v, %v, %d switches\n", f.Scenario.Name, f.Scenario.Time, f.Verdict, len(f.Switches))
	f.historyText(&text)
	t.Text = text.String()
	src, columns, changed := newSources(), map[int]int{}, map[int]int{} // the row of the last change, by object
	for i, e := range f.result.Trace {
		if e.G == inprocess.Clock {
			t.Rows = append(t.Rows, timeline.Row{Actor: -1, Text: fmt.Sprintf("the clock moves to %v", e.At)})
			continue
		}
		if _, known := columns[e.G]; !known {
			columns[e.G] = len(t.Actors)
			t.Actors = append(t.Actors, nameOf(e.G))
		}
		row := timeline.Row{Actor: columns[e.G], Text: opText(e) + "  " + e.Site, Detail: src.line(e.Site)}
		if at, known := changed[e.Object]; known && f.result.Trace[at].G != e.G {
			row.After = at + 1
		}
		switch {
		case e.Object != 0 && e.Write:
			changed[e.Object] = i
		case e.Object != 0:
			row.Kind = timeline.Minor
		}
		t.Rows = append(t.Rows, row)
	}
	f.states(t)
	if f.Violation.Guarantee != "" {
		steps, _ := f.breach()
		t.Rows[max(0, steps-1)].Kind = timeline.Breach
	}
	return t
}

// states sets the states of the rows from the executor's own Transit events. Groups and
// programs without a Tracer have no events, so their timelines have no states.
func (f *Found) states(t *timeline.Timeline) {
	marks := f.result.Marks
	if len(marks) != len(f.events) || len(f.events) == 0 {
		return
	}
	for s := vocabulary.NotStarted; s <= vocabulary.Terminated; s++ {
		t.States = append(t.States, s.String())
	}
	for i, e := range f.events {
		if e.Kind == history.Transit {
			for k := marks[i]; k < len(t.Rows); k++ {
				t.Rows[k].State = max(t.Rows[k].State, int(e.To))
			}
		}
	}
}

// writeTimeline writes the page, if -html names a file. An error is printed, and does
// not change the exit code.
func (s settings) writeTimeline(f *Found, replay string) {
	if s.html == "" || f == nil || f.result == nil || len(f.result.Trace) == 0 {
		return
	}
	page, err := f.Timeline(replay).Page()
	if err == nil {
		err = os.MkdirAll(filepath.Dir(s.html), 0o755)
	}
	if err == nil {
		err = os.WriteFile(s.html, page, 0o644)
	}
	if err != nil {
		fmt.Fprintln(s.err, "lane: the timeline could not be written:", err)
	}
}

// sample runs one schedule of a small scenario, for the timeline of a run in which
// nothing broke.
func (e *exploration) sample() *Found {
	if e.html == "" {
		return nil
	}
	sc, err := find("execute|graceful(0,0)|warm")
	if err != nil {
		panic(err) // the name is a constant
	}
	st, err := newStrategy("pct3", e.seed)
	if err != nil || !st.Begin() {
		return nil
	}
	x := NewExplorer()
	x.Options = e.x.Options
	r, out := x.run(sc, st, true)
	return &Found{Scenario: sc, Switches: append([]inprocess.Switch(nil), r.Switches...), Verdict: r.Verdict, events: slices.Clone(out.Events), result: r}
}
