package props

import (
	"slices"
	"time"

	"eventide/core"
	"eventide/props/history"

	"pgregory.net/rapid"
)

// fdNumbers is how many descriptors a program has: few, so that numbers are reused.
const fdNumbers = 4

// descriptors decides whether the program has an event loop.
func (g *generator) descriptors(p *Program) {
	often := g.profile.Loop || g.profile.Real || g.profile.Cells && g.chance(2, "event loop")
	if !often && !g.chance(6, "event loop, rarely") {
		return
	}
	g.loop, p.Loop = true, true
	if g.chance(4, "drain policy") {
		p.Drain = history.CloseChannels
	}
	if g.chance(3, "ratio") {
		p.Ratio = rapid.SampledFrom([]int{1, 20, 90, 100}).Draw(g.T, "ratio of")
	}
	if g.profile.Real { // only the poller of epoll spins, and the spin is in real time
		p.Spin = rapid.SampledFrom([]time.Duration{0, -1, time.Microsecond, time.Millisecond, 10 * time.Millisecond}).Draw(g.T, "spin")
	}
}

// descriptorStep draws a call on a registration, or an event of a descriptor.
func (g *generator) descriptorStep(depth int) Step {
	if g.profile.Wide && len(g.regs) > 0 && g.chance(8, "ask") {
		s := Step{Ask: rapid.SampledFrom([]Ask{AskPost, AskChannels}).Draw(g.T, "of the loop")}
		if s.Ask == AskPost {
			s.Target = g.pick(g.regs, "registration")
		}
		if depth == 0 {
			s.Wait = g.duration("wait")
		}
		return s
	}
	s := Step{}
	if depth == 0 && g.chance(2, "waits") {
		s.Wait = g.duration("wait")
	}
	s.FD = 1 + g.one(fdNumbers, "fd")
	switch n := g.one(20, "what"); {
	case n < 4:
		g.registration(&s, history.OpRegister, depth)
	case n < 9:
		g.registration(&s, history.OpRegisterChannel, depth)
	case n < 13 || len(g.regs) == 0:
		s.Env = EnvInput
	case n < 15:
		s.Op, s.Target = history.OpEnd, g.pick(g.regs, "registration")
	case n < 17:
		s.Op, s.Target, s.Interest = history.OpModify, g.pick(g.regs, "registration"), g.interest()
	case n < 18:
		s.Env = EnvCloseFD
	default:
		s.Env, s.Fault = EnvFault, g.fault()
	}
	return s
}

func (g *generator) interest() core.Interest {
	return rapid.SampledFrom([]core.Interest{
		core.Readable, core.Readable | core.Writable, core.Readable | core.EdgeTriggered, core.Writable, 0,
	}).Draw(g.T, "interest")
}

func (g *generator) fault() Fault {
	faults := []Fault{FaultSpurious, FaultStale, FaultFull, FaultModify}
	if g.chance(2, "hard fault") && !g.broken {
		faults = g.hardFaults()
	}
	return rapid.SampledFrom(faults).Draw(g.T, "fault")
}

// hardFaults lists the faults of which a program has one: the loop survives some of them, but perhaps
// not a second one before the poller has worked.
func (g *generator) hardFaults() []Fault {
	g.broken = true
	faults := []Fault{FaultBroken, FaultFullBroken, FaultStorm, FaultKeptStorm, FaultPoll, FaultFullPoll}
	if g.policy == history.CancelTimers {
		faults = append(faults, FaultDead, FaultStuck) // they cancel timers, whatever the policy
		faults = append(faults, panicsOfPollers...)
	}
	return append(faults, g.failuresOfClose()...)
}

// failing is a hard fault of the poller, and perhaps a loop that is too busy to sleep after it.
func (g *generator) failing() []Step {
	steps := []Step{{Wait: g.duration("fails at"), Env: EnvFault, Fault: rapid.SampledFrom(g.hardFaults()).Draw(g.T, "hard fault")}}
	if g.chance(2, "busy") {
		steps = append(steps, Step{Op: history.OpExecute, ID: g.newID(), Body: &Script{Again: 150 + g.one(150, "times")}})
	}
	return steps
}

