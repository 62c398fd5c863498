package exectest

import (
	"fmt"
	"strings"
	"time"

	"eventide/props/history"
)

// unit is the grain of the programs' times. It is long enough to be distinct from
// scheduling noise in real time.
const unit = 10 * time.Millisecond

// program is what several goroutines, the actors, do with a fresh subject. They are
// started in the order of the slice, which matters.
type program struct {
	actors [][]step
}

// step is one call, after a pause.
type step struct {
	pause          time.Duration
	yields         int // runtime.Gosched, after the pause
	op             history.Op
	id             int           // label of the submission, or of the one to cancel, move or remove
	delay          time.Duration // OpSchedule and OpReset
	movable        bool          // OpSchedule: through Resetter, if the subject has it
	quiet, timeout time.Duration // OpShutdownGracefully
	body           body          // of the submission
}

// body is what a task, timer or hook does.
type body struct {
	takes time.Duration
	then  []step
	ends  history.Outcome // Panicked, Exited, or anything else for normal
}

// labels generates labels that are unique in a program.
type labels int

func (l *labels) next() int {
	*l++
	return int(*l)
}

// rest returns how long to wait, in the program's time, until a correct executor has
// nothing left to do.
func (p program) rest() time.Duration {
	sum := 100 * unit
	p.each(func(s *step) {
		sum += s.pause + s.delay + s.quiet + s.body.takes
		if s.timeout < time.Hour {
			sum += s.timeout
		}
	})
	return 2 * sum
}

// rest returns how long a run of the program waits for Done. In a bubble the time that the
// program needs is exact. In real time a busy machine may delay everything, so the run
// waits for half of the kit's patience, unless the subject does not promise to terminate.
func (c *config) rest(p program) time.Duration {
	if c.realTime && !c.chosen && c.judges("G15") {
		return max(p.rest(), c.patience/2)
	}
	return p.rest()
}

// linger returns how long a run waits after Done, so that bodies that wrongly still run
// are recorded.
func (c *config) linger(p program) time.Duration {
	if c.realTime {
		return unit
	}
	sum := unit
	p.each(func(s *step) { sum += s.body.takes })
	return sum
}

// each visits every step, including the steps of bodies.
func (p program) each(visit func(*step)) {
	for _, steps := range p.actors {
		eachStep(steps, visit)
	}
}

func eachStep(steps []step, visit func(*step)) {
	for i := range steps {
		visit(&steps[i])
		eachStep(steps[i].body.then, visit)
	}
}

// String returns the program on one line: g1: +10ms execute(1 takes 5ms); ...
func (p program) String() string {
	var actors []string
	for i, steps := range p.actors {
		if len(steps) > 0 {
			actors = append(actors, fmt.Sprintf("g%d: %s", i+1, stepsText(steps, maxDepth)))
		}
	}
	return strings.Join(actors, " | ")
}

// The text of a program shows this many steps in a row, and bodies to this depth.
const (
	maxSteps = 8
	maxDepth = 3
)

func stepsText(steps []step, depth int) string {
	var texts []string
	for i, s := range steps {
		if i == maxSteps {
			texts = append(texts, fmt.Sprintf("and %d more", len(steps)-i))
			break
		}
		texts = append(texts, s.text(depth))
	}
	return strings.Join(texts, "; ")
}

func (s step) text(depth int) string {
	var args []string
	if s.id != 0 {
		args = append(args, fmt.Sprint(s.id))
	}
	if s.op == history.OpSchedule || s.op == history.OpReset {
		args = append(args, "in "+s.delay.String())
	}
	if s.op == history.OpShutdownGracefully {
		args = append(args, "quiet "+s.quiet.String(), "timeout "+s.timeout.String())
	}
	if s.body.takes > 0 {
		args = append(args, "takes "+s.body.takes.String())
	}
	if s.body.ends.Abrupt() {
		args = append(args, s.body.ends.String())
	}
	switch {
	case len(s.body.then) > 0 && depth > 1:
		args = append(args, "{"+stepsText(s.body.then, depth-1)+"}")
	case len(s.body.then) > 0:
		args = append(args, "{...}")
	}
	text := s.op.String() + "(" + strings.Join(args, " ") + ")"
	if s.yields > 0 {
		text = fmt.Sprintf("yield %d times, %s", s.yields, text)
	}
	if s.pause > 0 {
		text = "+" + s.pause.String() + " " + text
	}
	return text
}
