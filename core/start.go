package core

import (
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/petermattis/goid"
)

// errInlineSpawner: had the loop run there, the call that started it would not
// have returned before the executor's end.
var errInlineSpawner = errors.New("core: the spawner ran the loop on the calling goroutine, want another one")

// A launch is one attempt to put the loop on a goroutine. It belongs to the
// caller who makes it; others wait for decided and share err (G17).
//
// What the spawner got waits for the decision as well. So a spawner that runs
// the loop and then returns an error, or runs it twice, or late, or on the spot,
// starts nothing that nobody knows of.
type launch struct {
	caller  atomic.Int64  // goroutine that asks the spawner; 0: not yet known
	decided chan struct{} // closed once err is set
	err     error
	claimed atomic.Bool
	inline  bool // touched by caller alone
}

func newLaunch() *launch {
	return &launch{decided: make(chan struct{})}
}

// calledBy reports whether g is the goroutine that the spawner runs on.
func (l *launch) calledBy(g int64) bool { return l.caller.Load() == g }

// claim reports whether the calling goroutine is to be the loop.
func (l *launch) claim() bool {
	if l.calledBy(goid.Get()) {
		select {
		case <-l.decided:
		default:
			l.inline = true
			return false
		}
	}
	<-l.decided
	return l.err == nil && l.claimed.CompareAndSwap(false, true)
}

// spawn asks the spawner, and calls settle with the outcome, whatever the
// spawner does: return, panic, or runtime.Goexit.
func (e *Executor) spawn(l *launch, settle func(error)) {
	l.caller.Store(goid.Get())
	err := ErrGoexit // unless the spawner comes back
	defer func() {
		if v := recover(); v != nil {
			err = newPanicError(v)
		}
		settle(err)
	}()
	err = e.cfg.spawner(func() {
		if l.claim() {
			e.runLoop()
		}
	})
	if err == nil && l.inline {
		err = errInlineSpawner
	}
}

// startAndUnlock makes sure that the loop runs, and returns nil, or the error of
// the start. Requires mu and gateNotStarted; returns without mu. The state may be
// anything then: the caller looks again.
func (e *Executor) startAndUnlock() error {
	if l := e.starting; l != nil {
		e.mu.Unlock()
		if l.calledBy(goid.Get()) {
			return ErrStarting
		}
		<-l.decided
		return l.err
	}
	l := e.beginLaunchAndUnlock()
	e.launch(l)
	return l.err
}

// beginLaunchAndUnlock makes the caller the one who starts the loop. Requires mu.
func (e *Executor) beginLaunchAndUnlock() *launch {
	l := newLaunch()
	e.starting = l
	e.mu.Unlock()
	return l
}

// launch asks the spawner for the first time and publishes the outcome, which a
// failed start in a shutdown makes the executor's end.
func (e *Executor) launch(l *launch) {
	e.spawn(l, func(err error) { e.decide(l, err) })
}

// decide publishes the outcome of the first launch. Started is published here,
// after the spawner has accepted, and so never taken back (G1): Netty sets it
// before, and must restore it if the start fails (#7483).
func (e *Executor) decide(l *launch, err error) {
	l.err = err
	e.mu.Lock()
	e.starting = nil
	state := State(e.state.Load())
	if err == nil {
		e.gate &^= gateNotStarted
		if state == StateNotStarted {
			e.moveTo(StateStarted)
		}
	}
	end := err != nil && state >= StateShuttingDown
	if end {
		// In this same step, or another caller would start a second launch.
		if state == StateShuttingDown {
			e.closeAdmission(err, e.shutdown.calledAt)
		}
		e.shutdown.cause = err
		e.moveTo(StateTerminated)
	}
	e.mu.Unlock()
	close(l.decided)
	if end {
		defer e.finish(err) // whatever the logger does
		e.log(slog.LevelError, "the loop could not be started for the shutdown", "error", err)
	}
}

// startForShutdown starts a loop that has nothing to do but to end: hooks, the
// quiet period and late tasks need one (G17). It does not wait for a start that
// is in progress: that one sees the shutdown when it is decided. Nor does it wait
// for a spawner of the user's, which may be slow: a shutdown call never blocks.
func (e *Executor) startForShutdown() {
	e.mu.Lock()
	if e.gate&gateNotStarted == 0 || e.starting != nil || State(e.state.Load()) == StateTerminated {
		e.mu.Unlock()
		return
	}
	l := e.beginLaunchAndUnlock()
	if e.cfg.ownSpawner {
		go e.launch(l)
	} else {
		e.launch(l)
	}
}

// handOver moves the loop to a new goroutine, because a body called
// runtime.Goexit on this one. An error means that it has to go on here (G14).
func (e *Executor) handOver() error {
	l := newLaunch()
	e.setMoving(l)
	e.spawn(l, func(err error) {
		l.err = err
		e.setMoving(nil)
		close(l.decided)
	})
	return l.err
}

func (e *Executor) setMoving(l *launch) {
	e.mu.Lock()
	e.moving = l
	e.mu.Unlock()
}
