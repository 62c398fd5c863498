package netty

import "slices"

// reference is a machine that runs a program as Netty 4.1 does for sequential programs:
// SingleThreadEventExecutor, as DefaultEventExecutor and NioEventLoop use it. It records
// the departures from the contract that a run applies. Recordings of the real Netty must
// agree with it exactly, so that each difference between them and core is predicted by a
// named rule.
type reference struct {
	*world
	p     *Program
	nio   bool
	fails int // how many further starts fail

	state      int // 0 not started, 1 started, 2 shutting down, 3 shut down, 4 terminated
	queue      []refItem
	timers     []*refTimer // by deadline, then by id
	tails      []*Step
	hooks      []*Step
	woken      bool
	wakeAt     int // when the sleeping loop wakes without a call; -1: it is awake
	lastExec   int
	began      int // time of the first pass of the shutdown; far: none yet
	quiet      int
	timeout    int
	called     int // time of the call of shutdownGracefully; -1: none yet
	ids        int
	running    bool // the loop's thread exists
	holds      int  // number of holds
	releases   int
	brokenWait bool // awaitTermination always waits for its whole time (R14)
	sleeping   bool // in the 100 ms pause of a pass
	inTail     bool
	origin     int

	early map[int]bool // hooks added before the shutdown call
	made  map[int]bool // hooks that a step has added or tried to add
	batch []*Step      // hooks of the current batch that run next
	gone  map[int]bool // hooks that a call from outside removes, by a queued task

	hookCalls, hookAdded int // calls that add a hook; the latest of these whose hook was added
	by                   map[int]*refFuture
}

type refKind int

const (
	refWake refKind = iota
	refHold
	refBody
	refTimerItem
	refCall // an internal call of Netty, which counts as a task
)

type refItem struct {
	kind  refKind
	step  *Step
	timer *refTimer
	call  func()
	hold  int  // the number of the hold
	after bool // queued after the shutdown call
}

type refTimer struct {
	*refFuture
	step     *Step
	deadline int
	id       int // order of the calls
	origin   int
}

// sleepStep is the pause of a pass that waits for the quiet period, in milliseconds.
const sleepStep = 100

// runReference runs p on Netty's machine.
func runReference(p *Program) *reference {
	r := &reference{
		world: newWorld(p), p: p, nio: p.Kind == "nio", fails: p.Fail, wakeAt: -1, began: far, called: -1, origin: 1,
		early: map[int]bool{}, made: map[int]bool{}, gone: map[int]bool{}, by: map[int]*refFuture{},
	}
	r.outside = func(s *Step) { r.call(s, false) }
	ended := toTheEnd(func() {
		for r.next() != far && !r.running {
			r.one()
		}
		if r.running {
			r.thread()
		}
		r.rest()
	})
	if !ended {
		r.state = 0 // not terminated: the program does not end
		return r
	}
	ops, at := map[int]byte{}, map[int]status{}
	for label, f := range r.by {
		ops[label], at[label] = f.op, f.status
		if f.status != pending {
			continue
		}
		switch {
		case f.op == opSubmit:
			r.hit("R135")
		case f.timer != nil && f.op != opSchedule:
			r.hit("R83")
		default:
			r.hit("R88")
		}
	}
	if len(r.hooks) > 0 && r.state == 4 && !r.brokenWait {
		r.hit("R120")
	}
	if len(r.tails) > 0 {
		r.hit("R39")
	}
	r.ending(at, ops, max(0, r.state-1))
	return r
}

// start is startThread for a call that has queued something. After false the start has
// failed, and the call throws.
func (r *reference) start() bool {
	if r.state != 0 {
		return true
	}
	if r.fails > 0 {
		r.fails--
		return false
	}
	r.state, r.running = 1, true
	return true
}

