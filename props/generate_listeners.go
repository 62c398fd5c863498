package props

import (
	"time"

	"eventide/props/history"

	"pgregory.net/rapid"
)

// wide adds actors that only the virtual lane has, and reports whether the program has no others.
func (g *generator) wide(p *Program) (alone bool) {
	undisturbed := func() bool { return g.chance(2, "of others undisturbed") }
	if g.profile.Cells || g.chance(20, "cell") {
		if p.Actors = append(p.Actors, Actor{Steps: g.cell(p)}); undisturbed() {
			return true
		}
	}
	if g.fills(p) {
		p.Actors = append(p.Actors, Actor{Steps: g.full(p)})
		return true
	}
	if g.chance(60, "many") {
		p.Actors = append(p.Actors, Actor{Steps: g.many()})
	}
	if g.chance(20, "latecomers") {
		if p.Actors = append(p.Actors, g.latecomers()...); undisturbed() {
			return true
		}
	}
	if g.chance(20, "hooks of hooks") {
		p.Actors = append(p.Actors, Actor{Steps: g.hookChain()})
	}
	if g.chance(20, "meter") {
		if p.Actors = append(p.Actors, Actor{Steps: g.metered()}); undisturbed() {
			return true
		}
	}
	if g.chance(16, "quiet period") {
		if p.Actors = append(p.Actors, Actor{Steps: g.quietPeriod()}); undisturbed() {
			return true
		}
	}
	if g.chance(30, "moved in place") {
		if p.Actors = append(p.Actors, Actor{Steps: g.movedInPlace()}); undisturbed() {
			return true
		}
	}
	if g.chance(20, "cancelled timer") {
		if p.Actors = append(p.Actors, Actor{Steps: g.cancelledTimer()}); undisturbed() {
			return true
		}
	}
	if g.chance(16, "listeners") {
		p.Actors = append(p.Actors, Actor{Steps: g.listeners()})
	}
	if g.chance(30, "chain of listeners") {
		p.Actors = append(p.Actors, Actor{Steps: g.listenerChain()})
	}
	if g.loop && g.chance(16, "ready together") {
		p.Actors = append(p.Actors, Actor{Steps: g.readyTogether()})
	}
	if g.loop && g.chance(16, "ready while draining") {
		if p.Actors = append(p.Actors, Actor{Steps: g.readyWhileDraining()}); undisturbed() {
			return true
		}
	}
	return false
}

// promise makes a promise with a listener.
func (g *generator) promise(depth int) Step {
	s := Step{Ask: AskPromise, ID: g.newID(), Body: &Script{Listen: true, Listener: g.listener(depth)}}
	g.promises = append(g.promises, s.ID)
	return s
}

// listener draws what a listener does; nil: nothing. depth is that of the step that adds it.
func (g *generator) listener(depth int) *Script {
	if depth >= 2 || !g.chance(2, "listener calls") {
		return nil
	}
	l := &Script{Steps: g.steps(2, depth+1)}
	if g.chance(4, "listener abrupt") {
		l.End = rapid.SampledFrom([]history.Outcome{history.Panicked, history.Exited}).Draw(g.T, "end")
	}
	return l
}

// ofPromise draws a call on a promise.
func (g *generator) ofPromise(depth int) Step {
	s := Step{Ask: rapid.SampledFrom(asksOfPromises).Draw(g.T, "of a promise"), Target: g.pick(g.promises, "promise")}
	if s.Ask == AskListenLate {
		s.Body = &Script{Listener: g.listener(depth)}
	}
	return s
}

// listeners completes promises with several listeners each, many of which end abruptly, while a
// body blocks the loop: perhaps from inside of another body.
func (g *generator) listeners() []Step {
	steps := []Step{{Op: history.OpExecute, ID: g.newID(), Wait: g.duration("listeners at"), Body: &Script{Sleep: time.Millisecond}}}
	var complete []Step
	for range 1 + g.one(3, "promises") {
		steps = append(steps, g.promise(0))
		of := steps[len(steps)-1].ID
		for range g.one(4, "more listeners") {
			l := &Script{}
			if g.chance(2, "abrupt") {
				l.End = rapid.SampledFrom([]history.Outcome{history.Panicked, history.Exited}).Draw(g.T, "end")
			}
			steps = append(steps, Step{Ask: AskListenLate, Target: of, Body: &Script{Listener: l}})
		}
		how := rapid.SampledFrom([]Ask{AskSucceed, AskFail, AskCancel}).Draw(g.T, "how")
		complete = append(complete, Step{Ask: how, Target: of})
	}
	if g.chance(2, "from a body") {
		return append(steps, Step{Op: history.OpExecute, ID: g.newID(), Body: &Script{Steps: complete}})
	}
	return append(steps, complete...)
}

// listenerChain completes, in a body, a promise whose listener completes the next promise, and so on,
// while a task waits behind that body (G13). All the listeners end in the same way.
func (g *generator) listenerChain() []Step {
	steps := []Step{{Op: history.OpExecute, ID: g.newID(), Wait: g.duration("chain at"), Body: &Script{Sleep: time.Millisecond}}}
	end := rapid.SampledFrom([]history.Outcome{history.Normal, history.Panicked, history.Exited}).Draw(g.T, "ends of the chain")
	var complete []Step
	for range 7 {
		s := Step{Ask: AskPromise, ID: g.newID(), Body: &Script{Listen: true, Listener: &Script{Steps: complete, End: end}}}
		steps = append(steps, s)
		complete = []Step{{Ask: AskSucceed, Target: s.ID}}
	}
	return append(steps,
		Step{Op: history.OpExecute, ID: g.newID(), Body: &Script{Steps: complete}},
		Step{Op: history.OpExecute, ID: g.newID(), Body: &Script{}})
}

// quietPeriod calls for a shutdown, and then makes calls while its quiet period lasts: calls that
// do not restart it, and rarely a task, which does (G10).
func (g *generator) quietPeriod() []Step {
	steps := []Step{{Op: history.OpSubmit, ID: g.newID(), Wait: g.duration("quiet period at"), Body: &Script{}}, g.promise(0)}
	submitted := steps[0].ID
	g.submitted(steps[0])
	quiet := rapid.SampledFrom([]time.Duration{5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond}).Draw(g.T, "quiet")
	steps = append(steps, Step{Op: history.OpShutdownGracefully, Quiet: quiet, Timeout: quiet + 100*time.Millisecond})
	for range 1 + g.one(3, "calls in the quiet period") {
		var s Step
		switch g.one(6, "in the quiet period") {
		case 0, 1:
			s = Step{Ask: AskSucceed, Target: g.pick(g.promises, "promise")}
		case 2:
			s = Step{Op: history.OpListen, Target: submitted}
		case 3:
			s = g.ofPromise(0)
		case 4:
			s = Step{Op: history.OpState}
			if g.pool {
				s = g.resize()
			}
		default:
			s = Step{Op: history.OpExecute, ID: g.newID(), Body: &Script{}}
		}
		s.Wait = g.duration("wait in the quiet period")
		steps = append(steps, s)
	}
	return steps
}
