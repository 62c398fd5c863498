package core

import "eventide/core/internal/poll"

// Poller implements the sleep and the wake-up of a loop. The executor decides when to sleep
// and until when.
//
// Wake is sticky: a Wake before Wait makes the next Wait return at once. A return of Wait
// only means that the loop must check for work. Wait may return early without a reason,
// or late by the latency of the operating system.
type Poller interface {
	// Wait blocks until Wake is called or until the deadline (zero: none), or returns earlier.
	// Only the loop calls it. After an error the executor closes admission, runs the accepted
	// work, and terminates with that error; an IOPoller is first reopened. A panic and a call of
	// runtime.Goexit (ErrGoexit) are such errors too, but they do not reopen an IOPoller.
	Wait(until Deadline) error

	// Wake makes the current or the next Wait return. Any goroutine may call it. It never
	// blocks, and does nothing after Close. A panic of Wake ends the executor, as a panic
	// of Wait does, and does not reach the caller of Execute, whose task is already
	// accepted. The executor then calls Wake once more; if that panics too, the next call
	// that posts work calls it again (G12, G15).
	Wake()

	// Close releases the resources of the poller. The executor calls it once, after the
	// last Wait has returned. Termination.Err has its error or panic.
	Close() error
}

// IOPoller is a Poller that also watches descriptors, for an EventLoop. The epoll pollers
// are IOPollers; package pollertest has a scripted one for tests.
//
// A descriptor is added with a token, which is part of each of its events. A token is
// never used twice. So an event that was collected before its descriptor was removed, or
// before its number was reused, cannot be taken for an event of the newer registration.
//
// After an error of Wait or Poll the loop calls Reopen once. If Reopen fails, the executor
// ends with both errors. If the poller fails again before it has worked, the executor ends
// with the second error.
//
// A panic of Add, Modify or Remove reaches the caller of Register, Modify, Close or End.
// Register and Modify then have no effect; Close and End have ended the registration. If
// the loop itself called Add, Modify or Remove, the panic ends the executor. So does a
// panic of Wait, Poll, Ready, Reopen or Wake, which never reaches a caller (G15).
//
// The Error method of an error of Add or Modify may use the executor.
type IOPoller interface {
	Poller

	// Add begins to watch fd. Add, Modify and Remove may be called while the loop is in
	// Wait, but not concurrently with each other.
	Add(fd int, interest Interest, token uint64) error
	// Modify replaces the interest. An edge-triggered descriptor that is ready
	// is reported again.
	Modify(fd int, interest Interest, token uint64) error
	// Remove stops watching fd. Ready may still return events that were collected before.
	Remove(fd int) error

	// Poll collects events without blocking. Loop only.
	Poll() error
	// Ready returns the events that the last Wait or Poll collected. The slice is valid
	// until the next Wait or Poll. Loop only.
	Ready() []PollEvent

	// Reopen replaces the resource of the operating system, such as an epoll instance, by
	// a new one that watches nothing; the loop then adds every descriptor again. After an
	// error the old one is still in use. Loop only.
	Reopen() error
}

// PollEvent is the readiness of one descriptor:
//
//	type PollEvent struct {
//		Token     uint64 // under which the descriptor was added
//		Readiness Readiness
//	}
type PollEvent = poll.Event
