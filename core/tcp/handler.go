package tcp

import "eventide/core/internal/transport"

// Handler is what a channel calls, on its loop, one method at a time. Embed
// HandlerBase for those you do not need. Each channel may have a handler of its
// own, which then needs no lock.
//
// For each channel: Active first; then Read, ReadComplete, WritabilityChanged and
// InputShutdown as they come; Error at most once; Inactive and Unregistered last,
// once each. A channel that never became active hears nothing. A method may close
// the channel; what remains to be said about it follows after the method has
// returned.
type Handler interface {
	// Active is called when the channel can be used.
	Active(ch *Channel)

	// Read gets input. p is valid only during the call: copy what you keep. A
	// write of p copies what the kernel does not take.
	Read(ch *Channel, p []byte)

	// ReadComplete is called when the reads of one readiness are over: the time to
	// Flush what they wrote.
	ReadComplete(ch *Channel)

	// WritabilityChanged is called when ch.IsWritable() is not what it was when the
	// handler last heard of it. It is called from inside a write or a flush on the loop,
	// or soon, and never from inside itself.
	//
	// Each time a write has taken the channel above the high water mark, a call with
	// ch.IsWritable() true follows when fewer bytes than the low mark wait, whichever
	// goroutine wrote. Several of these calls may become one, and none is lost: the call
	// comes though the handler has not heard of false, because a flush inside
	// WritabilityChanged, or before the loop saw the write, has made the channel writable
	// again. So a writer that stops when IsWritable is false can wait for this call.
	//
	// That a channel is not writable because it closes is not told (R224), and no call
	// follows then.
	WritabilityChanged(ch *Channel)

	// InputShutdown is called once when the peer has ended its side, with
	// WithHalfClosure(true) only. ReadComplete follows, and no more reads.
	InputShutdown(ch *Channel)

	// Inactive is called when the channel is closed. ch.CloseCause() says why.
	Inactive(ch *Channel)

	// Unregistered is the last call: the loop has let go of the channel.
	Unregistered(ch *Channel)

	// Error gets the error for which the connection is about to be closed.
	Error(ch *Channel, err error)
}

// HandlerBase is a Handler that does nothing.
type HandlerBase struct {
	transport.HandlerBase[*Channel]
}

// WritabilityChanged does nothing.
func (HandlerBase) WritabilityChanged(*Channel) {}
