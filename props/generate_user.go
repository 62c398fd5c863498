package props

import (
	"time"

	"eventide/core"
	"eventide/props/history"

	"pgregory.net/rapid"
)

// beforeStart makes the calls of a cell before the executor has started, or in the spawner that starts it.
func (g *generator) beforeStart(p *Program, context string) []Step {
	calls := g.anyCalls()
	switch context {
	case onOtherLoop:
		return []Step{{Ask: AskElsewhere, Body: &Script{Steps: calls}}}
	case inSpawner:
		g.callback(p, calls)
		return []Step{{Op: history.OpExecute, ID: g.newID(), Body: &Script{}}}
	}
	return calls
}

// callback makes the spawner make calls, after other starts.
func (g *generator) callback(p *Program, calls []Step, starts ...Start) {
	p.Starts, p.Spawning, g.spawner = append(starts, StartCallback), calls, true
}

// vehicleOfUser is vehicle for functions of the user that are no bodies. Those of the loop are called after a body
// that is busy until the state is reached.
func (g *generator) vehicleOfUser(p *Program, context string, at history.State, calls []Step) (steps, own []Step) {
	busy := Step{Op: history.OpExecute, ID: g.newID(), Body: &Script{Sleep: callsAt}}
	script := &Script{Listener: &Script{Steps: calls}}
	if g.chance(3, "abrupt") {
		script.Listener.End = rapid.SampledFrom([]history.Outcome{history.Panicked, history.Exited}).Draw(g.T, "end")
	}
	register := Step{Op: history.OpRegister, ID: g.newLabel(), FD: cellFD, Interest: core.Readable, Body: &Script{}}
	switch context {
	case inSpawner: // the body ends the goroutine of the loop
		g.callback(p, calls, StartOK)
		busy.Body.End = history.Exited
		return []Step{busy}, nil
	case "panic handler":
		p.Handler, p.Handling = HandlerCalls, calls
		if at != history.Terminated {
			busy.Body.End = history.Panicked
			return []Step{busy}, nil
		}
		s := Step{Ask: AskPromise, ID: g.newID(), Body: &Script{Listen: true, Listener: &Script{End: history.Panicked}}}
		return []Step{s}, []Step{{Ask: AskSucceed, Target: s.ID}}
	case "end listener":
		s := Step{Ask: AskOnDone, Body: script}
		if g.chance(2, "late") {
			return nil, []Step{s}
		}
		return []Step{s, {Ask: AskOnDone}}, nil // the second is called however the first ends
	case "post":
		return []Step{register, busy, {Ask: AskPost, Target: register.ID, Body: script}}, nil
	}
	if at == history.Terminated {
		return []Step{register}, []Step{{Ask: AskOnClose, Target: register.ID, Body: script}}
	}
	if g.chance(2, "second listener") {
		return []Step{register, busy, {Ask: AskOnClose, Target: register.ID, Body: script}, {Op: history.OpEnd, Target: register.ID, Wait: time.Millisecond / 2}}, nil
	}
	register.Body = script
	return []Step{register, busy, {Op: history.OpEnd, Target: register.ID}}, nil
}
