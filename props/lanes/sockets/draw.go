//go:build linux

package sockets

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"eventide/internal/timeline"
)

// Draw runs a program as Run does, and returns the run as a timeline: a column for each
// connection, a row for each call of its handler and each completion of its futures, and at the
// end the first violation. violated reports whether there was one. drawn is nil if the program
// cannot begin.
func Draw(p Program) (drawn *timeline.Timeline, violated bool) {
	r, err := runOf(p)
	if err != nil {
		return nil, true
	}
	return r.draw(), len(r.violations) > 0
}

// drawnRow is a row with the stamp that orders it.
type drawnRow struct {
	stamp int64
	timeline.Row
}

func (r *run) draw() *timeline.Timeline {
	t := &timeline.Timeline{Title: "Nothing broke when the program ran again"}
	var rows []drawnRow
	for _, c := range r.conns {
		c.mu.Lock()
		for _, e := range c.events {
			rows = append(rows, drawnRow{e.stamp, timeline.Row{At: e.at.String(), Actor: c.nth, Text: e.name}})
		}
		c.mu.Unlock()
		t.Actors = append(t.Actors, fmt.Sprintf("connection %d", c.nth))
	}
	for text, stamp := range map[string]int64{
		"the shutdown is called": r.shutdown.Load(), "the shutdown calls have returned": r.refused,
		"Quiesce is called": r.quiesced.Load(), "the listener is closed": r.listenerClosed.Load(),
	} {
		if stamp > 0 {
			rows = append(rows, drawnRow{stamp, timeline.Row{Actor: -1, Text: text}})
		}
	}
	slices.SortFunc(rows, func(a, b drawnRow) int { return cmp.Or(cmp.Compare(a.stamp, b.stamp), cmp.Compare(a.Text, b.Text)) })
	for _, row := range rows {
		t.Rows = append(t.Rows, row.Row)
	}
	if len(r.violations) > 0 {
		t.Title, t.Text = firstLine(r.violations[0]), strings.Join(r.violations, "\n")
		t.Rows = append(t.Rows, timeline.Row{At: time.Since(r.start).String(), Actor: -1, Text: "the run has ended: " + t.Title, Kind: timeline.Breach})
	}
	return t
}

// firstLine returns the first line of a violation without its time.
func firstLine(violation string) string {
	line, _, _ := strings.Cut(violation, "\n")
	_, text, _ := strings.Cut(strings.TrimSpace(line), "  ")
	return cmp.Or(text, line)
}
