package exectest

import (
	"math/rand/v2"
	"time"

	"eventide/props/history"
)

// The programs of the guarantees about tasks. Each depends only on its random source and
// on the round, so a seed identifies it.

func execute1(id int, b body) step { return step{op: history.OpExecute, id: id, body: b} }

func shutdown(pause, quiet, timeout time.Duration) step {
	return step{op: history.OpShutdownGracefully, pause: pause, quiet: quiet, timeout: timeout}
}

// patient is a shutdown after everything else, with a timeout that no program here
// reaches.
func patient() step { return shutdown(20*unit, unit, 50*unit) }

// pick returns one of the choices.
func pick[T any](rng *rand.Rand, choices ...T) T { return choices[rng.IntN(len(choices))] }

// producers returns n actors with up to k tasks each.
func producers(rng *rand.Rand, l *labels, n, k int) [][]step {
	var actors [][]step
	for range n {
		var steps []step
		for range 1 + rng.IntN(k) {
			s := execute1(l.next(), body{takes: pick(rng, 0, 0, unit/4)})
			s.pause = pick(rng, 0, 0, 0, unit/2)
			steps = append(steps, s)
		}
		actors = append(actors, steps)
	}
	return actors
}

// busy has producers whose tasks take time, and a shutdown long after them.
func busy(rng *rand.Rand, _ int) program {
	var l labels
	actors := producers(rng, &l, 3, 4)
	for _, steps := range actors {
		for i := range steps {
			steps[i].body.takes = pick(rng, unit/4, unit/2)
			steps[i].body.then = []step{{op: history.OpInLoop}}
		}
	}
	return program{append(actors, []step{{op: history.OpInLoop}, patient()})}
}

// watched adds watchers of the state to a shutdown among tasks.
func watched(rng *rand.Rand, round int) program {
	p := racing(rng, round)
	for range 2 {
		var looks []step
		for range 12 {
			looks = append(looks, step{op: history.OpState, pause: pick(rng, 0, unit/4)})
		}
		p.actors = append(p.actors, looks)
	}
	return p
}

// racing has producers that submit while the executor shuts down.
func racing(rng *rand.Rand, _ int) program {
	var l labels
	actors := producers(rng, &l, 1+rng.IntN(4), 6)
	if rng.IntN(2) == 0 { // tasks that submit tasks
		for _, steps := range actors {
			steps[0].body.then = []step{execute1(l.next(), body{}), execute1(l.next(), body{})}
		}
	}
	quiet := pick(rng, 0, 0, unit/2, unit)
	timeout := quiet + pick(rng, 0, unit, 5*unit)
	stop := shutdown(pick(rng, 0, 0, unit/2, unit), quiet, timeout)
	if rng.IntN(2) == 0 { // all calls as close together as possible
		for _, steps := range actors {
			for i := range steps {
				steps[i].pause, steps[i].body.takes = 0, 0
			}
		}
		stop.pause, stop.yields, stop.quiet = 0, rng.IntN(12), 0
	}
	return program{append(actors, []step{stop})}
}

// relayed has one producer after the other: each begins after the calls of the one before
// have returned, so the order between them is fixed.
func relayed(rng *rand.Rand, _ int) program {
	var l labels
	var actors [][]step
	for i := range 4 {
		var steps []step
		for range 1 + rng.IntN(8) {
			steps = append(steps, execute1(l.next(), body{takes: pick(rng, 0, 0, unit/4)}))
		}
		steps[0].pause = time.Duration(i) * unit / 8
		actors = append(actors, steps)
	}
	return program{append(actors, []step{patient()})}
}

// closing submits tasks before, during and after the shutdown, from outside and
// from a task.
func closing(rng *rand.Rand, round int) program {
	var l labels
	var tries []step
	for range 8 {
		s := execute1(l.next(), body{})
		s.pause = pick(rng, 0, unit/4, unit/2)
		tries = append(tries, s)
	}
	stop := shutdown(unit, pick(rng, 0, unit/2), unit)
	if round%2 == 1 {
		stop = step{op: history.OpShutdown, pause: unit} // no effect without a Closer
	}
	late := execute1(l.next(), body{})
	late.pause = 10 * unit
	return program{[][]step{
		append(tries, late),
		{stop, execute1(l.next(), body{}), shutdown(unit, 0, unit)},
		{execute1(l.next(), body{takes: unit, then: []step{execute1(l.next(), body{})}})},
	}}
}

// quiet has work at chosen times around the quiet period: none, before it, in it, exactly
// at its end, across the timeout.
func quiet(rng *rand.Rand, round int) program {
	var l labels
	fixed := [][]step{
		{},
		{{op: history.OpExecute, body: body{takes: 2 * unit}}},
		{{op: history.OpExecute, pause: 3 * unit}, {op: history.OpExecute, pause: 3 * unit}},
		{{op: history.OpExecute, pause: 5 * unit}}, // a tie: the quiet period ends at 5
		{{op: history.OpExecute, pause: 2 * unit, body: body{takes: 4 * unit}}},
	}
	work := fixed[min(round, len(fixed)-1)]
	if round >= len(fixed) {
		for range rng.IntN(5) {
			work = append(work, step{op: history.OpExecute, pause: time.Duration(rng.IntN(7)) * unit, body: body{takes: pick(rng, 0, unit)}})
		}
	}
	for i := range work {
		work[i].id = l.next()
	}
	q := pick(rng, 5*unit, 5*unit, 0)
	if round < len(fixed) {
		q = 5 * unit
	}
	stop := shutdown(0, q, q+pick(rng, 20*unit, time.Duration(rng.IntN(10))*unit))
	return program{[][]step{{execute1(l.next(), body{}), stop}, work}}
}

