package core

import "eventide/core/internal/poll"

// Poller is where a loop sleeps: the seam between the executor and whatever can
// wake it. The executor decides when to sleep and until when; the poller only
// knows how.
//
// Wake is sticky: one that comes before Wait makes the next Wait return at once.
// A return of Wait means "look again" and nothing else: it may be early, late by
// what the operating system needs, or for no reason.
type Poller interface {
	// Wait blocks until Wake, until the deadline (the zero Deadline is never),
	// or for less. Only the loop calls it. An error is final: the executor
	// closes admission, runs what it accepted, and terminates with that error.
	Wait(until Deadline) error

	// Wake makes the current or the next Wait return. Any goroutine may call
	// it; it never blocks, and does nothing after Close. A panic of Wake ends the
	// executor, as a panic of Wait does, and does not reach the caller of Execute,
	// whose task is already accepted. Wake is then called once more, and if that
	// panics too, again by the next call that posts work (G12, G15).
	Wake()

	// Close frees what the poller holds. The executor calls it once, after the
	// last Wait has returned. Its error, or panic, is in Termination.Err.
	Close() error
}

// IOPoller is a Poller that watches descriptors too: where an EventLoop sleeps.
// The epoll pollers are IOPollers; a test may bring a scripted one.
//
// A descriptor is added under a token, which comes back with each of its events.
// Tokens are never used twice, so that an event which was fetched before its
// descriptor was removed, or reused under the same number, cannot be taken for
// one of the newer registration.
//
// A panic of Add, Modify or Remove reaches the caller of Register, Modify or Close, and has
// changed nothing; but Close and End have ended the registration all the same. If the loop
// itself made the call, the panic ends the executor, as do panics of Wait, Poll, Ready,
// Reopen and Wake, which never reach a caller (G15).
type IOPoller interface {
	Poller

	// Add begins to watch fd. Add, Modify and Remove may be called while the
	// loop is in Wait, but not at the same time as one another.
	Add(fd int, interest Interest, token uint64) error
	// Modify replaces the interest. An edge-triggered descriptor that is ready
	// is reported again.
	Modify(fd int, interest Interest, token uint64) error
	// Remove ends it. What was fetched before may still be in Ready.
	Remove(fd int) error

	// Poll collects events without blocking. Loop only. Errors are as of Wait.
	Poll() error
	// Ready returns what the last Wait or Poll collected. It is valid until the
	// next. Loop only.
	Ready() []PollEvent

	// Reopen replaces what the operating system provides by a new one that
	// watches nothing: the caller adds every descriptor again. After an error
	// the old one is still there. Loop only.
	Reopen() error
}

// PollEvent is what a poller found out about one descriptor:
//
//	type PollEvent struct {
//		Token     uint64 // under which the descriptor was added
//		Readiness Readiness
//	}
type PollEvent = poll.Event
