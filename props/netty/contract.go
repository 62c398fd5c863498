package netty

import (
	"fmt"
	"math/rand/v2"

	"eventide/model"
)

// contract runs a program on the model of package model. The model decides the answers of
// the calls, the state, and which bodies may begin. contract adds what the model leaves
// out: the clock, which says when timers and the quiet period are due; listeners; and
// wake-ups, which decide when a lazy task runs. It does not use core. A variant makes the
// choices that the model leaves open. A program whose outcome depends on the variant
// proves nothing, and is not used.
type contract struct {
	*world
	m     model.State
	fails int // how many further starts fail
	ended bool
	early map[int]bool // hooks added before the shutdown call, by label

	bodies  map[model.Body]*submitted
	byLabel map[int]*submitted // the latest with a future, a timer or a hook
	number  int                // of the latest submission; the call of a periodic body repeats its label

	woken    bool
	dead     int // cancelled timers that are still in the loop's heap, since its last turn
	held     int // number of the last hold
	releases int

	quiet             int
	calledAt, lastEnd int
	origin            int
	rng               *rand.Rand // nil: variant 0, the fixed order
}

// variant selects the choices that the model leaves open: the order of a task, a tail
// task, a due timer and a hook added during the shutdown, and the time after a shutdown
// call at which the timers are cancelled. 0 is a fixed order; other numbers are seeds of
// a random order.
type variant uint64

// variants is the number of variants of each program that are compared.
const variants = 24

// submitted is a body that the contract has accepted.
type submitted struct {
	model.Body
	step      *Step
	status    status // of a future or a timer
	listeners []int
	hold      int // the number of a hold
	deadline  int // of a timer
	origin    int
}

// submission returns the call of the model for a step that submits a body.
func submission(op byte) model.Op {
	switch {
	case op == opTail:
		return model.OpAfterIteration
	case op == opHook:
		return model.OpAddHook
	case isTimer(op):
		return model.OpSchedule
	}
	return model.OpExecute
}

func runContract(p *Program, v variant) *contract {
	c := &contract{
		world: newWorld(p), fails: p.Fail, origin: 1,
		early: map[int]bool{}, bodies: map[model.Body]*submitted{}, byLabel: map[int]*submitted{},
	}
	if v > 0 {
		c.rng = rand.New(rand.NewPCG(uint64(v), uint64(p.ID)))
	}
	c.outside = func(s *Step) { c.call(s, false) }
	c.ended = toTheEnd(func() {
		for c.next() != far && !c.m.Up {
			c.one()
		}
		if c.m.Up {
			c.loop()
		}
		c.rest()
	})
	if !c.ended {
		return c
	}
	c.ended = c.m.Phase == model.Terminated
	ops, at := map[int]byte{}, map[int]status{}
	for label, b := range c.byLabel {
		if b.Kind != model.HookBody {
			ops[label], at[label] = b.step.Op, b.status
		}
	}
	c.ending(at, ops, c.stateNumber())
	return c
}

func (c *contract) stateNumber() int { return max(0, int(c.m.Phase)-int(model.Started)) }

// do takes a step if the model allows it. The model decides everything but time, so a
// step has one result: the timer policy is CancelTimers.
func (c *contract) do(a model.Action) bool {
	next := model.Next(c.m, a)
	if len(next) > 0 {
		c.m = next[0]
	}
	return len(next) > 0
}

// must takes a step that has to be allowed.
func (c *contract) must(a model.Action) {
	if !c.do(a) {
		panic(fmt.Sprintf("netty: the model does not allow %v in %v", a, c.m))
	}
}

func from(inLoop bool) model.From {
	if inLoop {
		return model.Loop
	}
	return model.Outside
}

// start starts the loop if it was never started, and reports whether it now exists (G17).
func (c *contract) start() bool {
	switch {
	case c.m.Up || c.m.Phase == model.Terminated:
	case c.fails > 0:
		c.fails--
		return false
	default:
		c.must(model.Action{Kind: model.StepStartOK})
	}
	return true
}

