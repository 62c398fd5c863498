// Package timeline shows what the goroutines of a program did, in order, as part of an
// HTML page: a column for each actor, a row for each event, and the event that breaks a
// rule marked. It knows neither executors nor schedulers; the owner of a trace converts it
// to a Timeline. A Timeline is JSON too, so that the program that has the trace need not be
// the one that draws it.
package timeline

import (
	"encoding/json"
	"fmt"
	"os"
)

// Timeline is one run of a program. A Timeline is a value: no function of this package
// changes one.
type Timeline struct {
	Title   string   `json:"title"`             // one sentence: what broke, or what the run shows
	Text    string   `json:"text,omitempty"`    // more about it; the lines are kept
	Replay  string   `json:"replay,omitempty"`  // the command that repeats the run
	Program string   `json:"program,omitempty"` // what ran; the lines are kept
	Actors  []string `json:"actors"`            // the columns, named as in the program
	States  []string `json:"states,omitempty"`  // all states, in the only order in which they may follow; none: there is no column of states
	Rows    []Row    `json:"rows"`
}

// Row is one event.
type Row struct {
	At     string `json:"at,omitempty"`     // when, on the clock of the program
	Actor  int    `json:"actor"`            // index of its column; -1: nobody's, such as a step of the clock
	Text   string `json:"text"`             // what happened
	Detail string `json:"detail,omitempty"` // shown when the row is opened: the source line, the arguments
	State  int    `json:"state,omitempty"`  // index of the state from this row on
	Kind   Kind   `json:"kind,omitempty"`
	After  int    `json:"after,omitempty"` // the number of the row, from 1, whose effect this one saw; 0: not known
}

// Kind says how a row is shown.
type Kind string

// The kinds.
const (
	Plain  Kind = ""       // an event
	Minor  Kind = "minor"  // an event that changed nothing, such as a load; rows of one actor in succession are folded into one
	Switch Kind = "switch" // the scheduler took the turn from the actor
	Cited  Kind = "cited"  // an event that the rule is about
	Breach Kind = "breach" // the event at which the rule is broken; at most one
)

// Check returns an error that names the first thing that cannot be: a column or a state
// that does not exist, a state before its predecessor, an effect seen before its cause, a
// second breach. Page refuses such a timeline, because a picture of it would lie.
func (t *Timeline) Check() error {
	state, breaches := 0, 0
	for i, r := range t.Rows {
		n := i + 1
		switch {
		case r.Actor < -1 || r.Actor >= len(t.Actors):
			return fmt.Errorf("timeline: row %d is in column %d, want -1 to %d", n, r.Actor, len(t.Actors)-1)
		case r.State < 0 || r.State > 0 && r.State >= len(t.States):
			return fmt.Errorf("timeline: row %d has state %d, want 0 to %d", n, r.State, len(t.States)-1)
		case r.State < state:
			return fmt.Errorf("timeline: the state goes back from %s to %s in row %d", t.States[state], t.States[r.State], n)
		case r.After < 0 || r.After >= n:
			return fmt.Errorf("timeline: row %d saw the effect of row %d, want an earlier row", n, r.After)
		}
		state = r.State
		switch r.Kind {
		case Plain, Minor, Switch, Cited:
		case Breach:
			if breaches++; breaches > 1 {
				return fmt.Errorf("timeline: row %d is a second breach, want at most one", n)
			}
		default:
			return fmt.Errorf("timeline: row %d is of kind %q, want one of %q", n, r.Kind, []Kind{Plain, Minor, Switch, Cited, Breach})
		}
	}
	return nil
}

// Extension is how the name of a file with a timeline ends.
const Extension = ".timeline.json"

// Save writes the timeline to a file as JSON.
func (t *Timeline) Save(path string) error {
	data, err := json.MarshalIndent(t, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

// Load reads what Save wrote. The error names the file.
func Load(path string) (*Timeline, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var t Timeline
	if err := json.Unmarshal(data, &t); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := t.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &t, nil
}
