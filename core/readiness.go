package core

import "eventide/core/internal/poll"

// Interest is the readiness that a Registration waits for: a combination of Readable,
// Writable and EdgeTriggered. With the zero value the registration is paused: its
// descriptor is not watched. String returns the names of the bits that are set.
type Interest = poll.Interest

const (
	// Readable: input, the end of the input, or a connection to accept.
	Readable = poll.Readable
	// Writable: room for output, or the end of a connect.
	Writable = poll.Writable
	// EdgeTriggered: the handler is called once for each change, instead of in every turn
	// for as long as the readiness lasts. The handler must read or write until the
	// descriptor would block; otherwise it is not called again for the remaining input or room.
	EdgeTriggered = poll.EdgeTriggered
)

// Readiness is the state of a descriptor as a poller reports it. Its methods are:
//
//	// Readable reports whether a read would not block: there is input, the end of
//	// the input, or a pending error.
//	Readable() bool
//
//	// Writable reports whether a write would not block, possibly because it fails.
//	Writable() bool
//
//	// HungUp reports that the peer has ended its side. Input may still be there.
//	HungUp() bool
//
//	// Failed reports an error on the descriptor, which a read or write will return.
//	Failed() bool
//
//	// Urgent reports that the input has urgent data, which a TCP peer can mark. A
//	// read stops in front of urgent data: a read that fills only a part of its
//	// buffer has not emptied the descriptor. Only handlers of registrations with
//	// EdgeTriggered see Urgent; other handlers are called again for remaining input.
//	Urgent() bool
//
//	// WithUrgent returns the Readiness with Urgent, which implies Readable. For
//	// pollers.
//	WithUrgent() Readiness
//
// String returns the names of the bits that are set.
type Readiness = poll.Readiness

// NewReadiness returns a Readiness with the given bits. It is for pollers. With hungUp or failed
// the Readiness is also Readable, and with failed also Writable.
func NewReadiness(readable, writable, hungUp, failed bool) Readiness {
	return poll.NewReadiness(readable, writable, hungUp, failed)
}
