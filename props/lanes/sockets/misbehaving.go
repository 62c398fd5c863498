//go:build linux

package sockets

import (
	"runtime"

	"eventide/props/lanes/sockets/kernel"
)

// logs is called with each record of the logger. The logger of some programs fails once, or closes the
// listener from a record on.
func (r *run) logs() {
	nth, o := int(r.records.Add(1)), r.p.Options
	if nth < o.LoggerNth || !r.workers.InEventLoop() && !r.boss.InEventLoop() {
		return
	}
	switch {
	case o.Logger == closeLogger:
		r.closeListener()
	case nth > o.LoggerNth:
	case o.Logger == panicLogger:
		panic("a logger of the program")
	case o.Logger == goexitLogger:
		if r.reacting.Load() > 0 { // the logger is called in a handler, which ends too
			r.handlerFailed.Store(true)
		}
		runtime.Goexit()
	}
}

// failure reports whether a call of the kernel has failed by a fault for which match returns true.
func (r *run) failure(match func(kernel.Failure) bool) bool {
	for f := range r.k.Failures() {
		if match(f) {
			return true
		}
	}
	return false
}

// judgeLoops compares counters of the loops with the panics and the faults of the program.
func (r *run) judgeLoops() {
	var panics bounds
	for _, c := range r.conns {
		for _, call := range c.endBegins {
			if call.what == "Panic" {
				panics.add(true, call.inLoop)
			}
		}
	}
	made := int(r.handlersMade.Load())
	if o := r.p.Options; o.BadHandler == panicHandler && made >= o.BadNth {
		panics.add(true, o.Logger != goexitLogger) // its Goexit, for the connection that has to be closed, ends the panic
	}
	if n := r.reports.Panicked; !panics.contain(n) {
		r.violate("G14: the report counts %d panics, want %d to %d", n, panics.least, panics.most)
	}
	rebuilds := r.workers.Stats().Rebuilds
	if r.boss != r.workers {
		rebuilds += r.boss.Stats().Rebuilds
	}
	if n := r.k.Failures()[kernel.Failure{Op: kernel.OpWait, Errno: errRebuilds}]; rebuilds != int64(n) {
		r.violate("R196: %d polls have failed, and pollers were rebuilt %d times", n, rebuilds)
	}
}
