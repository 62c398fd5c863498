package netty

import (
	"math/rand/v2"
	"slices"
)

// contract is a machine that runs a program by Eventide's guarantees. It does not use
// core. A variant makes the choices that the guarantees leave open. A program whose
// outcome depends on the variant proves nothing, and is not used.
type contract struct {
	*world
	p     *Program
	fails int

	state    int
	queue    []*Step // nil: a hold
	tails    []*Step
	timers   []*conTimer
	hooks    []*conHook
	dead     int // cancelled timers that are still in the loop's heap, since its last turn
	by       map[int]*conFuture
	byHook   map[int]*conHook
	early    map[int]bool
	running  bool
	woken    bool
	holds    []int // the numbers of the queued holds
	held     int   // number of the last hold
	releases int
	inHook   *conHook

	called, closed      bool
	quiet, timeout      int
	calledAt, lastEnd   int
	taskMark, tailMark  int // accepted before the shutdown call
	accepted, begun     int // tasks
	tailsIn, tailsBegun int
	purgeDue            bool
	origin, order       int
	rng                 *rand.Rand // nil: variant 0, the fixed order
}

// variant selects the choices that the guarantees leave open: the order of a task, a due
// timer, a tail task and a hook added during the shutdown, and the time after a shutdown
// call at which the timers are cancelled. 0 is a fixed order; other numbers are seeds of
// a random order.
type variant uint64

// variants is the number of variants of each program that are compared.
const variants = 24

type conFuture struct {
	op        byte
	status    status
	running   bool
	stopping  bool // cancelled while its body ran
	listeners []int
}

type conTimer struct {
	*conFuture
	step            *Step
	deadline, order int
	origin          int
}

type conHook struct {
	step *Step
	late bool
}

func runContract(p *Program, v variant) *contract {
	c := &contract{
		world: newWorld(p), p: p, fails: p.Fail, origin: 1,
		by: map[int]*conFuture{}, byHook: map[int]*conHook{}, early: map[int]bool{},
	}
	if v > 0 {
		c.rng = rand.New(rand.NewPCG(uint64(v), uint64(p.ID)))
	}
	c.outside = func(s *Step) { c.call(s, false) }
	ended := toTheEnd(func() {
		for c.next() != far && !c.running {
			c.one()
		}
		if c.running {
			c.loop()
		}
		c.rest()
	})
	if !ended {
		c.state = 0 // not terminated: the program does not end
		return c
	}
	ops, at := map[int]byte{}, map[int]status{}
	for label, f := range c.by {
		ops[label], at[label] = f.op, f.status
	}
	c.ending(at, ops, max(0, c.state-1))
	return c
}

// admit decides every submission: after the close it is refused (G5), and a failed start
// keeps no task (G17).
func (c *contract) admit() bool {
	if c.closed || c.state == 4 {
		return false
	}
	if c.state != 0 {
		return true
	}
	if c.fails > 0 {
		c.fails--
		return false
	}
	c.state, c.running = 1, true
	return true
}

