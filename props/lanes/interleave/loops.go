package interleave

import (
	"slices"
	"time"

	"eventide/core"
	"eventide/props"
	"eventide/props/history"
)

// The descriptor that is registered before a pair of calls on an event loop begins, and
// its registration.
const (
	watchedFD = 1
	watchedID = 9
)

func one(s props.Step) func(int) []props.Step {
	return func(int) []props.Step { return []props.Step{s} }
}

func registers(op history.Op, fd int, drain time.Duration) func(id int) []props.Step {
	return func(id int) []props.Step {
		return []props.Step{{Op: op, ID: id, FD: fd, Interest: core.Readable, Drain: drain, Bytes: 100, Body: &props.Script{}}}
	}
}

func faults(how props.Fault) call {
	return call{"fault " + string(how), one(props.Step{Env: props.EnvFault, Fault: how})}
}

// loopCalls are actions on an event loop other than a shutdown. The pair of two inputs
// gives the handler two chances to run; ending a registration twice must be the same as
// ending it once.
var loopCalls = []call{
	{"register", registers(history.OpRegister, watchedFD+1, 0)},
	{"channel", registers(history.OpRegisterChannel, watchedFD+1, time.Millisecond)},
	{"reuse", func(id int) []props.Step {
		return append(one(props.Step{Env: props.EnvCloseFD, FD: watchedFD})(id), registers(history.OpRegister, watchedFD, 0)(id)...)
	}},
	{"input", one(props.Step{Env: props.EnvInput, FD: watchedFD})},
	{"end", one(props.Step{Op: history.OpEnd, Target: watchedID})},
	{"end-end", func(int) []props.Step {
		return []props.Step{{Op: history.OpEnd, Target: watchedID}, {Op: history.OpEnd, Target: watchedID}}
	}},
	{"modify", one(props.Step{Op: history.OpModify, Target: watchedID, Interest: core.Writable})},
}

// loopFaults are ways in which the poller of an event loop fails.
var loopFaults = []call{
	faults(props.FaultSpurious), faults(props.FaultStale), faults(props.FaultFull), faults(props.FaultBroken), faults(props.FaultFullBroken), faults(props.FaultDead),
}

// FailingPollers returns scenarios in which the poller of a sleeping executor fails, with and without
// descriptors, as another goroutine makes a call. An executor without descriptors ends at the first
// error, and every executor at a panic; a failure of Close is seen at its end.
func FailingPollers() []Scenario {
	var all []Scenario
	for _, fault := range []props.Fault{
		props.FaultSpurious, props.FaultBroken, props.FaultWaitPanics, props.FaultWakePanics,
		props.FaultCloseFails, props.FaultClosePanics, props.FaultCloseExits,
	} {
		for _, other := range []call{calls[0], calls[4], loopShutdowns[1], loopShutdowns[2]} {
			pair := loopPair(faults(fault), other, 0)
			pair.Name = "poller of an event loop " + string(fault) + "|" + other.name
			plain := pair
			plain.Name = "poller " + string(fault) + "|" + other.name
			plain.Program.Loop, plain.Program.Scripted = false, true
			plain.Program.Actors = append(slices.Clone(pair.Program.Actors[:2]), props.Actor{Steps: calls[0].steps(3)})
			all = append(all, plain)
			if fault != props.FaultSpurious && fault != props.FaultBroken { // LoopPairs has these
				all = append(all, pair)
			}
		}
	}
	return all
}

// loopShutdowns end an event loop whose channel has something to drain.
var loopShutdowns = []call{
	{"graceful(0,0)", shuts(history.OpShutdownGracefully, 0, 0)},
	{"graceful(1ms,2ms)", shuts(history.OpShutdownGracefully, time.Millisecond, 2*time.Millisecond)},
	{"shutdown", shuts(history.OpShutdown, 0, 0)},
}

// LoopPairs returns scenarios for pairs of actions on an event loop that has a channel
// and sleeps: every two of loopCalls, each of them with each shutdown, and each fault
// of the poller with some calls.
func LoopPairs() []Scenario {
	var all []Scenario
	for i, a := range loopCalls {
		for _, b := range loopCalls[i:] {
			all = append(all, loopPair(a, b, 0))
		}
		for _, b := range loopShutdowns {
			all = append(all, loopPair(a, b, 0), loopPair(a, b, -1))
		}
	}
	for _, a := range loopFaults {
		for _, b := range []call{calls[0], loopCalls[0], loopCalls[1], loopCalls[3], loopCalls[4], loopShutdowns[1], loopShutdowns[2]} {
			all = append(all, loopPair(a, b, 0))
		}
	}
	return all
}

// loopPair has two goroutines make a call each, once the loop sleeps. With a negative
// drain the channel never drains by itself: the loop then ends only after the channel
// is ended or aborted.
func loopPair(a, b call, drain time.Duration) Scenario {
	p := props.Program{Loop: true, Actors: []props.Actor{
		{Steps: a.steps(1)}, {Steps: b.steps(2)},
		{Steps: registers(history.OpRegisterChannel, watchedFD, drain)(watchedID)},
	}}
	for k := range 2 {
		p.Actors[k].Steps[0].Wait = time.Millisecond
	}
	name := "loop " + a.name + "|" + b.name
	if drain < 0 {
		name += "|never drains"
	}
	return Scenario{Name: name, Program: p}
}

// poolCalls are calls on a pool of two workers.
var poolCalls = []call{
	calls[0], calls[1], calls[3], calls[4], calls[6],
	{"wider", one(props.Step{Ask: props.AskResize, Size: 3})},
	{"narrower", one(props.Step{Ask: props.AskResize, Size: 1})},
	{"exit", func(id int) []props.Step {
		return []props.Step{{Op: history.OpExecute, ID: id, Body: &props.Script{End: history.Exited}}}
	}},
	calls[8], calls[9],
}

// PoolPairs returns a scenario for every pair of calls on a pool of which one worker sleeps.
func PoolPairs() []Scenario {
	var all []Scenario
	for i, a := range poolCalls {
		for _, b := range poolCalls[i:] {
			p := props.Program{Pool: 2, Actors: []props.Actor{{Steps: a.steps(1)}, {Steps: b.steps(2)}, {Steps: calls[0].steps(3)}}}
			for k := range 2 {
				p.Actors[k].Steps[0].Wait = time.Millisecond
			}
			all = append(all, Scenario{Name: "pool " + a.name + "|" + b.name, Program: p})
		}
	}
	return all
}

// Groups returns small programs on groups.
func Groups() []Scenario {
	var all []Scenario
	for _, p := range []struct {
		name  string
		group props.GroupProgram
	}{
		{"shutdown", props.GroupProgram{Children: 2, Callers: 1, Calls: 1, Hard: true}},
		{"graceful", props.GroupProgram{Children: 2, Callers: 1, Calls: 1, Quiet: time.Millisecond, Timeout: 2 * time.Millisecond}},
		{"shutdown twice", props.GroupProgram{Children: 1, Callers: 1, Calls: 1, Twice: true}},
		{"one first", props.GroupProgram{Children: 2, Callers: 1, Calls: 1, Hard: true, OneFirst: true}},
	} {
		all = append(all, Scenario{Name: "group " + p.name, Group: &p.group})
	}
	return all
}
