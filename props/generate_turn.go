package props

import (
	"time"

	"eventide/core"
	"eventide/props/history"

	"pgregory.net/rapid"
)

// turnFD is a descriptor that no other step uses.
const turnFD = manyFDs - 1

// turn returns steps that give a sleeping loop work of all kinds for one turn: a timer that is due, a
// descriptor that becomes ready, tasks and a tail task. Such programs show in which order a turn
// runs them (G13).
func (g *generator) turn() []Step {
	body := func() *Script { return &Script{} }
	steps := []Step{{Op: history.OpExecute, ID: g.newID(), Wait: g.duration("turn at"), Body: body()}}
	if g.loop {
		steps = append(steps, Step{Op: history.OpRegister, ID: g.newID(), FD: turnFD, Interest: core.Readable, Body: body()})
	}
	if g.timers++; g.timers <= mostTimers || g.policy == history.CancelTimers {
		steps = append(steps, Step{Op: history.OpSchedule, ID: g.newID(), Delay: time.Millisecond, Body: body()})
	}
	for range 1 + g.one(2, "lazy tasks") {
		steps = append(steps, Step{Op: history.OpExecuteLazy, ID: g.newID(), Body: body()})
	}
	work := []Step{
		{Op: history.OpExecuteLazy, ID: g.newID(), Body: body()},
		{Op: history.OpExecute, ID: g.newID(), Body: body()},
		{Op: history.OpAfterIteration, ID: g.newID(), Body: body()},
	}
	if g.loop {
		work = append(work, Step{Env: EnvInput, FD: turnFD})
	}
	work = rapid.Permutation(work).Draw(g.T, "work")[:1+g.one(len(work), "how much work")]
	work[0].Wait = time.Millisecond
	steps = append(steps, work...)
	// The shutdown call of the end comes after the turn.
	return append(steps, Step{Op: history.OpState, Wait: time.Millisecond})
}