// offer is execute, with or without a wake-up.
func (r *reference) offer(it refItem, inLoop, wakes bool) bool {
	if r.state >= 3 {
		return false
	}
	it.after = r.state >= 2
	r.queue = append(r.queue, it)
	if !inLoop && r.state == 0 && !r.start() {
		r.hit("R11")
		return false
	}
	if wakes && !inLoop || !r.nio {
		r.woken = true
	}
	if r.sleeping {
		r.hit("R114")
	}
	return true
}

// overdue records that the timeout has passed and the state has not changed.
func (r *reference) overdue() {
	if r.state == 2 && r.called >= 0 && (r.timeout == 0 || r.now > r.called+r.timeout) {
		r.hit("R116")
	}
}

func sign(ok bool) string {
	if ok {
		return "+"
	}
	return "-"
}

// call makes a step, outside or in a body. It returns true for a throw.
func (r *reference) call(s *Step, inLoop bool) bool {
	r.overdue()
	switch s.Op {
	case opExecute:
		r.answer(inLoop, s.Label, sign(r.offer(refItem{kind: refBody, step: s}, inLoop, true)))
	case opLazy:
		r.answer(inLoop, s.Label, sign(r.offer(refItem{kind: refBody, step: s}, inLoop, false)))
	case opSubmit:
		f := &refFuture{op: s.Op, status: pending}
		ok := r.offer(refItem{kind: refBody, step: s}, inLoop, true)
		if ok {
			r.by[s.Label] = f
		}
		r.answer(inLoop, s.Label, sign(ok))
	case opTail:
		r.tail(s, inLoop)
	case opSchedule, opRate, opDelay:
		r.schedule(s, inLoop)
	case opHook:
		r.addHook(s, inLoop)
	case opRemove:
		r.removeHook(s, inLoop)
	case opCancel:
		r.cancel(s, inLoop)
	case opListen:
		r.listen(s, inLoop)
	case opGraceful:
		r.graceful(s, inLoop)
	case opShutdown:
		r.shutdown(s, inLoop)
	case opQuery:
		r.answer(inLoop, s.Label, "="+string(rune('0'+max(0, r.state-1))))
	case opAwait:
		r.await(s)
	case opWait:
		r.hit("R137")
		r.pass(s.A)
		r.answer(inLoop, s.Label, "-")
	case opPause:
		if inLoop {
			r.pass(s.A)
		}
	case opHold:
		r.holds++
		r.answer(inLoop, s.Label, sign(r.offer(refItem{kind: refHold, hold: r.holds}, inLoop, true)))
	case opRelease:
		r.releases++
	case opThrow:
		return true
	}
	return false
}

// pass advances the time by that of a body.
func (r *reference) pass(ms int) {
	r.origin++
	r.tick(r.now+ms, r.origin)
	r.until(r.now + ms)
}

func (r *reference) tail(s *Step, inLoop bool) {
	ok := r.state < 3
	if ok {
		if r.state == 0 {
			r.hit("R39")
		}
		if r.inTail {
			r.hit("R40")
		}
		r.tails = append(r.tails, s)
		r.woken = r.woken || !inLoop
	}
	r.answer(inLoop, s.Label, sign(ok))
}

func (r *reference) schedule(s *Step, inLoop bool) {
	if s.Op != opSchedule && (s.A < 0 || s.B <= 0) {
		r.answer(inLoop, s.Label, "!")
		return
	}
	f := &refFuture{op: s.Op, status: pending}
	r.ids++ // deadlines have nanoseconds of the call, so that no two are equal
	t := &refTimer{refFuture: f, step: s, deadline: r.now + max(0, s.A), id: r.ids, origin: r.timerOrigin(s.A)}
	f.timer = t
	if s.A > 0 {
		r.tick(t.deadline, t.origin)
	}
	ok := true
	if inLoop {
		if r.state >= 3 {
			r.hit("R73")
		}
		r.insert(t)
	} else {
		ok = r.offer(refItem{kind: refTimerItem, timer: t}, false, !r.nio || t.deadline < r.wakeAt)
	}
	if ok {
		r.by[s.Label] = f
	}
	r.answer(inLoop, s.Label, sign(ok))
}

