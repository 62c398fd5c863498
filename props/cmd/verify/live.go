package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"eventide/props/lane"
)

// live is the progress: one line that rewrites itself on a terminal, lines of
// JSON otherwise.
type live struct {
	out      io.Writer
	terminal bool

	mu      sync.Mutex
	printed time.Time
	states  int
	mutants int // planted bugs that are through
	planted int // of so many; 0: they have not begun
	last    lane.Result
	real    int // runs in real time
	rate    float64
	left    func() estimate

	shadows   int // programs of the lanes over a model
	schedules int // of the interleave lane
	classes   int
	coverage  lane.Coverage
}

func newLive(out io.Writer, left func() estimate) *live {
	l := &live{out: out, left: left}
	if f, ok := out.(*os.File); ok {
		info, err := f.Stat()
		l.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return l
}

// set changes the figures and prints them if it is time.
func (l *live) set(change func(*live)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(l)
	l.print(false)
}

// lane takes the figures of a line of the lane.
func (l *live) lane(r lane.Result) {
	l.set(func(l *live) {
		l.last = r
		if r.Seconds > 0 {
			l.rate = float64(r.Runs) / r.Seconds
		}
	})
}

// end prints the last figures and leaves the line.
func (l *live) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.print(true)
	if l.terminal {
		fmt.Fprintln(l.out)
	}
}

// interval is how far apart the lines of JSON are.
const interval = 5 * time.Second

func (l *live) print(always bool) {
	c := &l.coverage
	if l.terminal {
		fmt.Fprintf(l.out, "\r\x1b[Kvirtual %7.0f runs/s  runs %d  real %d  models %d  schedules %d (new %.0f%%, unseen %.0f%%, actions %d/%d, pairs %d/%d)  model states %d  mutants %d of %d  failures %d  left %v",
			l.rate, l.last.Runs, l.real, l.shadows,
			l.schedules, 100*c.NewClassRate, 100*c.Unseen, c.Actions.Hit, c.Actions.Of, c.Conflicts.Hit, c.Conflicts.Of, l.states, l.mutants, l.planted, len(l.last.Failed), l.left())
		return
	}
	if !always && time.Since(l.printed) < interval {
		return
	}
	l.printed = time.Now()
	lane := "virtual"
	if l.planted > 0 {
		lane = "mutants"
	}
	left := l.left()
	line, err := json.Marshal(map[string]any{
		"lane": lane, "runs_per_s": int(l.rate), "runs": l.last.Runs, "real_runs": l.real, "model_programs": l.shadows, "schedules": l.schedules,
		"classes": l.classes, "new_class_rate": c.NewClassRate, "unseen": c.Unseen, "pct": c.PCT, "state_actions": c.Actions.Hit, "conflicting_pairs": c.Conflicts.Hit, "model_states": l.states,
		"mutants": l.mutants, "mutants_of": l.planted, "failures": len(l.last.Failed), "left_s": left.seconds(), "left_at_least": left.atLeast,
	})
	if err == nil {
		fmt.Fprintf(l.out, "%s\n", line)
	}
}
