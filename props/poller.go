package props

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"syscall"

	"eventide/core"
	"eventide/props/history"
)

// poller is a core.IOPoller with scripted descriptors, so that an event loop can run in a
// testing/synctest bubble. It sleeps like the poller of an Executor, and fails when the
// script says so.
type poller struct {
	sleep core.Poller // the poller of an Executor, which blocks durably in a bubble
	rec   *recorder

	mu       sync.Mutex
	readable map[int]bool
	watched  map[int]*watch
	stale    []uint64 // tokens that are no longer watched
	staleNow bool     // the next poll reports them
	full     int      // how many calls of Add fail
	early    int      // how many calls of Wait return at once
	broken   bool     // the next Wait fails
	dead     bool     // every later Wait fails, and Reopen does too
	ready    []core.PollEvent
	reopened int // calls of Reopen that worked
}

// watch is one watched descriptor.
type watch struct {
	id       int // label of the registration
	interest core.Interest
	token    uint64
	reported bool // edge-triggered: this readiness was reported
	unlogged bool // it became ready after the poller was dead, and the log does not show that
}

var errPoller = errors.New("props: the poller is broken")

func newPoller(clock core.Clock, rec *recorder) *poller {
	return &poller{
		sleep: core.NewParkPoller(clock), rec: rec,
		readable: map[int]bool{}, watched: map[int]*watch{},
	}
}

// Wait implements core.Poller.
func (p *poller) Wait(until core.Deadline) error {
	p.mu.Lock()
	if p.broken {
		p.broken = p.dead
		p.ready = nil
		p.mu.Unlock()
		return errPoller
	}
	early := p.early > 0
	if early {
		p.early--
		p.rec.fault(0)
	}
	found := p.collect()
	p.mu.Unlock()
	if early || found {
		return nil
	}
	err := p.sleep.Wait(until)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken {
		p.broken = p.dead
		return errPoller
	}
	p.collect()
	return err
}

// Wake implements core.Poller.
func (p *poller) Wake() { p.sleep.Wake() }

// Close implements core.Poller.
func (p *poller) Close() error { return p.sleep.Close() }

// Poll implements core.IOPoller.
func (p *poller) Poll() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.collect()
	return nil
}

// Ready implements core.IOPoller.
func (p *poller) Ready() []core.PollEvent { return p.ready }

// collect fills ready, and reports whether it is not empty. Requires mu.
func (p *poller) collect() bool {
	p.ready = nil
	if p.staleNow {
		p.staleNow = false
		for _, token := range p.stale {
			p.ready = append(p.ready, core.PollEvent{Token: token, Readiness: core.NewReadiness(true, true, false, false)})
		}
	}
	for _, fd := range slices.Sorted(maps.Keys(p.watched)) {
		w := p.watched[fd]
		if !p.readable[fd] || w.interest&core.Readable == 0 || w.reported {
			continue
		}
		w.reported = w.interest&core.EdgeTriggered != 0
		if w.unlogged {
			w.unlogged = false
			p.rec.log.Add(history.Event{Kind: history.Readied, ID: w.id})
		}
		p.ready = append(p.ready, core.PollEvent{Token: w.token, Readiness: core.NewReadiness(true, false, false, false)})
	}
	return len(p.ready) > 0
}

// Add implements core.IOPoller.
func (p *poller) Add(fd int, interest core.Interest, token uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.watched[fd] != nil:
		return syscall.EEXIST
	case p.full > 0:
		p.full--
		p.rec.cannotMove(token)
		return syscall.ENOSPC
	}
	// The token is not stale any more: this registration was paused, and continues with
	// its old token.
	p.stale = slices.DeleteFunc(p.stale, func(t uint64) bool { return t == token })
	w := &watch{id: p.rec.watches(fd, token), interest: interest, token: token}
	p.watched[fd] = w
	p.becomesReady(fd, w)
	return nil
}

// Modify implements core.IOPoller.
func (p *poller) Modify(fd int, interest core.Interest, token uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.watched[fd]
	if w == nil {
		return syscall.ENOENT
	}
	w.interest, w.reported = interest, false
	p.becomesReady(fd, w)
	return nil
}

// becomesReady records that the registration has readiness to handle. Requires mu.
func (p *poller) becomesReady(fd int, w *watch) {
	switch {
	case !p.readable[fd] || w.interest&core.Readable == 0:
	case p.dead: // the loop need not report it any more, but a busy loop may
		w.unlogged = true
	default:
		p.rec.log.Add(history.Event{Kind: history.Readied, ID: w.id})
		p.sleep.Wake()
	}
}

// Remove implements core.IOPoller.
func (p *poller) Remove(fd int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.watched[fd]
	if w == nil {
		return syscall.ENOENT
	}
	delete(p.watched, fd)
	p.stale = append(p.stale, w.token)
	return nil
}

// Reopen implements core.IOPoller.
func (p *poller) Reopen() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return errPoller
	}
	p.watched = map[int]*watch{}
	p.reopened++
	return nil
}

func (p *poller) timesReopened() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reopened
}

// input makes the descriptor readable.
func (p *poller) input(fd int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.readable[fd] {
		return
	}
	p.readable[fd] = true
	if w := p.watched[fd]; w != nil {
		w.reported = false
		p.becomesReady(fd, w)
	}
}

// consume empties the descriptor, which is then not readable any more. If id is not the
// registration that watches fd, the readiness belongs to the newer one, and consume does
// nothing.
func (p *poller) consume(fd, id int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.watched[fd]; w == nil || w.id == id {
		delete(p.readable, fd)
	}
}

// closeFD closes the descriptor without notice to the loop, and opens another one with
// its number.
func (p *poller) closeFD(fd int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.readable, fd)
	if w := p.watched[fd]; w != nil {
		delete(p.watched, fd) // as the kernel does, and the executor does not know
		p.rec.log.Add(history.Event{Kind: history.Fault, ID: w.id, Outcome: history.False})
	}
}

// fail makes the poller fail in the given way.
func (p *poller) fail(how Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	outcome := history.Outcome(0)
	switch how {
	case FaultSpurious:
		p.early = 1
	case FaultStorm:
		p.early, outcome = stormReturns, history.False
	case FaultStale:
		p.staleNow = true
	case FaultFull:
		p.full++
	case FaultBroken:
		p.broken, outcome = true, history.False
	case FaultFullBroken:
		p.broken, outcome = true, history.False
		p.full += 2
	case FaultDead:
		p.broken, p.dead, outcome = true, true, history.Errored
	}
	p.rec.fault(outcome)
	p.sleep.Wake()
}

// stormReturns is more than the number of returns after which a loop rebuilds its poller.
const stormReturns = 520
