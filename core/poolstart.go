package core

import (
	"errors"
	"log/slog"
	"slices"

	"github.com/petermattis/goid"
)

// newWorker returns a worker that already counts as live. The caller must start it. Requires mu.
func (p *Pool) newWorker() *worker {
	p.live++
	p.starting++
	return &worker{pool: p, poller: newChanPoller(p.cfg.clock)}
}

// startAndUnlock starts the first worker, or waits for a start in progress, and returns the error
// of the start: see Executor.startAndUnlock. Requires mu and gateNotStarted; releases mu.
func (p *Pool) startAndUnlock() error {
	if l := p.first; l != nil {
		p.mu.Unlock()
		if l.calledBy(goid.Get()) {
			return ErrStarting
		}
		<-l.decided
		return l.err
	}
	l, w := p.firstLaunch()
	p.mu.Unlock()
	p.launch(l, w)
	return l.err
}

// firstLaunch registers a launch of the first worker, which the caller must make. Requires mu.
func (p *Pool) firstLaunch() (*launch, *worker) {
	l := newLaunch()
	p.first = l
	p.launches = append(p.launches, l)
	return l, p.newWorker()
}

// launch calls the spawner for the first worker, and publishes the result.
func (p *Pool) launch(l *launch, w *worker) {
	p.spawn(l, w.run, func(err error) { p.decide(l, w, err) })
}

// decide publishes the result of the first launch: state Started, or Terminated if the launch
// failed during a shutdown (G17). See Executor.decide.
func (p *Pool) decide(l *launch, w *worker, err error) {
	l.err = err
	p.mu.Lock()
	p.first = nil
	p.endLaunch(l, w, err)
	state := State(p.state.Load())
	if err == nil {
		p.gate &^= gateNotStarted
		if state == StateNotStarted {
			p.moveTo(StateStarted)
		}
	}
	end := err != nil && state >= StateShuttingDown
	if end {
		if state == StateShuttingDown {
			p.closeAdmission(err, p.shutdown.calledAt)
		}
		p.shutdown.cause = err
		p.moveTo(StateTerminated)
	}
	p.mu.Unlock()
	close(l.decided)
	if end {
		defer p.finish(err) // deferred: the logger may call runtime.Goexit
		p.endContext(err)   // before the logger, which may be slow (G11)
		p.log(slog.LevelError, "the pool could not be started for the shutdown", "error", err)
	}
}

// endLaunch removes l from the launches in progress, and counts the result. Requires mu.
func (p *Pool) endLaunch(l *launch, w *worker, err error) {
	i := slices.Index(p.launches, l)
	p.launches = slices.Delete(p.launches, i, i+1)
	if err != nil {
		p.live--
		p.starting--
		return
	}
	p.workers = append(p.workers, w)
}

// startForShutdown starts the first worker of a pool that is shut down before its first use,
// because a worker must end it: see Executor.startForShutdown.
func (p *Pool) startForShutdown() {
	p.mu.Lock()
	if p.gate&gateNotStarted == 0 || p.first != nil || State(p.state.Load()) == StateTerminated {
		p.mu.Unlock()
		return
	}
	l, w := p.firstLaunch()
	p.mu.Unlock()
	if p.cfg.userSpawner {
		go p.launch(l, w)
	} else {
		p.launch(l, w)
	}
}

// startWorker starts an additional worker. If the spawner returns an error, no task is refused:
// the existing workers run the queued tasks.
func (p *Pool) startWorker(w *worker) {
	l := newLaunch()
	p.mu.Lock()
	p.launches = append(p.launches, l)
	p.mu.Unlock()
	p.spawn(l, w.run, func(err error) {
		l.err = err
		p.mu.Lock()
		p.endLaunch(l, w, err)
		last := p.isLast()
		p.mu.Unlock()
		close(l.decided)
		if last {
			p.finish(p.brokenBy())
		}
	})
}

// move moves the worker to a new goroutine, because a body called runtime.Goexit on this one. If
// it returns an error, the worker must continue on this goroutine, inside its deferred call (G14).
func (w *worker) move() error {
	p, l := w.pool, newLaunch()
	p.mu.Lock()
	p.launches = append(p.launches, l)
	p.mu.Unlock()
	p.spawn(l, w.run, func(err error) {
		l.err = err
		p.mu.Lock()
		i := slices.Index(p.launches, l)
		p.launches = slices.Delete(p.launches, i, i+1)
		p.mu.Unlock()
		close(l.decided)
	})
	return l.err
}

// retire removes the worker, which has no job, from the pool. It claims another worker for work that
// may be left; in a pool that is over none sleeps, and none starts. Requires mu, and releases it.
func (w *worker) retire() {
	p := w.pool
	p.live--
	p.leaving++
	i := slices.Index(p.workers, w)
	p.workers = slices.Delete(p.workers, i, i+1)
	p.unlockAndWakeOne()
}

// end closes the worker's poller, on the worker's last goroutine. The last worker to end
// terminates the pool.
func (w *worker) end() {
	var err error
	defer w.gone(&err) // deferred: an alarm of the user's clock may call runtime.Goexit
	attempt(&err, w.poller.Close)
}

// gone counts the end of the worker, and calls finish if it was the last one.
func (w *worker) gone(err *error) {
	p := w.pool
	w.locals = nil
	p.mu.Lock()
	p.leaving--
	p.unclosed = errors.Join(p.unclosed, *err)
	last := p.isLast()
	p.mu.Unlock()
	if last {
		p.finish(p.brokenBy())
	}
}

// isLast reports whether no work is left and every worker has ended. Requires mu.
func (p *Pool) isLast() bool { return p.over && p.live == 0 && p.leaving == 0 }
