package core

// IOPoller is a Poller that watches descriptors too: where an EventLoop sleeps.
// The epoll pollers are; a test may bring one that is scripted.
//
// A descriptor is added under a token, which comes back with each of its events.
// Tokens are never used twice, so that an event which was fetched before its
// descriptor was removed, or reused under the same number, cannot be taken for
// one of the newer registration.
//
// A panic of Add, Modify or Remove reaches who called Register, Modify or Close, and has
// changed nothing; but Close and End have ended the registration all the same. Where the
// loop made the call for itself it ends the executor, as do panics of Wait, Poll, Ready
// and Reopen, and of Wake, which never reach who called (G15).
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

// PollEvent is what a poller found out about one descriptor.
type PollEvent struct {
	Token     uint64
	Readiness Readiness
}

// forgetter is a poller that counts what it watches: forgot tells it that the kernel
// has let go of a descriptor by itself, because it was closed, and that Remove will
// not be called for it. Its number has just been added again.
type forgetter interface{ forgot() }

// looker is a poller whose Wait may return without a look at what it watches, for a
// wake-up that was pending. Loop only.
type looker interface{ looked() bool } // the last Wait has looked

// sleepCounter is a poller that may find something before it parks, and so knows
// better than its caller how often it has. Any goroutine may ask.
type sleepCounter interface {
	Parks() int64 // calls of Wait that parked; counted when they do
	Spins() int64 // calls of Wait that found something before
}
