package det

import (
	"runtime"
	"unsafe"
)

// worker is a real goroutine that is, one after the other, several goroutines of
// runs: a new one would have to grow its stack each time. In a -race build it is one
// only, since the detector would take what the one before did to be ordered.
type worker struct {
	run      chan struct{} // to be handed the processor
	s        *Sched
	g        *gor
	f        func()
	returned bool // f has, rather than call runtime.Goexit
}

// idle are the workers that have nothing to do. Whoever has the processor may touch
// it.
var idle = make([]*worker, 0, maxGoroutines)

//go:norace
func newWorker() *worker {
	if n := len(idle); n > 0 {
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
		w.job()
		if RaceBuild {
			return
		}
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
	if w.returned && !RaceBuild && len(idle) < cap(idle) {
		w.f = nil
		idle = append(idle, w)
	}
}
