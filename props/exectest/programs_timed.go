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
	during := []step{{op: history.OpAddHook, id: l.next(), pause: 4 * unit}, {op: history.OpRemoveHook, id: 1, pause: 8 * unit}}
	stop := shutdown(pick(rng, 0, 2*unit), 4*unit*time.Duration(round%2), 20*unit)
	return program{[][]step{
		append(steps, execute1(l.next(), body{takes: pick(rng, 0, unit)}), stop, execute1(l.next(), body{})),
		during,
	}}
}

// farDelay is longer than 2^31 ms, which is the longest delay of some event loops.
const farDelay = 1000 * time.Hour

// timed schedules timers, some with the same deadline, some while the loop is busy, and
// shuts down after the last one. Some programs also schedule a timer for a moment far away,
// and cancel it. Some programs move timers instead.
func timed(rng *rand.Rand, round int) program {
	if round%movingEvery == movingEvery-2 {
		return moving(rng)
	}
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
	if round%8 == 7 {
		far := l.next()
		actors = append(actors, []step{
			{op: history.OpSchedule, id: far, delay: farDelay}, {op: history.OpCancel, id: far, pause: 10 * unit},
		})
	}
	return program{append(actors, []step{shutdown(40*unit, 0, unit)})}
}

// moving moves timers before, at and after their deadline, from outside and from a body. No
// two deadlines are equal: each timer is scheduled and moved at a fraction of unit of its own.
func moving(rng *rand.Rand) program {
	var l labels
	var actors [][]step
	for i := range 3 {
		id := l.next()
		actors = append(actors, []step{
			{op: history.OpSchedule, id: id, movable: true, pause: time.Duration(1+i) * unit / 16, delay: pick[time.Duration](rng, 2, 4) * unit, body: body{takes: pick(rng, 0, unit/2)}},
			{op: history.OpReset, id: id, pause: pick[time.Duration](rng, 0, 1, 2, 3) * unit, delay: pick[time.Duration](rng, 0, 1, 3, 6) * unit},
			{op: history.OpReset, id: id, pause: pick[time.Duration](rng, 0, 3, 8) * unit, delay: pick[time.Duration](rng, 0, 1, 3) * unit},
		})
	}
	inner := l.next()
	fromTask := execute1(l.next(), body{then: []step{
		{op: history.OpSchedule, id: inner, movable: true, delay: unit}, {op: history.OpReset, id: inner, delay: 3 * unit},
	}})
	return program{append(actors, []step{fromTask}, []step{patient()})}
}

// movingEvery is how often, in rounds, a clause about timers moves timers.
const movingEvery = 4

// cancelling cancels timers before, at and after their deadline, from outside and from
// bodies. Some programs move timers instead.
func cancelling(rng *rand.Rand, round int) program {
	if round%movingEvery == movingEvery-1 {
		return moving(rng)
	}
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
