package core

import (
	"sync"

	"github.com/petermattis/goid"
)

// loops maps the id of a goroutine to the runner of bodies on it. A spawner may run a
// loop inside a body of another executor: the entry is then the inner runner until the inner
// loop ends, and the outer one again after that.
var loops sync.Map // int64 -> runner

// runner runs bodies on one goroutine at a time: the loop of an Executor, or a worker of
// a Pool. executor and localValues concern the loop or worker, the other methods the running
// body.
type runner interface {
	executor() EventExecutor
	localValues() *map[any]any
	isCurrent(f func()) bool
	skipCurrent()
	panickedCurrent()
	recordPanic(*PanicError)
}

// Current returns the executor whose loop or worker runs on the calling goroutine, and true; on
// any other goroutine it returns nil and false (Netty's ThreadExecutorMap; G2).
func Current() (EventExecutor, bool) {
	if r := currentRunner(); r != nil {
		return r.executor(), true
	}
	return nil, false
}

// currentRunner returns the runner of the calling goroutine, or nil.
func currentRunner() runner {
	if v, ok := loops.Load(goid.Get()); ok {
		return v.(runner)
	}
	return nil
}

func (e *Executor) executor() EventExecutor   { return e.self }
func (e *Executor) localValues() *map[any]any { return &e.locals }

// enter makes e the runner of the calling goroutine. It returns the previous runner, or
// nil; the caller passes it to leave.
func (e *Executor) enter() (outer runner) {
	id := goid.Get()
	outer = currentRunner()
	loops.Store(id, e)
	e.owner.Store(id)
	return outer
}

// leave undoes enter: the goroutine again belongs to outer, or to no runner.
func (e *Executor) leave(outer runner) {
	e.owner.Store(0)
	restore(outer)
}

// restore makes outer the runner of the calling goroutine again; nil: none.
func restore(outer runner) {
	if outer != nil {
		loops.Store(goid.Get(), outer)
	} else {
		loops.Delete(goid.Get())
	}
}
