//go:build linux

package exits

import (
	"fmt"
	"slices"
	"time"

	"eventide/internal/timeline"
	"eventide/props/lanes/programs"
)

// Draw runs a program as Run does, and returns the run as a timeline: a column for Run, for each
// function of Start or Starts and for each step; a row for each begin and end of their functions,
// each signal, probe, line of the log and message to the service manager; and at the end the first
// violation. violated reports whether there was one.
func Draw(p Program) (drawn *timeline.Timeline, violated bool) {
	r := runOf(p)
	return r.draw(), len(r.violations) > 0
}

// event is one row of the timeline of a run.
type event struct {
	at   time.Duration
	who  string // a column: one of actors, or outside
	what string
}

// record adds an event of this moment.
func (r *run) record(who, format string, args ...any) {
	e := event{time.Since(r.began), who, fmt.Sprintf(format, args...)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// outside is the origin of events that no part of the plan makes, such as signals.
const outside = ""

// stepName and startName are the names of parts, in the plan and in a timeline. A plan has
// Start, or Starts with names.
func stepName(i int) string { return fmt.Sprint("step ", i) }
func (p *Program) startName(i int) string {
	if p.Start != nil {
		return "Start"
	}
	return fmt.Sprint(i)
}

// actors returns the columns of a timeline.
func (p *Program) actors() []string {
	all := []string{"Run"}
	for i := range p.starts() {
		all = append(all, p.startName(i))
	}
	if p.NotReady >= 0 {
		all = append(all, "NotReady")
	}
	for i := range p.Steps {
		all = append(all, stepName(i))
	}
	return all
}

// draw is called after the run.
func (r *run) draw() *timeline.Timeline {
	actors := r.p.actors()
	var rows []programs.Row
	for _, e := range r.events {
		rows = append(rows, programs.Row{Order: int64(e.at), Row: timeline.Row{At: e.at.String(), Actor: slices.Index(actors, e.who), Text: e.what}})
	}
	return programs.Timeline(actors, rows, r.violations, r.took)
}
