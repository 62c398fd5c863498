package core

import (
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/petermattis/goid"
)

// errInlineSpawner is the error of a spawner that calls the function of the loop on its own
// goroutine before it returns. The function then does not run the loop: otherwise the call that
// starts the executor would not return before the executor's end.
var errInlineSpawner = errors.New("core: the spawner called the function of the loop on its own goroutine, want another one")

// A launch is one attempt to start the loop on a goroutine. One caller makes it; other
// callers wait for decided and return the same err (G17).
//
// The function that the spawner gets also waits for decided. So at most one loop runs,
// and none after an error, even if the spawner calls the function and then returns an
// error, or calls it twice, late, or before it returns.
type launch struct {
	caller  atomic.Int64  // goroutine that calls the spawner; 0: not yet known
	decided chan struct{} // closed once err is set
	err     error
	claimed atomic.Bool
	inline  bool // accessed by caller only
}

func newLaunch() *launch {
	return &launch{decided: make(chan struct{})}
}

// calledBy reports whether g is the goroutine on which the spawner is called.
func (l *launch) calledBy(g int64) bool { return l.caller.Load() == g }

// claim reports whether the calling goroutine becomes the loop.
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

// spawn calls the spawner with a function that runs loop. It then calls publish with the
// result, even if the spawner panics or calls runtime.Goexit.
func (s *setup) spawn(l *launch, loop func(), publish func(error)) {
	l.caller.Store(goid.Get())
	err := ErrGoexit // unless the spawner returns
	defer func() {
		if v := recover(); v != nil {
			err = newPanicError(v)
		}
		publish(err)
	}()
	err = s.cfg.spawner(func() {
		if l.claim() {
			s.goroutineStarts()
			loop()
		}
	})
	if err == nil && l.inline {
		err = errInlineSpawner
	}
}

// goroutineStarts calls the function of WithGoroutineStart.
func (s *setup) goroutineStarts() {
	if s.cfg.onGoroutine == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			s.log(slog.LevelError, "panic in the function of WithGoroutineStart", "panic", v)
		}
	}()
	s.cfg.onGoroutine(s.cfg.name)
}

// startAndUnlock starts the loop, or waits for a start in progress, and returns the error of
// the start. The caller must test the state again, which may have changed meanwhile.
// Requires mu and gateNotStarted; releases mu.
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

// beginLaunchAndUnlock registers a launch by the caller, so that no other caller starts
// the loop. Requires mu, and releases it.
func (e *Executor) beginLaunchAndUnlock() *launch {
	l := newLaunch()
	e.starting = l
	e.mu.Unlock()
	return l
}

// launch starts the loop for the first time and publishes the result. If the start fails
// during a shutdown, the executor terminates with the error of the start.
func (e *Executor) launch(l *launch) {
	e.spawn(l, e.runLoop, func(err error) { e.decide(l, err) })
}

// decide publishes the result of the first launch. The state moves to Started only after
// the spawner has accepted, so that this never has to be undone (G1): Netty moves it
// before, and must restore it if the start fails (#7483).
func (e *Executor) decide(l *launch, err error) {
	l.err = err
	e.mu.Lock()
	e.starting = nil
	state := State(e.state.Load())
	if err == nil {
		e.gate &^= gateNotStarted
		e.meterWoke()
		if state == StateNotStarted {
			e.moveTo(StateStarted)
		}
	}
	end := err != nil && state >= StateShuttingDown
	if end {
		// In the same critical section: otherwise another caller could begin a second
		// launch.
		if state == StateShuttingDown {
			e.closeAdmission(err, e.shutdown.calledAt)
		}
		e.shutdown.cause = err
		e.moveTo(StateTerminated)
	}
	e.mu.Unlock()
	close(l.decided)
	if end {
		defer e.finish(err) // deferred: the logger may call runtime.Goexit
		e.endContext(err)   // before the logger, which may be slow (G11)
		e.log(slog.LevelError, "the loop could not be started for the shutdown", "error", err)
	}
}

// startForShutdown starts the loop of an executor that was never started, so that it can
// end: hooks, the quiet period and late tasks need a loop (G17). A shutdown call never
// blocks: it waits neither for a start in progress, which sees the shutdown when it is
// decided, nor for a spawner of the user, which may be slow.
func (e *Executor) startForShutdown() {
	e.mu.Lock()
	if e.gate&gateNotStarted == 0 || e.starting != nil || State(e.state.Load()) == StateTerminated {
		e.mu.Unlock()
		return
	}
	l := e.beginLaunchAndUnlock()
	if e.cfg.userSpawner {
		go e.launch(l)
	} else {
		e.launch(l)
	}
}

// handOver moves the loop to a new goroutine, because a body ended this one by
// runtime.Goexit. If it returns an error, the loop must continue on this goroutine, inside
// its deferred call (G14).
func (e *Executor) handOver() error {
	l := newLaunch()
	e.setMoving(l)
	e.spawn(l, e.runLoop, func(err error) {
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
