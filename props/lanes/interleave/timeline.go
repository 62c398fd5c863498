package interleave

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"eventide/internal/timeline"
	"eventide/props"
	"eventide/props/history"
	"eventide/props/interleave/inprocess"
)

// Timeline returns the schedule, which must have a trace, as a timeline: a column for each
// goroutine, a row for each operation with the row whose change of the same object it saw, and
// between them the events of the history and the states of the executor.
func (f *Found) Timeline(replay string) *timeline.Timeline {
	t := &timeline.Timeline{
		Title: "One schedule, of " + f.Scenario.Name + ": nothing broke", Replay: replay, Program: f.Scenario.text(),
		Text: fmt.Sprintf("%s, time %v, %v, %d switches", f.Scenario.Name, f.Scenario.Time, f.Verdict, len(f.Switches)),
	}
	d := &drawing{f: f, Timeline: t, src: newSources(), names: f.names(), columns: map[string]int{}, changed: map[int]int{}, rowOf: make([]int, len(f.result.Trace))}
	events := d.events()
	if f.Violation.Guarantee != "" {
		t.Title = f.Violation.String()
		if _, lines := f.breach(); lines > 0 && lines <= len(events) {
			events[lines-1].Kind = timeline.Breach
		}
	}
	for i := range f.result.Trace {
		for ; len(events) > 0 && events[0].mark <= i; events = events[1:] {
			d.event(events[0])
		}
		d.operation(i)
	}
	for ; len(events) > 0; events = events[1:] {
		d.event(events[0])
	}
	if last := &t.Rows[len(t.Rows)-1]; f.Violation.Guarantee != "" && len(f.events) == 0 {
		last.Kind = timeline.Breach // the run itself returned the violation
	}
	return t
}

// drawing is a timeline while Timeline makes it.
type drawing struct {
	*timeline.Timeline
	f       *Found
	src     *sources
	names   map[int]string
	columns map[string]int
	changed map[int]int // the operation that last changed an object
	rowOf   []int       // the number of the row of each operation
	state   int         // of the executor
}

// column returns the column of an actor.
func (d *drawing) column(name string) int {
	at, known := d.columns[name]
	if !known {
		at = len(d.Actors)
		d.columns[name] = at
		d.Actors = append(d.Actors, name)
	}
	return at
}

// operation adds the row of an operation.
func (d *drawing) operation(i int) {
	e := d.f.result.Trace[i]
	row := timeline.Row{Actor: -1, Text: fmt.Sprintf("the clock moves to %v", e.At), State: d.state}
	if e.G != inprocess.Clock {
		row.Actor, row.Text, row.Detail = d.column(d.names[e.G]), opText(e)+"  "+e.Site, d.src.line(e.Site)
		if at, known := d.changed[e.Object]; known && d.f.result.Trace[at].G != e.G {
			row.After = d.rowOf[at]
		}
		switch {
		case e.Object != 0 && e.Write:
			d.changed[e.Object] = i
		case e.Object != 0:
			row.Kind = timeline.Minor
		}
	}
	d.Rows = append(d.Rows, row)
	d.rowOf[i] = len(d.Rows)
}

// markedEvent is a row of the history, with the length of the trace when it was written.
type markedEvent struct {
	timeline.Row
	name  string // of the actor
	mark  int
	event history.Event
}

// events returns the rows of the history, in order. Groups and programs without a Tracer have no
// history, so their timelines have no events and no states.
func (d *drawing) events() (all []markedEvent) {
	f, marks := d.f, d.f.result.Marks
	h, err := history.Of(f.events, props.RulesIn(f.Scenario.lane(), f.Scenario.Program))
	if len(marks) != len(f.events) || len(f.events) == 0 || err != nil {
		return nil
	}
	h.Name(f.Scenario.Program.NamesOf(f.goroutines))
	named := h.Goroutines()
	drawn := h.Timeline(f.Violation)
	d.States = drawn.States
	heading := map[string]string{} // the driver has a longer name here
	for _, name := range d.names {
		heading[strings.TrimSuffix(name, driverSuffix)] = name
	}
	for i, e := range f.events {
		if drawn.Rows[i].Kind == timeline.Breach {
			drawn.Rows[i].Kind = timeline.Cited // Timeline marks the event after which the history shows the violation
		}
		name := named[e.G]
		if full := heading[name]; full != "" {
			name = full
		}
		all = append(all, markedEvent{drawn.Rows[i], name, marks[i], e})
	}
	return all
}

// event adds the row of an event of the history.
func (d *drawing) event(m markedEvent) {
	if m.event.Kind == history.Transit && len(d.States) > 0 {
		d.state = max(d.state, int(m.event.To))
	}
	row := m.Row
	row.Actor, row.State = d.column(m.name), d.state
	d.Rows = append(d.Rows, row)
}

// hasTrace reports whether Timeline can be called. f may be nil.
func (f *Found) hasTrace() bool { return f != nil && f.result != nil && len(f.result.Trace) > 0 }

// saveTimeline saves the timeline of a failure beside its case, for the page of make verify. An
// error is printed, and does not change the exit code.
func (s settings) saveTimeline(f *Found, replay, path string) {
	if !f.hasTrace() {
		return
	}
	if err := f.Timeline(replay).Save(strings.TrimSuffix(path, filepath.Ext(path)) + timeline.Extension); err != nil {
		fmt.Fprintln(s.err, "lane: the timeline could not be saved:", err)
	}
}

// writeTimeline writes the page, if -html names a file. An error is printed, and does
// not change the exit code.
func (s settings) writeTimeline(f *Found, replay string) {
	if s.html == "" || !f.hasTrace() {
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
	return &Found{Scenario: sc, Switches: append([]inprocess.Switch(nil), r.Switches...), Verdict: r.Verdict, events: slices.Clone(out.Events), goroutines: out.Goroutines, result: r}
}