func (c *contract) call(s *Step, inLoop bool) (threw bool) {
	switch s.Op {
	case opExecute, opLazy, opSubmit, opHold, opTail, opSchedule, opRate, opDelay, opHook:
		c.submit(s, inLoop)
	case opRemove:
		if b := c.byLabel[s.A]; b != nil {
			c.do(model.Action{Kind: model.OpRemoveHook, From: from(inLoop), Body: b.Body, Outcome: model.True})
		}
	case opCancel:
		if b := c.byLabel[s.A]; b != nil {
			c.answer(inLoop, s.Label, sign(c.cancel(b, inLoop)))
		}
	case opListen:
		if b := c.byLabel[s.A]; b != nil {
			b.listeners = append(b.listeners, s.Label)
			c.woken = c.woken || b.status != pending // the listener runs on the executor (G9)
			c.notify(b)
		}
	case opGraceful, opShutdown:
		c.shutdown(s, inLoop)
	case opQuery:
		c.answer(inLoop, s.Label, fmt.Sprintf("=%d", c.stateNumber()))
	case opAwait:
		if c.m.Phase == model.Terminated {
			c.answer(false, s.Label, "+")
			break
		}
		c.alarms = append(c.alarms, alarm{c.now + s.A, func() { c.answer(false, s.Label, sign(c.m.Phase == model.Terminated)) }})
	case opWait:
		c.answer(inLoop, s.Label, "!")
	case opPause:
		if inLoop {
			c.origin++
			c.tick(c.now+s.A, c.origin)
			c.until(c.now + s.A)
		}
	case opRelease:
		c.releases++
	case opThrow:
		return true
	}
	return false
}

func (c *contract) submit(s *Step, inLoop bool) {
	if (s.Op == opRate || s.Op == opDelay) && (s.A < 0 || s.B <= 0) {
		c.answer(inLoop, s.Label, "!")
		return
	}
	if s.Op == opHold {
		c.held++
	}
	c.number++
	op := submission(s.Op)
	a := model.Action{
		Kind: op, From: from(inLoop), Outcome: model.Accepted, Periodic: s.Op == opRate || s.Op == opDelay,
		Body: model.Body{Kind: op, ID: c.number},
	}
	ok := c.start() && c.do(a)
	if ok {
		c.accept(&submitted{Body: a.Body, step: s, status: pending, hold: c.held})
	}
	c.answer(inLoop, s.Label, sign(ok))
}

func (c *contract) accept(b *submitted) {
	s, called := b.step, c.m.Phase >= model.ShuttingDown
	c.bodies[b.Body] = b
	if s.Op == opSubmit || s.Op == opHook || isTimer(s.Op) {
		c.byLabel[s.Label] = b
	}
	switch b.Kind {
	case model.HookBody:
		c.early[s.Label] = !called
		c.woken = c.woken || called // before a shutdown the loop need not wake for it (G12)
	case model.TimerBody:
		b.deadline, b.origin = c.now+max(0, s.A), -(c.now*10_000 + s.A + 1)
		if s.A > 0 {
			c.tick(b.deadline, b.origin)
		}
		if called && c.pick(2) == 1 {
			c.purge()
		}
		c.woken = true
	default:
		c.woken = c.woken || s.Op != opLazy
	}
}

func (c *contract) cancel(b *submitted, inLoop bool) bool {
	running := c.m.Running == b.Body
	if !c.do(model.Action{Kind: model.OpCancel, From: from(inLoop), Body: b.Body, Outcome: model.True}) {
		return false
	}
	if running {
		return true // it ends after this run
	}
	b.status = cancelled
	if b.Kind == model.TimerBody {
		c.dead++
		c.woken = c.woken || c.dead > len(c.timers()) // cancelled timers are more than half of the heap (G8)
	}
	c.notify(b)
	return true
}

// notify calls the listeners of a future if it is complete (G9).
func (c *contract) notify(b *submitted) {
	if b.status == pending {
		return
	}
	for _, l := range b.listeners {
		c.heard(l)
	}
	b.listeners = nil
}

// shutdown is ShutdownGracefully and Shutdown. The model has their effect (G11, G16, G17).
func (c *contract) shutdown(s *Step, inLoop bool) {
	a, done := model.Action{Kind: model.OpShutdown, From: from(inLoop)}, model.Shutdown
	if s.Op == opGraceful {
		if s.A < 0 || s.B < s.A {
			c.answer(inLoop, s.Label, "!")
			return
		}
		a.Kind, a.Quiet, a.Timeout, done = model.OpShutdownGracefully, s.A > 0, s.B > 0, model.ShuttingDown
	}
	c.answer(inLoop, s.Label, "+")
	if c.m.Phase >= done {
		return
	}
	first := c.m.Phase < model.ShuttingDown
	if !c.start() {
		a.Outcome = model.RefusedStartFailed
	}
	c.must(a)
	c.woken = true
	if !first || !c.m.Up {
		return
	}
	c.calledAt, c.quiet = c.now, s.A
	if s.B > 0 {
		c.tick(c.now+s.B, -c.now-far)
		c.alarms = append(c.alarms, alarm{c.now + s.B, func() {
			if c.do(model.Action{Kind: model.StepTimeoutFires}) {
				c.woken = true
			}
		}})
	}
}
