package props

import (
	"slices"
	"time"

	"eventide/core"
	"eventide/props/history"

	"pgregory.net/rapid"
)

// A cell is a field of testdata/calls/table.md: calls from one context in one state. The vehicle of a
// cell is the body that makes the calls. It begins at once, and takes long enough for the shutdown
// call and its timeout to come before the calls.
const (
	callsAt    = 3 * time.Millisecond // after the begin of the vehicle
	shutdownAt = time.Millisecond
	cellFD     = 90 // no other step uses it
)

// cellContexts are the contexts of cells, in the order in which they shrink. A pool has the first of them, and
// the last need an event loop.
var cellContexts = []string{
	"goroutine", "task", "hook", "timer", "listener", onOtherLoop, inSpawner, "panic handler", "end listener",
	"tail",
	"readiness", "drain", "abort", "post", "close listener",
}

// statesOf are the states in which calls are made from a context: no body runs before the start and after the end, and
// hooks and the ends of channels belong to a shutdown. A spawner is called by a start and after each Goexit.
func statesOf(context string) []history.State {
	states := []history.State{history.Started, history.ShuttingDown, history.Shutdown}
	switch context {
	case "goroutine", onOtherLoop:
		return append(states, history.NotStarted, history.Terminated)
	case inSpawner:
		return append(states, history.NotStarted)
	case "listener", "panic handler", "close listener":
		return append(states, history.Terminated)
	case "hook", "drain":
		return states[1:]
	case "abort":
		return states[2:]
	case "end listener":
		return []history.State{history.Terminated}
	}
	return states
}

// cell makes calls of any kind from one context in one state. All calls, contexts and states
// have the same chances, so that none is rare: elsewhere a call from a tail task, for example, is made as
// often as programs have tail tasks that make calls.
func (g *generator) cell(p *Program) []Step {
	contexts := cellContexts
	switch {
	case g.pool:
		contexts = contexts[:9]
	case !g.loop:
		contexts = contexts[:10]
	case g.chance(2, "of descriptors"): // the others are those of executors too
		contexts = contexts[10:]
	}
	context := rapid.SampledFrom(contexts).Draw(g.T, "context")
	at := rapid.SampledFrom(statesOf(context)).Draw(g.T, "state")
	if at == history.NotStarted {
		steps := append(g.metering(), g.promise(2))
		return append(steps, g.beforeStart(p, context)...)
	}
	steps, behind := g.targets()
	vehicle, calls := g.vehicle(p, context, at)
	steps = append(steps, g.metering()...)
	steps = append(steps, vehicle...)
	steps = append(steps, behind)
	steps = append(steps, g.stop(at)...)
	return append(steps, calls...)
}

// metering perhaps makes a meter, so that the calls of a cell read it and make no other.
func (g *generator) metering() []Step {
	if g.chance(3, "metered") {
		return []Step{{Ask: AskMeter}}
	}
	return nil
}

// targets gives the calls of a cell something to cancel, complete, move, remove or listen to. behind is a task
// that is to wait behind the vehicle.
func (g *generator) targets() (steps []Step, behind Step) {
	steps = []Step{g.promise(2), {Op: history.OpAddHook}}
	if g.timers++; g.timers <= mostTimers || g.policy == history.CancelTimers {
		steps = append(steps, Step{Op: history.OpSchedule})
	}
	if g.loop {
		steps = append(steps, Step{Op: rapid.SampledFrom([]history.Op{history.OpRegister, history.OpRegisterChannel}).Draw(g.T, "target")})
	}
	for i := range steps[1:] {
		s := &steps[1+i]
		s.Body = &Script{}
		if s.Op.Registers() {
			s.ID, s.FD, s.Interest = g.newLabel(), cellFD+1, core.Readable
			continue
		}
		s.ID = g.newID()
		g.submitted(*s)
		switch s.Op {
		case history.OpAddHook:
			g.hooks = append(g.hooks, s.ID)
		case history.OpSchedule:
			s.Delay = 2 * callsAt
		}
	}
	behind = Step{Op: history.OpSubmit, ID: g.newID(), Body: &Script{}}
	g.submitted(behind)
	return steps, behind
}

