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

// note is something that happened in a run.
type note struct {
	at   time.Duration
	who  string // a name of actors; another one: nobody's
	what string
}

// note records what happens now.
func (r *run) note(who, format string, args ...any) {
	n := note{time.Since(r.began), who, fmt.Sprintf(format, args...)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, n)
}

// nobody is who makes what comes from outside, such as a signal.
const nobody = ""

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
	for _, n := range r.notes {
		rows = append(rows, programs.Row{Order: int64(n.at), Row: timeline.Row{At: n.at.String(), Actor: slices.Index(actors, n.who), Text: n.what}})
	}
	return programs.Timeline(actors, rows, r.violations, r.took)
}