func (c *contract) call(s *Step, inLoop bool) bool {
	switch s.Op {
	case opExecute, opLazy, opSubmit, opHold:
		c.execute(s, inLoop)
	case opTail:
		ok := c.admit()
		if ok {
			c.tails = append(c.tails, s)
			c.tailsIn++
			c.woken = true
		}
		c.answer(inLoop, s.Label, sign(ok))
	case opSchedule, opRate, opDelay:
		c.schedule(s, inLoop)
	case opHook:
		c.addHook(s, inLoop)
	case opRemove:
		if h := c.byHook[s.A]; h != nil {
			c.hooks = slices.DeleteFunc(c.hooks, func(o *conHook) bool { return o == h })
		}
	case opCancel:
		c.cancel(s, inLoop)
	case opListen:
		if f := c.by[s.A]; f != nil {
			f.listeners = append(f.listeners, s.Label)
			c.woken = c.woken || f.status != pending // the listener runs on the executor (G9)
			c.notify(f)
		}
	case opGraceful:
		c.graceful(s, inLoop)
	case opShutdown:
		c.answer(inLoop, s.Label, "+")
		c.shutdown(0, 0, true)
	case opQuery:
		c.answer(inLoop, s.Label, "="+string(rune('0'+max(0, c.state-1))))
	case opAwait:
		if c.state == 4 {
			c.answer(false, s.Label, "+")
			break
		}
		c.alarms = append(c.alarms, alarm{c.now + s.A, func() { c.answer(false, s.Label, sign(c.state == 4)) }})
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

func (c *contract) execute(s *Step, inLoop bool) {
	ok := c.admit()
	if s.Op == opHold {
		c.held++
		c.holds = append(c.holds, c.held)
	}
	if ok {
		c.queue = append(c.queue, s)
		c.accepted++
		c.woken = c.woken || s.Op != opLazy
		if s.Op == opSubmit {
			c.by[s.Label] = &conFuture{op: s.Op, status: pending}
		}
	}
	c.answer(inLoop, s.Label, sign(ok))
}

func (c *contract) schedule(s *Step, inLoop bool) {
	if s.Op != opSchedule && (s.A < 0 || s.B <= 0) {
		c.answer(inLoop, s.Label, "!")
		return
	}
	ok := c.admit()
	if ok {
		c.order++
		t := &conTimer{
			conFuture: &conFuture{op: s.Op, status: pending}, step: s, order: c.order,
			deadline: c.now + max(0, s.A), origin: -(c.now*10_000 + s.A + 1),
		}
		c.by[s.Label] = t.conFuture
		if s.A > 0 {
			c.tick(t.deadline, t.origin)
		}
		c.arm(t)
		c.purgeDue = c.purgeDue || c.called
		if c.called && c.maybe() {
			c.purge()
		}
		c.woken = true
	}
	c.answer(inLoop, s.Label, sign(ok))
}

func (c *contract) arm(t *conTimer) {
	i := slices.IndexFunc(c.timers, func(o *conTimer) bool {
		return o.deadline > t.deadline || o.deadline == t.deadline && o.order > t.order
	})
	if i < 0 {
		i = len(c.timers)
	}
	c.timers = slices.Insert(c.timers, i, t)
}

// purge cancels the waiting timers (CancelTimers).
func (c *contract) purge() {
	for _, t := range c.timers {
		t.status = cancelled
	}
	c.timers, c.purgeDue = nil, false
}

// addHook follows G6: after the close, only a hook that was accepted before the close may
// add a hook.
func (c *contract) addHook(s *Step, inLoop bool) {
	ok := inLoop && c.inHook != nil && !c.inHook.late || c.admit()
	if ok {
		h := &conHook{step: s, late: c.closed}
		c.hooks = append(c.hooks, h)
		c.byHook[s.Label] = h
		c.early[s.Label] = !c.called
		c.woken = c.woken || c.called // before a shutdown the loop need not wake for it (G12)
	}
	c.answer(inLoop, s.Label, sign(ok))
}

func (c *contract) cancel(s *Step, inLoop bool) {
	f := c.by[s.A]
	if f == nil {
		return
	}
	switch {
	case f.status != pending, f.stopping, f.running && (f.op == opSubmit || f.op == opSchedule):
		c.answer(inLoop, s.Label, "-")
		return
	case f.running:
		f.stopping = true
	default:
		f.status = cancelled
		waiting := len(c.timers)
		c.timers = slices.DeleteFunc(c.timers, func(t *conTimer) bool { return t.conFuture == f })
		c.dead += waiting - len(c.timers)
		c.woken = c.woken || c.dead > len(c.timers) // cancelled timers are more than half of the heap (G8)
		c.notify(f)
	}
	c.answer(inLoop, s.Label, "+")
}

// notify calls the listeners of a future if it is complete (G9).
func (c *contract) notify(f *conFuture) {
	if f.status == pending {
		return
	}
	for _, l := range f.listeners {
		c.heard(l)
	}
	f.listeners = nil
}

func (c *contract) graceful(s *Step, inLoop bool) {
	if s.A < 0 || s.B < s.A {
		c.answer(inLoop, s.Label, "!")
		return
	}
	c.answer(inLoop, s.Label, "+")
	if !c.called {
		c.shutdown(s.A, s.B, false)
	}
}

// shutdown is ShutdownGracefully and Shutdown (G11, G16, G17).
func (c *contract) shutdown(quiet, timeout int, now bool) {
	if c.closed || c.state == 4 {
		return
	}
	if c.state == 0 {
		if c.fails > 0 {
			c.fails--
			c.state, c.closed = 4, true
			return
		}
		c.state, c.running = 1, true
	}
	if !c.called {
		c.called, c.calledAt, c.quiet, c.timeout = true, c.now, quiet, timeout
		c.taskMark, c.tailMark = c.accepted, c.tailsIn
		if timeout > 0 {
			c.tick(c.now+timeout, -c.now-far)
			c.alarms = append(c.alarms, alarm{c.now + timeout, c.closeNow})
		}
	}
	c.state = max(c.state, 2)
	if now || timeout == 0 {
		c.closeNow()
	}
	c.purgeDue = true
	c.woken = true
}

func (c *contract) closeNow() {
	if c.closed {
		return
	}
	c.closed, c.state, c.woken = true, 3, true
}