// panicsOfPollers end an executor of any kind, and failuresOfClose are seen at its end.
var (
	panicsOfPollers = []Fault{FaultWaitPanics, FaultWakePanics}
	failuresOfClose = []Fault{FaultCloseFails, FaultClosePanics, FaultCloseExits}
)

// failuresOfClose returns those that the program may have. After a failed start the caller closes
// the poller, so that Goexit in Close would end the caller.
func (g *generator) failuresOfClose() []Fault {
	if g.spawner {
		return failuresOfClose[:2]
	}
	return failuresOfClose
}

// faultStep draws a fault of the poller of an executor without I/O, which ends at the first error.
func (g *generator) faultStep(depth int) Step {
	s := Step{Env: EnvFault, Fault: FaultSpurious}
	if depth == 0 && g.chance(2, "waits") {
		s.Wait = g.duration("wait")
	}
	if !g.chance(2, "hard fault") || g.broken {
		return s
	}
	faults := g.failuresOfClose()
	if g.policy == history.CancelTimers { // a failure cancels timers, whatever the policy
		faults = slices.Concat([]Fault{FaultBroken, FaultBroken, FaultDead}, panicsOfPollers, faults)
	}
	g.broken = true
	s.Fault = rapid.SampledFrom(faults).Draw(g.T, "fault")
	return s
}

func (g *generator) registration(s *Step, op history.Op, depth int) {
	s.Op, s.ID, s.Interest = op, g.newLabel(), g.interest()
	s.Body = &Script{}
	if depth < 2 && g.chance(2, "handler calls") {
		s.Body.Steps = g.steps(2, depth+1)
	}
	if g.chance(8, "handler slow") {
		s.Body.Sleep = g.duration("handler sleeps")
	}
	if g.profile.Wide && g.chance(8, "handler floods") {
		times := rapid.SampledFrom([]int{64, 65, 128, 129, 200}).Draw(g.T, "tasks of the handler")
		s.Body.Steps = append(s.Body.Steps, Step{Op: history.OpExecute, ID: g.newID(), Times: times, Body: &Script{}})
	}
	if g.chance(8, "handler abrupt") {
		s.Body.End = rapid.SampledFrom([]history.Outcome{history.Panicked, history.Exited}).Draw(g.T, "end")
	}
	if op == history.OpRegister {
		return
	}
	s.Drain = rapid.SampledFrom([]time.Duration{0, 0, 0, 0, 1, 1, 1, -1}).Draw(g.T, "drain")
	if s.Drain > 0 {
		s.Drain = max(1, g.duration("drains after"))
	}
	if g.chance(4, "lingers") {
		s.Linger = g.duration("linger")
	}
	s.Bytes = g.one(4, "bytes") * 100
	if g.chance(8, "asked abrupt") {
		s.AskedEnd = rapid.SampledFrom([]history.Outcome{history.Panicked, history.Exited}).Draw(g.T, "asked end")
	}
}

// newLabel is newID for registrations, which Cancel does not take.
func (g *generator) newLabel() int {
	g.lastID++
	g.regs = append(g.regs, g.lastID)
	return g.lastID
}

// busyLoop is a program whose loop is never idle while a descriptor is ready: one task
// adds the next, and there are more than may run before the loop polls.
func (g *generator) busyLoop(p Program) Program {
	p.Loop, p.Limit, p.Starts = true, 0, nil
	fd := 1 + g.one(fdNumbers, "fd")
	p.Actors = []Actor{{Steps: []Step{
		{Op: history.OpRegister, ID: g.newLabel(), FD: fd, Interest: core.Readable, Body: &Script{}},
		{Op: history.OpExecute, ID: g.newID(), Body: &Script{
			Again: 1200 + g.one(200, "times"),
			Steps: []Step{{Env: EnvInput, FD: fd}},
		}},
		{Op: history.OpState, Wait: time.Millisecond}, // the loop is idle then: without a call, a shutdown ends the registration
	}}}
	return p
}
