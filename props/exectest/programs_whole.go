package exectest

import (
	"math/rand/v2"
	"time"

	"eventide/props/history"
)

// everything returns a generator of programs that use the whole API: waves of goroutines
// that make any calls, at round times. The driver leaves out calls that the subject does not have. In
// real time these programs would take long, so they run only in bubbles. If abrupt is true, bodies may
// panic or call Goexit.
func everything(abrupt bool) func(*rand.Rand, int) program {
	m := menu{
		ops: []history.Op{
			history.OpExecute, history.OpExecute, history.OpExecute, history.OpSubmit,
			history.OpSchedule, history.OpAddHook, history.OpState,
		},
		closer: true, abrupt: abrupt, moves: true,
	}
	return func(rng *rand.Rand, _ int) program {
		var p program
		for _, wave := range drawScene(rng, m) {
			p.actors = append(p.actors, wave.actors...)
		}
		for _, steps := range p.actors {
			if stops(steps) {
				steps[0].pause += stopOffset
			}
		}
		closes := false
		p.each(func(s *step) { closes = closes || s.op == history.OpShutdown })
		if closes { // the subject may not be a Closer, and must end all the same
			p.actors = append(p.actors, []step{shutdown(time.Minute, 0, unit)})
		}
		return p
	}
}

// stopOffset moves the shutdown of a whole program away from the round times of its other
// calls. If a body begins at the same time as the call, the log of an executor without a
// tracer does not show whether the loop took the task before or after the shutdown.
const stopOffset = 3700 * time.Microsecond

// stops reports whether a step, or a step of a body, shuts down.
func stops(steps []step) bool {
	found := false
	eachStep(steps, func(s *step) { found = found || s.op.Shuts() })
	return found
}
