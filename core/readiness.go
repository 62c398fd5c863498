package core

import "eventide/core/internal/poll"

// Interest says what a Registration waits for: a combination of Readable, Writable and
// EdgeTriggered. The zero value is nothing: the registration is paused and its descriptor
// is not watched at all. String returns the names of what is set.
type Interest = poll.Interest

const (
	// Readable: input, the end of the input, or a connection to accept.
	Readable = poll.Readable
	// Writable: room for output, or the end of a connect.
	Writable = poll.Writable
	// EdgeTriggered: the handler is called once for each change, instead of in every
	// turn for as long as the readiness lasts. The handler must then go on until the
	// descriptor would block, or it will not hear of what it left.
	EdgeTriggered = poll.EdgeTriggered
)

// Readiness is what a poller found out about a descriptor. Its methods answer what to do:
//
//	// Readable reports whether a read would not block: there is input, or its end,
//	// or an error to be fetched.
//	Readable() bool
//
//	// Writable reports whether a write would not block, if only because it would fail.
//	Writable() bool
//
//	// HungUp reports that the peer has ended its side. Input may still be there.
//	HungUp() bool
//
//	// Failed reports an error on the descriptor, which a read or write will return.
//	Failed() bool
//
//	// Urgent reports that there is urgent data in the input, which TCP lets a peer
//	// mark. A read ends in front of it: one that brought less than it had room for
//	// has not emptied the descriptor. Only registrations with EdgeTriggered are told;
//	// the others hear again of whatever is left.
//	Urgent() bool
//
//	// WithUrgent returns the Readiness with Urgent, which makes it Readable too: for
//	// pollers.
//	WithUrgent() Readiness
//
// String returns the names of what is set.
type Readiness = poll.Readiness

// NewReadiness returns a Readiness with these answers: for pollers.
func NewReadiness(readable, writable, hungUp, failed bool) Readiness {
	return poll.NewReadiness(readable, writable, hungUp, failed)
}