// vehicle returns steps that begin the body of a context, which makes the calls, and the calls that
// the goroutine makes itself, after the shutdown call that leads to the state.
func (g *generator) vehicle(p *Program, context string, at history.State) (steps, own []Step) {
	busy := &Script{Sleep: callsAt}
	calling := &Script{Sleep: callsAt, Steps: g.anyCalls()}
	switch context {
	case "goroutine":
		own = calling.Steps
		own[0].Wait = 2 * time.Millisecond // while the body is busy
		return []Step{{Op: history.OpExecute, ID: g.newID(), Body: busy}}, own
	case onOtherLoop:
		away := Step{Wait: 2 * time.Millisecond, Ask: AskElsewhere, Body: &Script{Steps: calling.Steps}}
		return []Step{{Op: history.OpExecute, ID: g.newID(), Body: busy}}, []Step{away}
	case inSpawner, "panic handler", "end listener", "post", "close listener":
		return g.vehicleOfUser(p, context, at, calling.Steps)
	case "listener":
		s := Step{Ask: AskPromise, ID: g.newID(), Body: &Script{Listen: true, Listener: &Script{Steps: calling.Steps}}}
		complete := Step{Ask: AskSucceed, Target: s.ID}
		if at == history.Terminated {
			return []Step{s}, []Step{complete}
		}
		busy.Steps = []Step{complete}
		return []Step{s, {Op: history.OpExecute, ID: g.newID(), Body: busy}}, nil
	case "readiness":
		return []Step{
			{Op: history.OpRegister, ID: g.newLabel(), FD: cellFD, Interest: core.Readable, Body: calling},
			{Env: EnvInput, FD: cellFD},
		}, nil
	case "drain", "abort":
		s := Step{Op: history.OpRegisterChannel, ID: g.newLabel(), FD: cellFD, Interest: core.Readable, Body: &Script{}, Asked: calling}
		if context == "abort" {
			s.Drain = -1 // until the timeout
			calling.Sleep = 0
		}
		return []Step{s}, nil
	}
	op := map[string]history.Op{
		"task": history.OpExecute, "hook": history.OpAddHook, "timer": history.OpSchedule, "tail": history.OpAfterIteration,
	}[context]
	s := Step{Op: op, ID: g.newID(), Body: calling}
	if context == "hook" {
		g.hooks = slices.Insert(g.hooks, 0, s.ID)
	}
	return []Step{s}, nil
}

// stop brings the executor to a state.
func (g *generator) stop(at history.State) []Step {
	s := Step{Op: history.OpShutdownGracefully, Wait: shutdownAt}
	switch at {
	case history.ShuttingDown:
		s.Quiet, s.Timeout = 20*time.Millisecond, 120*time.Millisecond
	case history.Shutdown:
		s.Timeout = time.Millisecond
		if g.chance(3, "at once") {
			s.Op, s.Timeout = history.OpShutdown, 0
		}
	case history.Terminated:
		return []Step{s, {Op: history.OpAwait, Delay: 10 * time.Second}}
	default:
		s = Step{Op: history.OpState, Wait: callsAt + shutdownAt} // the shutdown call of the end comes after the calls
	}
	return []Step{s}
}

// anyCalls draws calls, each with the same chance.
func (g *generator) anyCalls() []Step {
	calls := []Step{
		{Op: history.OpExecute}, {Op: history.OpExecute, Try: true}, {Op: history.OpSubmit}, {Op: history.OpExecuteLazy},
		{Op: history.OpState}, {Op: history.OpAddHook}, {Op: history.OpRemoveHook},
		{Op: history.OpSchedule}, {Op: history.OpSchedule, Own: true}, {Op: history.OpFixedRate}, {Op: history.OpFixedDelay},
		{Op: history.OpCancel}, {Op: history.OpReset}, {Op: history.OpListen},
		{Op: history.OpShutdownGracefully}, {Op: history.OpShutdown}, {Op: history.OpClose}, {Op: history.OpAwait},
		{Ask: AskPromise}, {Ask: AskRunning},
	}
	for _, ask := range slices.Concat(asksOfPromises, otherAsks) {
		calls = append(calls, Step{Ask: ask})
	}
	if g.pool {
		calls = append(calls, Step{Ask: AskResize})
	} else {
		calls = append(calls, Step{Op: history.OpAfterIteration})
	}
	if g.loop {
		for _, op := range []history.Op{history.OpRegister, history.OpRegisterChannel, history.OpModify, history.OpEnd} {
			calls = append(calls, Step{Op: op})
		}
	}
	most := 4
	if g.profile.Cells {
		most = 9
	}
	steps := make([]Step, 2+g.one(most, "calls"))
	for i := range steps {
		steps[i] = g.filled(rapid.SampledFrom(calls).Draw(g.T, "call"))
	}
	return steps
}

// filled draws the arguments of a call that is made in a cell. Bodies that it submits make no calls.
func (g *generator) filled(s Step) Step {
	const depth = 2
	switch {
	case s.Ask == AskPromise:
		return g.promise(depth)
	case slices.Contains(asksOfPromises, s.Ask):
		s.Target = g.pick(g.promises, "promise")
		if s.Ask == AskListenLate {
			s.Body = &Script{}
		}
	case s.Ask != "":
		g.argumentsOfAsk(&s)
	case s.Op.Registers():
		s.FD = 1 + g.one(fdNumbers, "fd")
		g.registration(&s, s.Op, depth)
	case s.Op == history.OpEnd:
		s.Target = g.pick(g.regs, "registration")
	case s.Op == history.OpModify:
		s.Target, s.Interest = g.pick(g.regs, "registration"), g.interest()
	default:
		g.arguments(&s, depth)
	}
	return s
}
