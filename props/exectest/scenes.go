package exectest

import (
	"math/rand/v2"
	"strings"
	"time"

	"eventide/props/history"
)

// scene is a small program for a chosen schedule: waves of actors. A wave begins only
// when no goroutine of the wave before can run, so that no later call wakes the loop for
// a stranded task. The last wave shuts down.
type scene []program

// menu is the set of calls that a scene is drawn from, as far as the subject has them.
type menu struct {
	ops    []history.Op
	closer bool
	abrupt bool // bodies may panic
	moves  bool // timers may be moved
}

func menuOf(s Subject, c *config) menu {
	m := menu{ops: []history.Op{history.OpExecute, history.OpExecute, history.OpExecute, history.OpExecute}}
	if _, ok := s.(Submitter); ok {
		m.ops = append(m.ops, history.OpSubmit, history.OpSubmit)
	}
	if _, ok := s.(Scheduler); ok {
		m.ops = append(m.ops, history.OpSchedule)
	}
	if _, ok := s.(Hooker); ok {
		m.ops = append(m.ops, history.OpAddHook)
	}
	if _, ok := s.(Stater); ok {
		m.ops = append(m.ops, history.OpState)
	}
	_, m.closer = s.(Closer)
	_, m.moves = s.(Resetter)
	m.abrupt = c.judges("G14") && !c.panicsEscape
	return m
}

// drawScene draws a scene of one to three waves, with one to three actors each.
func drawScene(rng *rand.Rand, m menu) scene {
	var l labels
	var s scene
	at := time.Duration(0)
	for range pick(rng, 0, 1, 1, 2, 2) {
		s = append(s, m.wave(rng, &l, 1+rng.IntN(3), at))
		at += pick(rng, 0, idlePause(rng), idlePause(rng))
	}
	last := m.wave(rng, &l, rng.IntN(4), at)
	last.actors = append(last.actors, m.stops(rng, &l, at)...)
	rng.Shuffle(len(last.actors), func(i, j int) { last.actors[i], last.actors[j] = last.actors[j], last.actors[i] })
	return append(s, last)
}

// idlePause draws a round duration, such as those after which executors end idle
// goroutines.
func idlePause(rng *rand.Rand) time.Duration {
	return pick(rng, time.Millisecond, 10*time.Millisecond, 100*time.Millisecond, time.Second, time.Second, 2*time.Second, 2*time.Second, 5*time.Second, 10*time.Second)
}

// wave has n actors with one to three calls each. The first calls come at a round time
// after the construction of the subject, when one of its own timers may expire.
func (m menu) wave(rng *rand.Rand, l *labels, n int, at time.Duration) program {
	var p program
	for range n {
		var steps []step
		for range pick(rng, 1, 1, 2, 2, 3) {
			steps = append(steps, m.call(rng, l, steps)...)
		}
		steps[0].pause = at
		p.actors = append(p.actors, steps)
	}
	return p
}

// call draws a call, and sometimes those that move its timer or undo it.
func (m menu) call(rng *rand.Rand, l *labels, before []step) []step {
	s := step{op: m.ops[rng.IntN(len(m.ops))]}
	if s.op == history.OpState {
		return append([]step{s}, step{op: history.OpStats})
	}
	s.id, s.body = l.next(), m.body(rng, l)
	steps := []step{s}
	switch s.op {
	case history.OpSchedule:
		steps[0].delay = pick(rng, 0, 0, unit)
		if m.moves && rng.IntN(3) == 0 {
			steps[0].movable = true
			steps = append(steps, step{op: history.OpReset, id: s.id, pause: pick(rng, 0, steps[0].delay), delay: pick(rng, 0, unit, 3*unit)})
		}
		if rng.IntN(2) == 0 {
			steps = append(steps, step{op: history.OpCancel, id: s.id, pause: pick(rng, 0, steps[0].delay)})
		}
	case history.OpAddHook:
		if rng.IntN(2) == 0 {
			steps = append(steps, step{op: history.OpRemoveHook, id: s.id})
		}
	}
	return steps
}

// body is usually empty. It may yield, take time, submit a task, or end abruptly.
func (m menu) body(rng *rand.Rand, l *labels) body {
	switch rng.IntN(16) {
	case 0, 1, 2:
		return body{then: []step{{op: history.OpInLoop, yields: 1}}}
	case 3:
		return body{takes: unit}
	case 4, 5:
		return body{then: []step{execute1(l.next(), body{})}}
	case 6:
		if m.abrupt {
			return body{ends: pick(rng, history.Panicked, history.Exited)}
		}
	}
	return body{}
}

// stops returns one or two actors that shut down, directly or inside a task. Overlapping
// shutdown calls have equal arguments, because it cannot be seen from outside which call
// was the first.
func (m menu) stops(rng *rand.Rand, l *labels, at time.Duration) [][]step {
	quiet := pick(rng, 0, 0, 0, unit)
	stop := shutdown(0, quiet, quiet+pick(rng, 0, 50*unit, 50*unit))
	if m.closer && rng.IntN(4) == 0 {
		stop = step{op: history.OpShutdown}
	}
	var actors [][]step
	for range pick(rng, 1, 1, 2) {
		steps := []step{stop}
		if rng.IntN(4) == 0 {
			steps = []step{execute1(l.next(), body{then: []step{stop}}), stop}
		}
		steps[0].pause = at
		actors = append(actors, steps)
	}
	return actors
}

// String returns the programs of the waves.
func (s scene) String() string {
	var waves []string
	for _, p := range s {
		waves = append(waves, p.String())
	}
	return strings.Join(waves, "\n  then, when nothing can run: ")
}
