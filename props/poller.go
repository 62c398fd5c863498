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

// poller is a core.IOPoller whose descriptors are numbers and whose readiness is a
// script: with it an event loop runs in a testing/synctest bubble. It sleeps as an
// Executor does, and fails when it is told to.
type poller struct {
	sleep core.Poller // of an Executor: durable in a bubble
	rec   *recorder

	mu       sync.Mutex
	readable map[int]bool
	watched  map[int]*watch
	stale    []uint64 // tokens that are not watched any more
	staleNow bool     // the next look returns them
	full     int      // so many calls of Add fail
	early    int      // so many calls of Wait return at once
	broken   bool     // the next Wait fails
	dead     bool     // so does every later one, and Reopen
	ready    []core.PollEvent
}

// watch is one descriptor that is watched.
type watch struct {
	id       int // label of the registration
	interest core.Interest
	token    uint64
	told     bool // edge-triggered: this readiness was reported
	unsaid   bool // it is ready since the poller is dead, and the log does not say so
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

// collect fills ready, and reports whether there is anything in it. Requires mu.
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
		if !p.readable[fd] || w.interest&core.Readable == 0 || w.told {
			continue
		}
		w.told = w.interest&core.EdgeTriggered != 0
		if w.unsaid {
			w.unsaid = false
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
	// It is no event of a registration that has ended any more: this one was paused, and
	// goes on under its old token.
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
	w.interest, w.told = interest, false
	p.becomesReady(fd, w)
	return nil
}

// becomesReady notes that the registration has something to hear. Requires mu.
func (p *poller) becomesReady(fd int, w *watch) {
	switch {
	case !p.readable[fd] || w.interest&core.Readable == 0:
	case p.dead: // nobody is owed it any more; a busy loop may find it all the same
		w.unsaid = true
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
	return nil
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
		w.told = false
		p.becomesReady(fd, w)
	}
}

// consume reads all there is: the descriptor is not readable any more. A handler whose
// registration ended as it was called finds that out: what a newer one of the same
// number has to hear it leaves alone.
func (p *poller) consume(fd, id int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.watched[fd]; w == nil || w.id == id {
		delete(p.readable, fd)
	}
}

// closeFD closes the descriptor without a word to the loop, and opens another
// under its number.
func (p *poller) closeFD(fd int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.readable, fd)
	if w := p.watched[fd]; w != nil {
		delete(p.watched, fd) // as the kernel does, and the executor does not know
		p.rec.log.Add(history.Event{Kind: history.Fault, ID: w.id, Outcome: history.False})
	}
}

// fail makes the environment fail in the way that is named.
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

// stormReturns is more than a loop lets pass before it builds its poller anew.
const stormReturns = 520