// timerOrigin is equal for timers that are scheduled at the same time with the same
// delay: these are due in the order of the calls.
func (r *reference) timerOrigin(delay int) int { return -(r.now*10_000 + delay + 1) }

func (r *reference) insert(t *refTimer) {
	i := slices.IndexFunc(r.timers, func(o *refTimer) bool {
		return o.deadline > t.deadline || o.deadline == t.deadline && o.id > t.id
	})
	if i < 0 {
		i = len(r.timers)
	}
	r.timers = slices.Insert(r.timers, i, t)
}

func (r *reference) addHook(s *Step, inLoop bool) {
	r.hookCalls++
	order := r.hookCalls
	add := func() {
		if order < r.hookAdded {
			r.hit("R119 task")
		}
		r.hookAdded = max(r.hookAdded, order)
		r.hooks = append(r.hooks, s)
	}
	ok := true
	if inLoop {
		if r.state >= 3 {
			r.hit("R119")
		}
		add()
	} else {
		r.wakesForLazy()
		ok = r.offer(refItem{kind: refCall, call: add}, false, true)
	}
	if ok && r.state < 2 {
		r.early[s.Label] = true
	}
	r.made[s.Label] = true
	r.answer(inLoop, s.Label, sign(ok))
}

// wakesForLazy records that a call about hooks, which queues a task, wakes a loop that
// sleeps although lazy tasks are queued.
func (r *reference) wakesForLazy() {
	if r.wakeAt >= 0 && !r.woken && len(r.queue) > 0 {
		r.hit("R119 task")
	}
}

// removeHook gives no answer.
func (r *reference) removeHook(s *Step, inLoop bool) {
	if !r.made[s.A] {
		return // the hook has not been added yet
	}
	remove := func() {
		if slices.ContainsFunc(r.batch, func(h *Step) bool { return h.Label == s.A }) {
			r.hit("R119 copy")
		}
		r.hooks = slices.DeleteFunc(r.hooks, func(h *Step) bool { return h.Label == s.A })
	}
	if inLoop {
		remove()
		return
	}
	r.wakesForLazy()
	r.gone[s.A] = true
	if !r.offer(refItem{kind: refCall, call: remove}, false, true) && r.state >= 3 {
		r.hit("R119 removal")
	}
}

func (r *reference) graceful(s *Step, inLoop bool) {
	if s.A < 0 || s.B < s.A {
		r.answer(inLoop, s.Label, "!")
		return
	}
	r.answer(inLoop, s.Label, "+")
	if r.state >= 2 {
		return
	}
	r.quiet, r.timeout, r.called = s.A, s.B, r.now
	r.toward(2)
}

func (r *reference) shutdown(s *Step, inLoop bool) {
	r.answer(inLoop, s.Label, "+")
	if r.state == 2 {
		r.hit("R101")
	}
	if r.state >= 2 {
		return
	}
	r.toward(3)
}

// toward changes to a state of the shutdown, and starts the thread if there is none.
func (r *reference) toward(state int) {
	started := r.state != 0
	r.state = state
	if !started {
		if r.fails > 0 {
			r.fails--
			r.state, r.brokenWait = 4, true
			return
		}
		r.running = true
	}
	r.queue = append(r.queue, refItem{kind: refWake})
	r.woken = true
}

// await is awaitTermination from outside. If the executor could not be started for its
// shutdown, the call waits for its whole time (R14).
func (r *reference) await(s *Step) {
	if r.state == 4 && !r.brokenWait {
		r.answer(false, s.Label, "+")
		return
	}
	r.alarms = append(r.alarms, alarm{r.now + s.A, func() {
		switch {
		case r.brokenWait:
			r.hit("R14")
			r.answer(false, s.Label, "~")
		default:
			r.answer(false, s.Label, sign(r.state == 4))
		}
	}})
}
