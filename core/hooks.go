package core

import "container/list"

type hookState uint8

const (
	hookWaiting hookState = iota
	hookBegun
	hookRemoved
)

// hook is one registration of a shutdown hook. Guarded by the mutex of its executor or
// pool.
type hook struct {
	run   func()
	state hookState
	late  bool          // added by a hook after the close: it may not add further hooks
	marks int64         // hookList.marks when it was added
	place *list.Element // in the list
}

// hookList holds the hooks that have not begun, in the order added. It is a linked list, because
// a service may have a hook for each of many connections: to remove one from a slice takes time
// linear in their number, and a shutdown then takes time quadratic in it. Guarded by the mutex of
// the executor or pool.
type hookList struct {
	waiting list.List // of *hook
	fresh   int       // how many hooks, at the end of waiting, were added since the last mark
	marks   int64     // calls of mark
	ran     int64
}

func (l *hookList) add(h *hook) {
	h.marks, h.place = l.marks, l.waiting.PushBack(h)
	l.fresh++
}

func (l *hookList) size() int { return l.waiting.Len() }

// mark ends the round of hooks: those that wait now are the hooks of the next round, and those
// added later are not.
func (l *hookList) mark() {
	l.fresh = 0
	l.marks++
}

// marked returns how many hooks of this round have not begun.
func (l *hookList) marked() int { return l.size() - l.fresh }

// begin removes the first hook from the list, which must not be empty, and marks it as begun.
func (l *hookList) begin() *hook {
	h := l.waiting.Front().Value.(*hook)
	l.unlink(h)
	h.state = hookBegun
	return h
}

// remove removes h and returns true; it returns false if h has begun or was removed before.
func (l *hookList) remove(h *hook) bool {
	if h.state != hookWaiting {
		return false
	}
	l.unlink(h)
	h.state, h.run = hookRemoved, nil
	return true
}

func (l *hookList) unlink(h *hook) {
	l.waiting.Remove(h.place)
	if h.marks == l.marks {
		l.fresh--
	}
}

// AddShutdownHook registers run as a shutdown hook: it runs once on the loop when the
// executor shuts down, at state ShuttingDown or later. Hooks run in the order added, as
// soon as the tasks accepted before the shutdown call have run (G6). A hook added during
// the shutdown runs in a later turn. After admission has closed, only a hook that was accepted
// before may add one. remove removes the hook and returns true; it returns false if the hook
// has begun or was removed before. On an EventLoop channels begin to drain before hooks run,
// so a hook can no longer write to them.
//
// Netty runs hooks only in a pass that found no task, and so can skip them (R120).
func (e *Executor) AddShutdownHook(run func()) (remove func() bool, err error) {
	if run == nil {
		return nil, nilFunc("AddShutdownHook", "hook")
	}
	h := &hook{run: run}
	if e.inEarlyHook() {
		e.mu.Lock()
		h.late = e.gate&gateClosed != 0
	} else if err := e.lockOpen(OpAddShutdownHook); err != nil {
		return nil, err
	}
	e.hooks.add(h)
	e.traceAdmit(OpAddShutdownHook, true)
	if e.shutdown.called {
		e.unlockAndWake() // without announceNews: hooks are not in the inbox, and each turn of a shutdown reads the list
	} else {
		e.mu.Unlock() // the loop needs the hook only at a shutdown
	}
	return func() bool { return e.removeHook(h) }, nil
}

// inEarlyHook reports whether the caller is a hook that was accepted before the close.
// Such a hook may add another one before and after the close, so the gate does not matter.
// Testing the gate first would be wrong: the close could come between that test and
// lockOpen, and the hook would be refused (G6).
func (e *Executor) inEarlyHook() bool {
	return e.InEventLoop() && e.current.kind == BodyHook && !e.current.hook.late
}

func (e *Executor) removeHook(h *hook) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	removed := e.hooks.remove(h)
	e.traceAdmit(OpRemoveShutdownHook, removed)
	return removed
}

// hooksDue reports whether a hook has to run now. Requires mu; called only on the loop
// goroutine.
func (e *Executor) hooksDue() bool {
	return e.seen >= StateShuttingDown && e.hooks.size() > 0 &&
		e.tasks.Begun() >= e.shutdown.taskMark && e.tails.Begun() >= e.shutdown.tailMark
}

// markHooks makes the hooks that wait now the hooks of this turn: a hook added later waits for the
// next turn, even if a later step of this turn also runs hooks (G6). The tempting wrong version
// counts the waiting hooks at the first step and runs that many. It is wrong because a hook may
// remove a counted hook and add another, which would then run in this turn.
func (e *Executor) markHooks() {
	if e.seen < StateShuttingDown {
		return // no turn before a shutdown runs hooks
	}
	e.mu.Lock()
	e.hooks.mark()
	e.mu.Unlock()
}

// runHooks runs the hooks of this turn, if they are due.
func (e *Executor) runHooks() {
	if e.seen < StateShuttingDown {
		return
	}
	for {
		h, run := e.beginHook()
		if h == nil {
			return
		}
		e.runBody(currentBody{kind: BodyHook, hook: h}, run)
		e.settle()
		if e.stateMoved() {
			return
		}
	}
}

func (e *Executor) beginHook() (*hook, func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.hooksDue() || e.hooks.marked() == 0 {
		return nil, nil
	}
	h := e.hooks.begin()
	run := h.run
	h.run = nil
	return h, run
}

func (e *Executor) finishHook(*hook) {
	e.mu.Lock()
	e.hooks.ran++
	e.mu.Unlock()
}
