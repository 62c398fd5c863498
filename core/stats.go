package core

import "eventide/core/internal/poll"

// Stats is a snapshot of an executor, or the sum over a group's children.
//
// Every snapshot of one executor satisfies Accepted = Ran + Cancelled + Pending (G20) and
// TimersScheduled = TimersEnded + TimersCancelled + Timers.
type Stats struct {
	State State // of a group: the smallest State of its children

	Accepted  int64 // tasks
	Ran       int64 // including tasks that panicked or called runtime.Goexit
	Cancelled int64 // submitted functions skipped because their future was cancelled
	Pending   int64 // accepted and not ended, including the running one
	Rejected  int64 // tasks refused, before and after Done; Accepted + Rejected were submitted
	Panicked  int64 // panics of bodies and of listeners

	Timers          int64 // waiting or running
	TimersScheduled int64
	TimersEnded     int64 // timers that ended, except those in TimersCancelled
	TimersCancelled int64
	TimersRun       int64 // timer bodies run
	Hooks           int64 // waiting
	HooksRun        int64

	// Parks counts how often the loop's goroutine parked. With the pollers of an EventLoop
	// the count is exact. With any other poller every announced sleep counts, even if a
	// wake-up prevents it. Spins counts the announced sleeps that are not in Parks.
	Parks int64
	Spins int64 // sleeps that found work or a wake-up before the goroutine parked (WithSpin)
	Wakes int64 // calls that woke the loop: at most one for each park or spin (G12)

	Workers int64 // of a pool: workers that have started
	Busy    int64 // of a pool: workers that run a body

	Registrations int64 // open
	Rebuilds      int64 // times the poller was rebuilt
}

// Stats returns a snapshot. It holds the lock of Execute for a few nanoseconds, and does
// not start or wake the loop.
func (e *Executor) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stats()
}

// stats requires mu.
func (e *Executor) stats() Stats {
	c := e.counts()
	s := Stats{
		State:    e.State(),
		Accepted: c.Accepted, Ran: c.Ran, Cancelled: c.Cancelled, Pending: int64(c.Pending),
		Rejected: e.rejected + e.rejectedLate, Panicked: e.panicked.Load(),
		Timers: e.timers.pending, TimersScheduled: e.timers.scheduled, TimersEnded: e.timers.ended,
		TimersCancelled: e.timers.cancelled, TimersRun: e.timers.runs,
		Hooks: int64(e.hooks.size()), HooksRun: e.hooks.ran,
		Parks: e.parks, Wakes: e.wakes,
	}
	if e.io != nil {
		s.Registrations, s.Rebuilds = int64(e.io.open), e.io.rebuilds
	}
	if sleeps, ok := e.poller.(poll.SleepCounter); ok {
		// Parks + Spins must be the number of announced sleeps: otherwise a wake-up between
		// the announcement and the park would make Wakes exceed it (G12). A sleep counts as
		// a spin until the goroutine parks, so Parks never decreases.
		s.Parks = min(sleeps.Parks(), e.parks)
		s.Spins = e.parks - s.Parks
	}
	return s
}

// Plus returns the sum of the snapshots of two executors. Its State is the smaller of the
// two.
func (s Stats) Plus(t Stats) Stats {
	s.State = min(s.State, t.State)
	s.Accepted += t.Accepted
	s.Ran += t.Ran
	s.Cancelled += t.Cancelled
	s.Pending += t.Pending
	s.Rejected += t.Rejected
	s.Panicked += t.Panicked
	s.Timers += t.Timers
	s.TimersScheduled += t.TimersScheduled
	s.TimersEnded += t.TimersEnded
	s.TimersCancelled += t.TimersCancelled
	s.TimersRun += t.TimersRun
	s.Hooks += t.Hooks
	s.HooksRun += t.HooksRun
	s.Parks += t.Parks
	s.Spins += t.Spins
	s.Wakes += t.Wakes
	s.Workers += t.Workers
	s.Busy += t.Busy
	s.Registrations += t.Registrations
	s.Rebuilds += t.Rebuilds
	return s
}