// overrun has a body that runs past the timeout, and tries to submit after it.
func overrun(rng *rand.Rand, _ int) program {
	var l labels
	timeout := pick(rng, unit, 2*unit)
	late := execute1(l.next(), body{})
	late.pause = 8 * unit
	return program{[][]step{
		{execute1(l.next(), body{takes: 15 * unit}), execute1(l.next(), body{})},
		{shutdown(unit, pick(rng, 0, unit/2), timeout)},
		{late},
	}}
}

// idling lets the loop fall asleep between tasks.
func idling(rng *rand.Rand, _ int) program {
	var l labels
	var actors [][]step
	for range 2 {
		var steps []step
		for range 4 {
			s := execute1(l.next(), body{takes: pick(rng, 0, unit/4)})
			s.pause = time.Duration(rng.IntN(4)) * unit
			steps = append(steps, s)
		}
		actors = append(actors, steps)
	}
	during := execute1(l.next(), body{})
	during.pause = 21 * unit
	return program{append(actors, []step{shutdown(20*unit, 5*unit, 50*unit)}, []step{during})}
}

// dying has tasks that panic or call Goexit, and later tasks.
func dying(rng *rand.Rand, _ int) program {
	var l labels
	var steps []step
	for range 2 + rng.IntN(4) {
		s := execute1(l.next(), body{ends: pick(rng, history.Panicked, history.Exited, history.Normal)})
		s.pause = pick(rng, 0, unit)
		steps = append(steps, s)
	}
	steps[0].body.ends = pick(rng, history.Panicked, history.Exited)
	return program{[][]step{append(steps, execute1(l.next(), body{}), patient())}}
}

// ending shuts down in many ways: at once, with work left, with extreme arguments.
func ending(rng *rand.Rand, _ int) program {
	var l labels
	actors := producers(rng, &l, 2, 4)
	quiet := pick(rng, 0, 0, unit, 2*unit)
	timeout := pick(rng, quiet, quiet+unit, time.Duration(1<<62))
	var looks []step
	for range 8 {
		looks = append(looks, step{op: history.OpState, pause: pick(rng, 0, unit/4, unit)})
	}
	first := execute1(l.next(), body{})
	return program{append(actors, looks, []step{first, shutdown(pick(rng, 0, unit/2, unit), quiet, timeout)})}
}

// insisting calls Shutdown more than once, and with bad arguments.
func insisting(rng *rand.Rand, round int) program {
	var l labels
	first := shutdown(0, 5*unit, 20*unit)
	again := [][2]time.Duration{{0, 0}, {0, 5 * unit}, {15 * unit, 40 * unit}, {2 * unit, 2 * unit}}[round%4]
	return program{[][]step{{
		execute1(l.next(), body{}),
		shutdown(0, -unit, unit), shutdown(0, 2*unit, unit),
		first, shutdown(pick(rng, 0, unit, 2*unit), again[0], again[1]),
	}}}
}

// plainest is one task and a shutdown.
func plainest() program {
	return program{[][]step{{execute1(1, body{}), patient()}}}
}

// shortest is plainest without the wait.
func shortest() program {
	return program{[][]step{{execute1(1, body{}), shutdown(0, 0, unit)}}}
}

// unused begins with the shutdown.
func unused(rng *rand.Rand, _ int) program {
	var l labels
	during := execute1(l.next(), body{})
	during.pause = 2 * unit
	return program{[][]step{{shutdown(0, 5*unit, 20*unit)}, {during}}[:1+rng.IntN(2)]}
}

// nested makes every call from inside a task, some more often than a small buffer could
// hold.
func nested(rng *rand.Rand, _ int) program {
	var l labels
	var inside []step
	for range pick(rng, 1, 3, 200) {
		inside = append(inside, execute1(l.next(), body{}))
	}
	inside = append(inside,
		step{op: history.OpState}, step{op: history.OpStats}, step{op: history.OpInLoop},
		step{op: history.OpSchedule, id: l.next(), delay: unit},
		step{op: history.OpAddHook, id: l.next()},
		shutdown(0, unit, 10*unit), shutdown(0, 0, 0),
	)
	return program{[][]step{{execute1(l.next(), body{then: inside}), patient()}}}
}

// counted submits, waits until everything has run, and shuts down, so that every counter
// has one right value. The last task overruns the timeout, so that one further task is
// refused.
func counted(rng *rand.Rand, _ int) program {
	var l labels
	actors := producers(rng, &l, 2, 6)
	for i := range actors {
		actors[i] = append(actors[i], step{op: history.OpStats})
	}
	long := execute1(l.next(), body{takes: 10 * unit})
	long.pause = 20 * unit
	late := execute1(l.next(), body{})
	late.pause = 5 * unit
	return program{append(actors, []step{long, shutdown(0, unit, unit), late, {op: history.OpStats}})}
}
