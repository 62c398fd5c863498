package blocking

import "eventide/core/internal/transport"

// Handler has the callbacks of a channel. The channel calls them on its executor, one at a
// time. Embed HandlerBase for the methods that you do not need. If each channel has a handler
// of its own, the handler needs no lock.
//
// The order for each channel: Active first, after the handshake if there is one;
// then Read, ReadComplete and InputShutdown as they occur; Error at most once; Inactive
// and Unregistered last, once each. A channel does not become active if its handshake
// fails, or if a shutdown comes before its start; a graceful shutdown still drains it,
// and sends its written bytes. The handler of such a channel gets at most one call: Error, if
// the connection failed in the handshake or in that drain. A method may close the channel;
// the remaining calls follow after it has returned.
type Handler interface {
	// Active is called when the channel is open for reading and writing.
	Active(ch *Channel)

	// Read receives input. p is valid only during the call: copy the bytes that you keep.
	// Write copies p.
	Read(ch *Channel, p []byte)

	// ReadComplete is called after each Read. It is the place to Flush the writes of Read.
	ReadComplete(ch *Channel)

	// InputShutdown is called once, when the peer has ended its side, and only with
	// WithHalfClosure(true). ReadComplete follows, and no more calls of Read.
	InputShutdown(ch *Channel)

	// Inactive is called when the channel is closed. ch.CloseCause() returns the cause.
	Inactive(ch *Channel)

	// Unregistered is the last call. The executor serves the channel until it has returned, and may
	// serve another one then.
	Unregistered(ch *Channel)

	// Error receives the error for which the channel closes the connection.
	Error(ch *Channel, err error)
}

// HandlerBase is a Handler that does nothing.
type HandlerBase struct {
	transport.HandlerBase[*Channel]
}
