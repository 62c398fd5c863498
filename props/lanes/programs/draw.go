package programs

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"eventide/internal/timeline"
)

// Row is a row of a drawn run, with what orders it: a number that grows in the run, such as a stamp
// or a time.
type Row struct {
	Order int64
	timeline.Row
}

// Timeline returns a run as a timeline: the rows in their order, and behind them the first
// violation, as the breach, at the time at which the run has ended. Rows of the same order keep the
// order that they have in rows.
func Timeline(actors []string, rows []Row, violations []string, ended time.Duration) *timeline.Timeline {
	t := &timeline.Timeline{Title: "Nothing broke when the program ran again", Actors: actors}
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(a.Order, b.Order) })
	for _, row := range rows {
		t.Rows = append(t.Rows, row.Row)
	}
	if len(violations) > 0 {
		t.Title, t.Text = firstLine(violations[0]), strings.Join(violations, "\n")
		t.Rows = append(t.Rows, timeline.Row{At: ended.String(), Actor: -1, Text: "the run has ended: " + t.Title, Kind: timeline.Breach})
	}
	return t
}

// firstLine returns the first line of a violation without its time.
func firstLine(violation string) string {
	line, _, _ := strings.Cut(violation, "\n")
	_, text, _ := strings.Cut(strings.TrimSpace(line), "  ")
	return cmp.Or(text, line)
}
