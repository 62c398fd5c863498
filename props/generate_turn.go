package props

import (
	"time"

	"eventide/core"
	"eventide/props/history"

	"pgregory.net/rapid"
)

// turnFD is a descriptor that no other step uses.
const turnFD = manyFDs - 1

// readyTogether makes descriptors that no other step uses ready while a body blocks the loop. Each of
// their handlers completes a promise that has a listener, which runs before the next handler (G9).
func (g *generator) readyTogether() []Step {
	steps := []Step{{Op: history.OpExecute, ID: g.newID(), Wait: g.duration("ready at"), Body: &Script{}}}
	var ready []Step
	for n := range 2 {
		promise := Step{Ask: AskPromise, ID: g.newID(), Body: &Script{Listen: true}}
		handler := &Script{Steps: []Step{{Ask: AskSucceed, Target: promise.ID}}}
		fd := turnFD - 1 - n
		steps = append(steps, promise, Step{Op: history.OpRegister, ID: g.newID(), FD: fd, Interest: core.Readable, Body: handler})
		ready = append(ready, Step{Env: EnvInput, FD: fd})
	}
	steps = append(steps, Step{Op: history.OpExecute, ID: g.newID(), Wait: time.Millisecond, Body: &Script{Sleep: time.Millisecond}})
	return append(steps, ready...)
}

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
