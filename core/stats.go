package core

import "eventide/core/internal/poll"

// Stats is a snapshot of an executor, or the sum over a group's children.
//
// Of one executor it is consistent: Accepted = Ran + Cancelled + Pending at any
// time, though each is counted on its own (G20), and likewise
// TimersScheduled = TimersEnded + TimersCancelled + Timers.
type Stats struct {
	State State // of a group: the least of the children's

	Accepted  int64 // tasks
	Ran       int64 // those that panicked or exited included
	Cancelled int64 // submitted functions skipped because their future was cancelled
	Pending   int64 // accepted and not ended: the running one included
	Rejected  int64 // tasks refused, after done too: Accepted + Rejected is how many were offered
	Panicked  int64 // bodies that panicked

	Timers          int64 // waiting or running
	TimersScheduled int64
	TimersEnded     int64 // by having run for the last time
	TimersCancelled int64
	TimersRun       int64 // timer bodies run
	Hooks           int64 // waiting
	HooksRun        int64

	// Parks counts sleeps of the loop's goroutine: those that the loop has announced,
	// and from which a wake-up may have kept it; but on the pollers of an EventLoop
	// those that came about. Spins counts the rest.
	Parks int64
	Spins int64 // times it was about to sleep and found something first (WithSpin)
	Wakes int64 // times a call woke it: at most one for each of both (G12)

	Registrations int64 // open
	Rebuilds      int64 // times the poller was built anew
}

// Stats returns a snapshot. It takes the lock that Execute takes, for a few
// nanoseconds, and does not start or disturb the loop.
func (e *Executor) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.counts()
	s := Stats{
		State:    e.State(),
		Accepted: c.Accepted, Ran: c.Ran, Cancelled: c.Cancelled, Pending: int64(c.Pending),
		Rejected: e.rejected + e.rejectedLate, Panicked: e.panicked,
		Timers: e.timers.pending, TimersScheduled: e.timers.scheduled, TimersEnded: e.timers.ended,
		TimersCancelled: e.timers.dropped, TimersRun: e.timers.runs,
		Hooks: int64(len(e.hooks.waiting)), HooksRun: e.hooks.ran,
		Parks: e.parks, Wakes: e.wakes,
	}
	if e.io != nil {
		s.Registrations, s.Rebuilds = int64(e.io.open), e.io.rebuilds
	}
	if sleeps, ok := e.poller.(poll.SleepCounter); ok {
		// The sum is what the loop has announced, or a wake-up between the announcement
		// and the park would be one too many (G12). Until a sleep is a park it counts as
		// a spin: so Parks, which people wait for, never goes back.
		s.Parks = min(sleeps.Parks(), e.parks)
		s.Spins = e.parks - s.Parks
	}
	return s
}

// Plus returns the sum of two snapshots, of different executors. Its State is the
// lesser one.
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
	s.Registrations += t.Registrations
	s.Rebuilds += t.Rebuilds
	return s
}
