package blocking

import "eventide/core/internal/transport"

// Handler is what a channel calls, on its executor, one method at a time. Embed
// HandlerBase for those you do not need. Each channel may have a handler of its
// own, which then needs no lock.
//
// For each channel: Active first, after the handshake if there is one; then Read,
// ReadComplete and InputShutdown as they come; Error at most once; Inactive and
// Unregistered last, once each. A channel never becomes active if its handshake
// fails, or if a shutdown comes before its start; a graceful one still drains it,
// which sends what was written. Of such a channel only Error is heard, if the
// connection failed in the handshake or in that drain. A method may close the channel;
// what remains to be said about it follows after the method has returned.
type Handler interface {
	// Active is called when the channel can be used.
	Active(ch *Channel)

	// Read gets input. p is valid only during the call: copy what you keep. A
	// write of p copies it.
	Read(ch *Channel, p []byte)

	// ReadComplete is called after each Read: the time to Flush what it wrote.
	ReadComplete(ch *Channel)

	// InputShutdown is called once when the peer has ended its side, with
	// WithHalfClosure(true) only. ReadComplete follows, and no more reads.
	InputShutdown(ch *Channel)

	// Inactive is called when the channel is closed. ch.CloseCause() says why.
	Inactive(ch *Channel)

	// Unregistered is the last call: the executor has let go of the channel.
	Unregistered(ch *Channel)

	// Error gets the error for which the connection was closed.
	Error(ch *Channel, err error)
}

// HandlerBase is a Handler that does nothing.
type HandlerBase struct {
	transport.HandlerBase[*Channel]
}
