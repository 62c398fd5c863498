package props

import (
	"errors"
	"slices"
	"syscall"
	"time"

	"eventide/core"
	"eventide/core/pollertest"
	"eventide/props/history"
	"eventide/props/interleave/control"
)

// poller is the scripted poller of pollertest that records what its descriptors and faults do.
// An event loop over it can run in a testing/synctest bubble, and under chosen schedules.
//
// mu is held from a change of a descriptor to its record, so that the log has the readiness
// before the body that handles it.
type poller struct {
	*pollertest.Model
	rec   *recorder
	clock core.Clock // nil: the system's

	mu       control.Mutex
	stale    []uint64 // tokens that are no longer watched
	staleNow bool     // the next poll reports them
	early    int      // how many calls of Wait return at once
	faults   pollerFaults
	use      pollerUse
	answered pollerAnswers
	unlogged map[uint64]int // registrations by token: ready since the poller was dead, which the log does not show
}

func newPoller(clock core.Clock, rec *recorder) *poller {
	return &poller{Model: pollertest.NewModel(clock), rec: rec, clock: clock, use: pollerUse{rec: rec}, answered: pollerAnswers{}, unlogged: map[uint64]int{}}
}

// Wait implements core.Poller.
func (p *poller) Wait(until core.Deadline) error {
	if p.returnsAtOnce() {
		p.mu.Lock()
		defer p.mu.Unlock()
		err := p.poll()
		p.use.waited(err, len(p.Ready()) > 0, p.passed(until))
		return err
	}
	err := p.Model.Wait(until)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err = p.waited(err); err == nil { // the loop does not ask what a Wait has found that failed or panicked
		p.logFound()
	}
	p.use.waited(err, len(p.Ready()) > 0, err == nil && p.passed(until))
	if p.use.over {
		p.ends(errPoller)
	}
	return err
}

// passed reports whether the deadline of a Wait has surely passed.
func (p *poller) passed(until core.Deadline) bool {
	switch {
	case until.IsZero() || p.rec.fails:
		return false
	case p.clock == nil:
		return !time.Now().Before(until)
	}
	return !p.clock.Now().Before(until)
}

func (p *poller) returnsAtOnce() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.use.waits()
	if p.faults.broken || p.early == 0 {
		return !p.faults.broken && p.staleNow && len(p.stale) > 0
	}
	p.early--
	p.use.early = true
	p.rec.fault(0)
	return true
}

// Poll implements core.IOPoller. It holds mu, so that no registration that was paused continues
// with a stale token before the poll has reported that.
func (p *poller) Poll() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.use.polls()
	err := error(nil)
	if p.faults.poll {
		p.faults.poll, err = false, errPoller
		if p.faults.full {
			p.Fail(pollertest.Add, syscall.ENOSPC, syscall.ENOSPC)
		}
	} else {
		err = p.poll()
	}
	p.use.polled(err, err == nil && len(p.Ready()) > 0)
	return err
}

// poll polls without a fault. Requires mu.
func (p *poller) poll() error {
	if p.staleNow {
		p.staleNow = false
		for _, token := range p.stale {
			p.Inject(core.PollEvent{Token: token, Readiness: core.NewReadiness(true, true, false, false)})
		}
	}
	err := p.Model.Poll()
	p.logFound()
	return err
}

// logFound records readiness that a dead poller has found all the same. Requires mu.
func (p *poller) logFound() {
	for _, ev := range p.Ready() {
		if id, ok := p.unlogged[ev.Token]; ok {
			delete(p.unlogged, ev.Token)
			p.rec.log.Add(history.Event{Kind: history.Readied, ID: id})
		}
	}
}

// Add implements core.IOPoller.
func (p *poller) Add(fd int, interest core.Interest, token uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, _, watched := p.Watched(fd); watched {
		return p.answers(syscall.EEXIST) // before a planned error, which is for a registration that could be added
	}
	_ = p.At(fd).Fill() // no body writes, so a descriptor with room would always be ready
	err := p.answers(p.Model.Add(fd, interest, token))
	p.use.added(fd, err)
	if err != nil {
		if errors.Is(err, syscall.ENOSPC) {
			if id := p.rec.cannotMove(token); p.rec.isChannel(id) {
				p.use.loses(id)
			}
		}
		return err
	}
	// The token is not stale any more: this registration was paused, and continues with
	// its old token.
	p.stale = slices.DeleteFunc(p.stale, func(t uint64) bool { return t == token })
	p.rec.watches(fd, token)
	p.logReady(fd)
	return nil
}

// Modify implements core.IOPoller.
func (p *poller) Modify(fd int, interest core.Interest, token uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if old, _, watched := p.Watched(fd); watched && old != token {
		p.use.wrong("Modify of descriptor %d with token %d, which is watched with token %d", fd, token, old)
	}
	err := p.answers(p.Model.Modify(fd, interest, token))
	p.logReady(fd)
	return err
}

// logReady records that the registration of fd has readiness to handle. Requires mu.
func (p *poller) logReady(fd int) {
	token, interest, watched := p.Watched(fd)
	switch {
	case !watched || interest&core.Readable == 0 || !p.At(fd).Readable():
	case p.faults.dead: // the loop need not report it any more, but a busy loop may
		p.unlogged[token] = p.rec.registered(token)
	default:
		p.rec.log.Add(history.Event{Kind: history.Readied, ID: p.rec.registered(token)})
	}
}

// Remove implements core.IOPoller.
func (p *poller) Remove(fd int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	token, _, _ := p.Watched(fd)
	if err := p.Model.Remove(fd); err != nil {
		return err
	}
	p.use.removed(fd)
	delete(p.unlogged, token)
	p.stale = append(p.stale, token)
	return nil
}

// Reopen implements core.IOPoller.
func (p *poller) Reopen() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.use.reopens()
	if p.faults.dead && !p.faults.stuck {
		p.ends(errPoller)
		err = errPoller
	}
	if err == nil {
		err = p.Model.Reopen()
	}
	if err == nil {
		p.faults.reopened++
	} else if p.use.failed == nil {
		p.faults.kept++
	}
	p.use.reopened(err)
	return err
}

// input implements kernel: it makes the descriptor readable.
func (p *poller) input(fd int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.At(fd)
	if d.Readable() {
		return
	}
	_ = d.Input() // it is open
	p.logReady(fd)
}

// consume implements kernel: the descriptor is not readable any more. If id is not the
// registration that watches fd, the readiness belongs to the newer one, and consume does
// nothing.
func (p *poller) consume(fd, id int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if token, _, watched := p.Watched(fd); !watched || p.rec.registered(token) == id {
		_ = p.At(fd).Drain() // it is open
	}
}

// closeFD implements kernel: it closes the descriptor without notice to the loop, and opens
// another one with its number.
func (p *poller) closeFD(fd int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	token, _, watched := p.Watched(fd)
	_ = p.At(fd).Close() // it is open
	if watched {
		p.use.removed(fd)
		delete(p.unlogged, token)
		p.rec.log.Add(history.Event{Kind: history.Fault, ID: p.rec.registered(token), Outcome: history.False})
	}
}
