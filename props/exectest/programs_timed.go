package exectest

import (
	"math/rand/v2"
	"time"

	"eventide/props/history"
)

// The programs of the guarantees about hooks, timers and futures.

// hooked adds hooks before and during the shutdown, from outside, from tasks
// and from hooks, removes some, and lets some panic.
func hooked(rng *rand.Rand, round int) program {
	var l labels
	var steps []step
	for range 1 + rng.IntN(4) {
		s := step{op: history.OpAddHook, id: l.next(), body: body{takes: pick(rng, 0, unit/4)}}
		switch rng.IntN(6) {
		case 0:
			s.body.ends = history.Panicked
		case 1:
			s.body.then = []step{{op: history.OpAddHook, id: l.next()}, execute1(l.next(), body{})}
		}
		steps = append(steps, s)
		if rng.IntN(4) == 0 {
			steps = append(steps, step{op: history.OpRemoveHook, id: s.id})
		}
	}
	during := step{op: history.OpAddHook, id: l.next(), pause: 4 * unit}
	stop := shutdown(pick(rng, 0, 2*unit), 4*unit*time.Duration(round%2), 20*unit)
	return program{[][]step{
		append(steps, execute1(l.next(), body{takes: pick(rng, 0, unit)}), stop, execute1(l.next(), body{})),
		{during},
	}}
}

// timed schedules timers, some with the same deadline, some while the loop is busy, and
// shuts down after the last one.
func timed(rng *rand.Rand, _ int) program {
	var l labels
	var actors [][]step
	for range 2 {
		var steps []step
		for range 1 + rng.IntN(4) {
			steps = append(steps, step{
				op: history.OpSchedule, id: l.next(),
				pause: pick(rng, 0, 0, unit), delay: time.Duration(rng.IntN(5)-1) * unit,
				body: body{takes: pick(rng, 0, unit/4, 2*unit)},
			})
		}
		actors = append(actors, steps)
	}
	return program{append(actors, []step{shutdown(40*unit, 0, unit)})}
}

// cancelling cancels timers before, at and after their deadline, from outside
// and from bodies.
func cancelling(rng *rand.Rand, _ int) program {
	var l labels
	var actors [][]step
	for range 3 {
		id := l.next()
		cancel := step{op: history.OpCancel, id: id, pause: time.Duration(rng.IntN(4)) * unit}
		again := step{op: history.OpCancel, id: id}
		actors = append(actors, []step{
			{op: history.OpSchedule, id: id, delay: 2 * unit, body: body{takes: pick(rng, 0, unit/2)}},
			cancel, again,
		})
	}
	last := l.next()
	fromTask := execute1(l.next(), body{then: []step{
		{op: history.OpSchedule, id: last, delay: unit}, {op: history.OpCancel, id: last},
	}})
	return program{append(actors, []step{fromTask}, []step{patient()})}
}

// promised submits tasks with futures while the executor shuts down.
func promised(rng *rand.Rand, _ int) program {
	var l labels
	var actors [][]step
	for range 3 {
		var steps []step
		for range 1 + rng.IntN(3) {
			steps = append(steps, step{
				op: history.OpSubmit, id: l.next(), pause: pick(rng, 0, unit/2),
				body: body{ends: pick(rng, history.Normal, history.Normal, history.Panicked, history.Exited)},
			})
		}
		actors = append(actors, steps)
	}
	return program{append(actors, []step{shutdown(pick(rng, 0, unit), 0, 10*unit)})}
}

// hogging has a task that repeatedly submits itself, beside a timer.
func hogging(_ *rand.Rand, round int) program {
	const times = 400
	var l labels
	timer := step{op: history.OpSchedule, id: l.next(), delay: time.Duration(1+round) * unit}
	chain := execute1(l.next(), body{takes: unit / 10})
	for range times {
		chain = execute1(l.next(), body{takes: unit / 10, then: []step{chain}})
	}
	return program{[][]step{{timer}, {chain, shutdown(100*unit, unit, 50*unit)}}}
}
