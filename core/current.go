package core

import (
	"sync"

	"github.com/petermattis/goid"
)

// loops maps the id of a goroutine to what runs bodies on it. A spawner may run a loop
// inside a body of another executor: then the inner one counts, and the outer one again
// when it has ended.
var loops sync.Map // int64 -> runner

// runner runs bodies on one goroutine at a time: the loop of an Executor, or a worker of
// a Pool. All but executor are for the body that it runs.
type runner interface {
	executor() EventExecutor
	localValues() *map[any]any
	isCurrent(f func()) bool
	skipCurrent()
	panickedCurrent()
	recordPanic(*PanicError)
}

// Current returns the executor of which the caller is a body, or false if the caller is
// not a body (Netty's ThreadExecutorMap; G2).
func Current() (EventExecutor, bool) {
	if r := currentRunner(); r != nil {
		return r.executor(), true
	}
	return nil, false
}

// currentRunner returns what runs the body that is the caller; nil: it is none.
func currentRunner() runner {
	if v, ok := loops.Load(goid.Get()); ok {
		return v.(runner)
	}
	return nil
}

func (e *Executor) executor() EventExecutor   { return e.self }
func (e *Executor) localValues() *map[any]any { return &e.locals }

// enter makes the calling goroutine the loop, and returns what it was before.
func (e *Executor) enter() (outer runner) {
	id := goid.Get()
	outer = currentRunner()
	loops.Store(id, e)
	e.owner.Store(id)
	return outer
}

// leave undoes enter: the goroutine is not a loop, or the loop of outer again.
func (e *Executor) leave(outer runner) {
	e.owner.Store(0)
	restore(outer)
}

// restore makes the calling goroutine again what it was before the runner that leaves it.
func restore(outer runner) {
	if outer != nil {
		loops.Store(goid.Get(), outer)
	} else {
		loops.Delete(goid.Get())
	}
}
