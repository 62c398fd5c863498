package history

import (
	"slices"

	"eventide/internal/timeline"
	"eventide/internal/vocabulary"
)

// Timeline returns the log as a timeline with a column for each goroutine, for a page. The
// events that the violation cites are marked, the decisive one as the breach. If the breach
// is that an event is absent, a row at the end of the log marks it. With the zero Violation
// no event is marked, and the title states that there was no violation.
func (h *History) Timeline(v Violation) *timeline.Timeline {
	names := h.Goroutines()
	order := sortedNames(names)
	t := &timeline.Timeline{Title: v.String(), Actors: order}
	if v.Text == "" {
		t.Title = "Nothing broke in this run"
	}
	if len(h.moves) > 0 { // the executor writes its states into the log
		for s := vocabulary.NotStarted; s <= vocabulary.Terminated; s++ {
			t.States = append(t.States, s.String())
		}
	}
	state := 0
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind == Transit {
			state = max(state, int(e.To)) // the band never goes back; the text of the row shows an illegal move
		}
		t.Rows = append(t.Rows, timeline.Row{
			At: e.At.String(), Actor: slices.Index(order, names[e.G]), Text: h.cell(e),
			State: state, Kind: v.kindOf(e),
		})
	}
	if v.Text != "" && v.absent() {
		t.Rows = append(t.Rows, timeline.Row{Actor: -1, Text: "the run has ended: " + v.Text, State: state, Kind: timeline.Breach})
	}
	return t
}

// absent reports whether the breach is the absence of an event.
func (v Violation) absent() bool { return v.Absent || len(v.At) == 0 }

// kindOf returns how the timeline shows the event.
func (v Violation) kindOf(e *Event) timeline.Kind {
	switch i := slices.Index(v.At, e.N); {
	case i == len(v.At)-1 && i >= 0 && !v.absent():
		return timeline.Breach
	case i >= 0:
		return timeline.Cited
	case e.Kind == Sample || e.Kind == Admit:
		return timeline.Minor
	}
	return timeline.Plain
}
