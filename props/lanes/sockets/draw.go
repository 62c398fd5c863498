//go:build linux

package sockets

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"eventide/internal/timeline"
	"eventide/props/lanes/programs"
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

func (r *run) draw() *timeline.Timeline {
	var actors []string
	var rows []programs.Row
	for _, c := range r.conns {
		c.mu.Lock()
		for _, e := range c.events {
			rows = append(rows, programs.Row{Order: e.stamp, Row: timeline.Row{At: e.at.String(), Actor: c.nth, Text: e.name}})
		}
		c.mu.Unlock()
		actors = append(actors, fmt.Sprintf("connection %d", c.nth))
	}
	for text, stamp := range map[string]int64{
		"the shutdown is called": r.shutdown.Load(), "the shutdown calls have returned": r.refused,
		"Quiesce is called": r.quiesced.Load(), "the listener is closed": r.listenerClosed.Load(),
	} {
		if stamp > 0 {
			rows = append(rows, programs.Row{Order: stamp, Row: timeline.Row{Actor: -1, Text: text}})
		}
	}
	slices.SortFunc(rows, func(a, b programs.Row) int { return cmp.Compare(a.Text, b.Text) }) // the order within a stamp
	return programs.Timeline(actors, rows, r.violations, time.Since(r.start))
}
