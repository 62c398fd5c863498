package blocking

import "eventide/core/internal/transport"

// Handler has the methods that a channel calls, on its executor, one at a time. Embed
// HandlerBase for methods that you do not need. Each channel may have its own handler,
// which then needs no lock.
//
// The order of the calls of a channel: Active first, after the handshake if there is one;
// then Read, ReadComplete and InputShutdown as input comes; Error at most once; Inactive
// and Unregistered last, once each. A channel does not become active if its handshake
// fails, or if a shutdown comes before its start; a graceful shutdown still drains it,
// which sends what was written. For such a channel only Error is called, if the
// connection failed in the handshake or in that drain. A method may close the channel;
// the remaining methods are called after it has returned.
type Handler interface {
	// Active is called when the channel can be used.
	Active(ch *Channel)

	// Read gets input. p is valid only during the call: copy what you keep. Write copies
	// p.
	Read(ch *Channel, p []byte)

	// ReadComplete is called after each Read. It is the place for a Flush of what Read
	// wrote.
	ReadComplete(ch *Channel)

	// InputShutdown is called once when the peer has ended its side, only with
	// WithHalfClosure(true). ReadComplete follows, and no more reads.
	InputShutdown(ch *Channel)

	// Inactive is called when the channel is closed. ch.CloseCause() gives the reason.
	Inactive(ch *Channel)

	// Unregistered is the last call: the executor no longer serves the channel.
	Unregistered(ch *Channel)

	// Error gets the error that made the channel close the connection.
	Error(ch *Channel, err error)
}

// HandlerBase is a Handler that does nothing.
type HandlerBase struct {
	transport.HandlerBase[*Channel]
}
