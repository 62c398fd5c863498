package props

import (
	"eventide/core"
	"eventide/props/history"

	"pgregory.net/rapid"
)

// askStep draws a call that the model does not know.
func (g *generator) askStep(depth int) Step {
	s := Step{}
	if depth == 0 && g.chance(2, "waits") {
		s.Wait = g.duration("wait")
	}
	switch n := g.one(8, "ask"); {
	case n < 2 || n < 6 && len(g.promises) == 0:
		wait := s.Wait
		s = g.promise(depth)
		s.Wait = wait
		g.slowListener(&s)
	case n < 6:
		wait := s.Wait
		s = g.ofPromise(depth)
		if s.Wait = wait; s.Ask == AskListenLate {
			g.slowListener(&s)
		}
	default:
		s.Ask = rapid.SampledFrom(otherAsks).Draw(g.T, "of the executor")
		if g.loop && g.chance(3, "of a registration") {
			s.Ask = rapid.SampledFrom([]Ask{AskFD, AskPost, AskPost, AskOnClose}).Draw(g.T, "of the registration")
		}
		if g.pool && g.chance(2, "of the pool") {
			s.Ask = AskResize
		}
		g.argumentsOfAsk(&s)
		if (s.Ask == AskPost || s.Ask == AskOnClose || s.Ask == AskOnDone) && g.chance(3, "abrupt function") {
			end := rapid.SampledFrom([]history.Outcome{history.Panicked, history.Exited}).Draw(g.T, "end")
			s.Body = &Script{Listener: &Script{End: end}}
		}
	}
	return s
}

// argumentsOfAsk draws the arguments of a call that needs no promise.
func (g *generator) argumentsOfAsk(s *Step) {
	switch s.Ask {
	case AskResize:
		s.Size = rapid.SampledFrom([]int{1, 2, 3, 4, 0, -1}).Draw(g.T, "size")
	case AskFD, AskPost, AskOnClose:
		s.Target = g.pick(g.regs, "registration")
	case AskFuture, AskWait:
		s.Target = g.pick(g.futures, "of")
		if len(g.promises) > 0 && (s.Target == 0 || g.chance(3, "of a promise")) {
			s.Target = g.pick(g.promises, "promise")
		}
		if s.Ask == AskWait {
			s.Delay = g.duration("patience")
		}
	case AskDeadline, AskTimer:
		s.Target = g.pick(g.cancels, "of")
	}
}

// slowListener gives the step a listener that takes time outside the loop.
func (g *generator) slowListener(s *Step) {
	if g.profile.Real || !g.chance(3, "slow listener") {
		return
	}
	if s.Body.Listener == nil {
		s.Body.Listener = &Script{}
	}
	s.Body.Listener.Sleep = g.duration("listener sleeps")
}

// latecomers are goroutines that add listeners to one promise, one of which completes it. Often no loop
// runs by then, and the listeners run on the goroutines.
func (g *generator) latecomers() []Actor {
	id := g.newID()
	g.promises = append(g.promises, id)
	first := []Step{{Ask: AskPromise, ID: id, Body: &Script{}}, {Ask: AskSucceed, Target: id}}
	g.slowListener(&first[0])
	first[0].Body.Listen = first[0].Body.Listener != nil
	all := []Actor{{Steps: first}}
	for i := range 2 + g.one(2, "latecomers") {
		s := Step{Ask: AskListenLate, Target: id, Body: &Script{}}
		g.slowListener(&s)
		if i == 0 {
			all[0].Steps = append(all[0].Steps, s)
			continue
		}
		s.Wait = g.duration("late")
		all = append(all, Actor{Steps: []Step{s}})
	}
	return all
}

// metered is a goroutine that reads a meter while tasks wait behind one that takes time.
func (g *generator) metered() []Step {
	steps := []Step{{Ask: AskMeter}}
	for range 2 + g.one(6, "around the reads") {
		s := Step{Ask: AskMeter}
		if g.chance(2, "a task") {
			op := history.OpExecute
			if g.chance(4, "lazy") {
				op = history.OpExecuteLazy
			}
			s = Step{Op: op, ID: g.newID(), Body: &Script{Sleep: g.duration("task sleeps")}}
			if g.chance(4, "reads inside") {
				s.Body.Steps = []Step{{Ask: AskMeter}}
			}
		}
		if g.chance(2, "waits") {
			s.Wait = g.duration("wait")
		}
		steps = append(steps, s)
	}
	return steps
}

// sizes are on both sides of the bounds of one turn, of a segment of a queue and of a
// chunk of timers.
var sizes = []int{63, 64, 65, 127, 128, 129, 255, 256, 257, 300, 1000}

// many is more work of one kind than a turn takes, added while a body blocks the loop, and
// perhaps a shutdown call behind it.
func (g *generator) many() []Step {
	steps := []Step{{Op: history.OpExecute, ID: g.newID(), Wait: g.duration("many at"), Body: &Script{Sleep: 1e6}}}
	for range 1 + g.one(2, "kinds of work") {
		steps = append(steps, g.manyOf())
	}
	if g.chance(2, "then a shutdown") {
		steps = append(steps, g.burstCall())
	}
	return steps
}

func (g *generator) manyOf() Step {
	ops := []history.Op{history.OpExecute, history.OpSubmit, history.OpAddHook, history.OpExecuteLazy}
	if g.policy == history.CancelTimers || g.chance(3, "of timers that may run") {
		ops = append(ops, history.OpSchedule)
	}
	if g.loop {
		ops = append(ops, history.OpRegister, history.OpRegisterChannel)
	}
	s := Step{Op: rapid.SampledFrom(ops).Draw(g.T, "many of"), Times: rapid.SampledFrom(sizes).Draw(g.T, "how many"), Body: &Script{}}
	switch {
	case s.Op == history.OpSchedule:
		s.Delay = g.duration("delay")
		if g.policy != history.CancelTimers {
			s.Times = min(s.Times, 129) // to judge them takes longer
		}
	case s.Op.Registers():
		s.ID, s.FD, s.Interest, s.Times = g.newLabel(), manyFDs, core.Readable, min(s.Times, 300)
		return s
	}
	if s.Times <= 300 && g.chance(4, "abrupt") {
		s.Body.End = rapid.SampledFrom([]history.Outcome{history.Panicked, history.Exited}).Draw(g.T, "end")
	}
	s.ID = g.newID()
	return s
}

// manyFDs is the first descriptor of many registrations: no other step uses one of them.
const manyFDs = 100
