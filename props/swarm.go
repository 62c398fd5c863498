package props

import (
	"math/rand/v2"
	"slices"

	"eventide/props/history"
)

// Swarm names the calls that the programs of one round leave out. Programs that make every call rarely make
// many of one kind in a row, so some bugs need programs without the others (swarm testing).
type Swarm struct {
	Without []history.Op
}

// swarmOps are the calls that a swarm may leave out: all but those without which a program does
// nothing or does not end.
var swarmOps = []history.Op{
	history.OpExecuteLazy, history.OpSubmit, history.OpAfterIteration, history.OpSchedule, history.OpFixedRate, history.OpFixedDelay,
	history.OpAddHook, history.OpRemoveHook, history.OpCancel, history.OpReset, history.OpAwait, history.OpState, history.OpStats,
	history.OpRegister, history.OpRegisterChannel, history.OpModify,
}

// DrawSwarm leaves out each call with a chance of one third.
func DrawSwarm(rng *rand.Rand) Swarm {
	var s Swarm
	for _, op := range swarmOps {
		if rng.IntN(3) == 0 {
			s.Without = append(s.Without, op)
		}
	}
	return s
}

// Apply returns the program without the calls that are left out, of actors and of bodies.
func (s Swarm) Apply(p Program) Program {
	p.Actors = slices.Clone(p.Actors)
	for i := range p.Actors {
		p.Actors[i].Steps = s.kept(p.Actors[i].Steps)
	}
	return p
}

func (s Swarm) kept(steps []Step) (kept []Step) {
	for _, step := range steps {
		if !slices.Contains(s.Without, step.Op) {
			step.Body, step.Asked = s.script(step.Body), s.script(step.Asked)
			kept = append(kept, step)
		}
	}
	return kept
}

func (s Swarm) script(b *Script) *Script {
	if b == nil {
		return nil
	}
	c := *b
	c.Steps, c.Listener = s.kept(c.Steps), s.script(c.Listener)
	return &c
}
