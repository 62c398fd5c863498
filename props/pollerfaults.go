package props

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"

	"eventide/core"
	"eventide/core/pollertest"
	"eventide/props/history"

	"github.com/petermattis/goid"
)

// pollerFaults is what a scripted poller will do wrong. Guarded by mu of the poller.
type pollerFaults struct {
	plain  bool // set once: it belongs to an executor that is no event loop, which ends at the first error
	broken bool // the next Wait fails
	dead   bool // every later Wait fails, and Reopen does too
	stuck  bool // but Reopen works
	poll   bool // the next Poll fails
	full   bool // and two calls of Add after it
	wait   bool // the next Wait panics
	wake   bool // the next Wake panics
	close  Fault

	waker  int64   // the goroutine whose Wake has panicked
	ended  []error // the failures that end the executor
	maybe  error   // a failure that ends it unless it ends first
	closed error   // of Close

	reopened int // how often Reopen has worked
	kept     int // how often it has failed, and the poller had not
}

// The failures of a scripted poller. errPoller is in the chain of those that end an executor.
var (
	errPoller    = errors.New("props: the poller is broken")
	errWaitPanic = fmt.Errorf("%w: Wait panics", errPoller)
	errWakePanic = fmt.Errorf("%w: Wake panics", errPoller)
	errModify    = errors.New("props: the poller refuses to modify")
	errClose     = fmt.Errorf("%w: Close fails", errPoller)
)

// fail implements kernel: it makes the poller fail in the given way.
func (p *poller) fail(how Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	outcome := history.Outcome(0)
	switch how {
	case FaultSpurious:
		p.early = 1
	case FaultStorm:
		p.early, outcome = stormReturns, history.False
	case FaultKeptStorm:
		p.early, outcome = stormReturns, history.False
		p.Fail(pollertest.Reopen, errPoller)
	case FaultStale:
		p.staleNow = true
	case FaultFull:
		p.Fail(pollertest.Add, syscall.ENOSPC)
	case FaultModify:
		p.Fail(pollertest.Modify, errModify)
	case FaultBroken:
		outcome = history.False
		p.breakWait()
	case FaultFullBroken:
		outcome = history.False
		p.breakWait()
		p.Fail(pollertest.Add, syscall.ENOSPC, syscall.ENOSPC)
	case FaultDead:
		p.faults.dead, outcome = true, history.Errored
		p.breakWait()
	case FaultStuck:
		p.faults.dead, p.faults.stuck, outcome = true, true, history.Errored
		p.breakWait()
	case FaultPoll, FaultFullPoll:
		p.faults.poll, p.faults.full = true, how == FaultFullPoll
		p.rec.fault(history.False)
		return // without a wake-up: a busy loop polls
	case FaultWaitPanics:
		p.faults.wait, p.faults.dead, outcome = true, true, history.Errored
	case FaultWakePanics:
		p.faults.wake, p.faults.dead, outcome = true, true, history.Errored
		p.rec.fault(outcome)
		return // without a Wake, which would be the one that panics
	case FaultCloseFails, FaultClosePanics, FaultCloseExits:
		p.faults.close = how
		return
	}
	if p.faults.plain && p.faults.broken {
		outcome = history.Errored
	}
	p.rec.fault(outcome)
	p.Model.Wake()
}

// breakWait makes the current or next Wait fail. Requires mu.
func (p *poller) breakWait() {
	if !p.faults.broken {
		p.faults.broken = true
		p.Fail(pollertest.Wait, errPoller)
	}
}

// waited returns the result of a Wait that err has ended, or panics. Requires mu.
func (p *poller) waited(err error) error {
	f := &p.faults
	if f.wait {
		f.wait = false
		p.use.panics()
		p.ends(errWaitPanic)
		panic(errWaitPanic)
	}
	if !errors.Is(err, errPoller) {
		return err
	}
	f.broken = false
	if f.dead {
		p.breakWait()
	}
	return err
}

// ends records a failure that the executor cannot survive. Requires mu.
func (p *poller) ends(why error) { p.faults.ended = append(p.faults.ended, why) }

// Wake implements core.Poller.
func (p *poller) Wake() {
	if p.wakePanics() {
		panic(errWakePanic)
	}
	p.Model.Wake()
}

// wakePanics reports whether this Wake is to panic. The executor calls Wake once more if it has not
// ended by itself meanwhile, and then it must fail.
func (p *poller) wakePanics() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, g := &p.faults, goid.Get()
	switch {
	case f.wake:
		f.wake, f.waker, f.maybe = false, g, errWakePanic
		return true
	case f.waker == g && f.maybe != nil:
		p.ends(f.maybe)
		f.maybe = nil
	}
	return false
}

// Close implements core.Poller.
func (p *poller) Close() error {
	err := p.Model.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch p.faults.close {
	case FaultCloseFails:
		p.faults.closed = errClose
		return errClose
	case FaultClosePanics:
		p.faults.closed = errClose
		panic(errClose)
	case FaultCloseExits:
		p.faults.closed = core.ErrGoexit
		runtime.Goexit()
	}
	return err
}
