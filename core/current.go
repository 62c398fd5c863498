package core

import (
	"sync"

	"github.com/petermattis/goid"
)

// loops maps the id of a goroutine to the executor whose loop it is. A spawner may run a
// loop inside a body of another executor. Then the entry is the inner executor, and the
// outer one again when the inner loop has ended.
var loops sync.Map // int64 -> *Executor

// Current returns the executor of which the caller is a body, or false if the caller is
// not a body (Netty's ThreadExecutorMap; G2).
func Current() (EventExecutor, bool) {
	if e := currentExecutor(); e != nil {
		return e.self, true
	}
	return nil, false
}

func currentExecutor() *Executor {
	if v, ok := loops.Load(goid.Get()); ok {
		return v.(*Executor)
	}
	return nil
}

// enter makes the calling goroutine the loop, and returns the executor whose loop it was
// before.
func (e *Executor) enter() (outer *Executor) {
	id := goid.Get()
	outer = currentExecutor()
	loops.Store(id, e)
	e.owner.Store(id)
	return outer
}

// leave undoes enter: the goroutine is not a loop, or the loop of outer again.
func (e *Executor) leave(outer *Executor) {
	e.owner.Store(0)
	if outer != nil {
		loops.Store(goid.Get(), outer)
	} else {
		loops.Delete(goid.Get())
	}
}
