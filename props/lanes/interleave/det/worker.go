package det

import (
	"runtime"
	"unsafe"
)

// worker is a real goroutine that is, one after the other, several goroutines of
// runs: a new one would have to grow its stack each time, and the detector would have to
// make room for it. In a -race build it is one only in each run. The tempting wrong
// version gives it the next goroutine of the same run: the detector takes what a worker
// did before to be ordered, and is blind for a race between the two. What it did in
// another run is ordered, as runs do not overlap.
type worker struct {
	run      chan struct{} // to be handed the processor
	s        *Sched
	g        *gor
	f        func()
	returned bool // f has, rather than call runtime.Goexit
}

// twiceInARun is whether a worker may be two goroutines of one run. Only a test changes
// it.
var twiceInARun = !RaceBuild

// idle are the workers that have nothing to do; spent those that may have something to
// do again when the next run begins. Whoever has the processor may touch them.
var (
	idle  = make([]*worker, 0, maxGoroutines)
	spent = make([]*worker, 0, maxGoroutines)
)

// refresh makes the spent workers idle, at the beginning of a run.
//
//go:norace
func refresh() {
	for i := 0; i < len(spent) && len(idle) < cap(idle); i++ {
		idle = append(idle, spent[i])
	}
	spent = spent[:0]
}

// newWorker returns an idle worker, or a new one. In a run with a trace, which is for a
// person, the detector should say where each goroutine began: of one that is used again
// it says where that was first.
//
//go:norace
func newWorker(trace bool) *worker {
	if n := len(idle); n > 0 && !(RaceBuild && trace) {
		w := idle[n-1]
		idle = idle[:n-1]
		return w
	}
	w := &worker{run: make(chan struct{}, 1)}
	go w.main()
	return w
}

//go:norace
func (w *worker) main() {
	for {
		raceOff()
		<-w.run
		raceOn()
		raceAcquire(unsafe.Pointer(w)) // start, which released it, is before everything
		w.job()
	}
}

//go:norace
func (w *worker) job() {
	defer w.over()
	if w.s.abort {
		runtime.Goexit()
	}
	w.f()
	w.returned = true
}

// over is the end of a goroutine: by return, panic or Goexit. The worker is put
// back before the processor is handed over; it may be given its next job before it
// has come to wait for it.
//
//go:norace
func (w *worker) over() {
	s, g := w.s, w.g
	if v := recover(); v != nil {
		w.returned = true
		if !s.abort && s.r.Panic == nil {
			s.r.Panic = newPanic(v)
		}
	}
	g.status = ended
	s.asWas = false
	s.progress++
	raceRelease(unsafe.Pointer(s)) // Run is after everything
	if s.abort {
		w.rest()
		raceOff()
		s.fin <- struct{}{}
		raceOn()
		return
	}
	s.drop(g)
	w.rest()
	if g.id == Main {
		s.mainEnded = true
	}
	if s.r.Panic != nil {
		s.finish(g, Panicked)
		return
	}
	s.pass(g)
}

// rest puts the worker back, unless its goroutine is about to end.
//
//go:norace
func (w *worker) rest() {
	if !w.returned {
		return
	}
	w.f = nil
	switch {
	case twiceInARun && len(idle) < cap(idle):
		idle = append(idle, w)
	case !twiceInARun && len(spent) < cap(spent):
		spent = append(spent, w)
	}
}
