package stress

import (
	"errors"

	"eventide/core"
)

// ledger is one side of the books: how many tasks, and which. Equal ledgers are
// equal sets but for a coincidence of 64-bit hashes.
type ledger struct {
	n     int64
	which uint64
}

func (l *ledger) enter(attempt int64) {
	l.n++
	l.which += mix(uint64(attempt))
}

// mix spreads an attempt's number over 64 bits (the finalizer of splitmix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// producer offers tasks and keeps both sides of the books: what it was told, and
// what the loop did.
type producer struct {
	// Producer only.
	attempts int64
	accepted ledger
	refused  int64
	after    int64 // accepted though the attempt began after the call returned
	faults   faults

	_ [64]byte

	// Loop only.
	ran    ledger
	last   int64 // the latest attempt that ran
	broken faults
}

// faults counts what must not happen, by what it is.
type faults map[string]int

func (f *faults) add(what string) {
	if *f == nil {
		*f = make(faults)
	}
	(*f)[what]++
}

// Attempts that a producer makes once the shutdown call has returned, in rounds
// that end only when producers let them; and after its first refusal.
const (
	attemptsAfterCall    = 64
	attemptsAfterRefusal = 4
)

// run offers a task, waits until all have, and offers tasks at full speed: until it
// is refused, or, where the end waits for an idle moment, until it has made its
// attempts after the call. Then some when admission is closed, and one after the
// end.
func (p *producer) run(r *round) {
	p.offer(r)
	r.ready.Done()
	r.ready.Wait()
	for late := 0; p.refused == 0 && late < attemptsAfterCall && !r.over(); {
		p.offer(r)
		if p.attempts == r.plan.load {
			r.loaded.Do(func() { close(r.underLoad) })
		}
		if r.waitsForIdle && r.called.Load() {
			late++
		}
	}
	<-r.ex.Context().Done()
	for range attemptsAfterRefusal {
		p.offer(r)
	}
	<-r.ex.Termination().Done()
	p.offer(r)
	if p.refused == 0 {
		p.faults.add("G5: a task was accepted after Done")
	}
}

// over reports whether the end has come though nobody was refused. A broken
// executor may accept for ever.
func (r *round) over() bool { return r.called.Load() && isClosed(r.ex.Termination().Done()) }

// offer makes one attempt, enters the answer, and judges it by what was known
// before and what is known after.
func (p *producer) offer(r *round) { p.offerAnd(r, nothing) }

func nothing() {}

// offerAnd is offer of a task that does something besides.
func (p *producer) offerAnd(r *round, and func()) {
	p.attempts++
	attempt := p.attempts
	after := r.called.Load()
	if err := r.ex.Execute(func() { p.body(r, attempt, and) }); err != nil {
		p.refusal(r, err)
		return
	}
	p.accepted.enter(attempt)
	if after {
		p.after++
	}
	if p.refused > 0 {
		p.faults.add("G5: a task was accepted after a refusal")
	}
	if after && !r.plan.kind.graceful() {
		p.faults.add("G5: a task was accepted after a call that closes admission had returned")
	}
}

func (p *producer) refusal(r *round, err error) {
	p.refused++
	var rejected *core.RejectedError
	switch {
	case !errors.As(err, &rejected) || !errors.Is(err, core.ErrRejected):
		p.faults.add("a refusal is not a RejectedError")
	case rejected.State < core.StateShutdown || r.ex.State() < core.StateShutdown:
		p.faults.add("G5: a task was refused before the close")
	case !r.calling.Load():
		p.faults.add("G5: a task was refused before any shutdown call")
	}
}

// body is what an accepted task does.
func (p *producer) body(r *round, attempt int64, and func()) {
	r.enter(&p.broken)
	and()
	p.ran.enter(attempt)
	if attempt <= p.last {
		p.broken.add("G4: a task ran after a later one of the same producer, or twice")
	}
	p.last = attempt
	r.leave()
}

// bodies is where all bodies of a round pass. Loop only, and plain, so that the
// race detector sees it if two bodies overlap or do not see each other (G2).
type bodies struct {
	inside int
	total  int64
}

func (r *round) enter(broken *faults) {
	r.bodies.inside++
	r.bodies.total++
	if r.bodies.inside != 1 {
		broken.add("G2: two bodies overlap")
	}
	if isClosed(r.ex.Termination().Done()) {
		broken.add("G15: a body ran after Done")
	}
}

func (r *round) leave() { r.bodies.inside-- }
