package tcp

import "eventide/core/internal/transport"

// Handler has the callbacks of a channel. The channel calls them on its loop, one at a
// time. Embed HandlerBase for the methods that you do not need. If each channel has a
// handler of its own, the handler needs no lock.
//
// The order for each channel: Active first; then Read, ReadComplete, WritabilityChanged
// and InputShutdown as they occur; Error at most once; Inactive and Unregistered last,
// once each. The handler of a channel that never becomes active is not called. A method
// may close the channel; the remaining calls follow after the method has returned.
type Handler interface {
	// Active is called when the channel is open for reading and writing.
	Active(ch *Channel)

	// Read receives input. p is valid only during the call: copy the bytes that you
	// keep. Writing p is safe: a write copies the bytes that the kernel does not take.
	Read(ch *Channel, p []byte)

	// ReadComplete is called after the last Read of one readiness event. It is the place
	// to Flush the writes of these calls.
	ReadComplete(ch *Channel)

	// WritabilityChanged is called when ch.IsWritable() differs from its value at the
	// previous call (true before the first). The call comes from inside a write or a flush
	// on the loop, or as a later body of the loop; it is never nested in itself.
	//
	// Each time a write takes the channel above the high water mark, on any goroutine, a
	// call with ch.IsWritable() true follows when fewer bytes than the low mark wait.
	// Several such calls may be merged into one, but none is lost: the call comes even if
	// the handler never saw false, because a flush made the channel writable again inside
	// WritabilityChanged or before the loop handled the write. So a writer that stops when
	// IsWritable is false can wait for this call.
	//
	// It is not called when the channel becomes unwritable because it closes (R224), nor
	// after that.
	WritabilityChanged(ch *Channel)

	// InputShutdown is called once, when the peer has ended its side, and only with
	// WithHalfClosure(true). ReadComplete follows, and no more calls of Read.
	InputShutdown(ch *Channel)

	// Inactive is called when the channel is closed. ch.CloseCause() returns the cause.
	Inactive(ch *Channel)

	// Unregistered is the last call. The registration with the loop ends when it has returned.
	Unregistered(ch *Channel)

	// Error receives the error for which the channel closes the connection.
	Error(ch *Channel, err error)
}

// HandlerBase is a Handler that does nothing.
type HandlerBase struct {
	transport.HandlerBase[*Channel]
}

// WritabilityChanged does nothing.
func (HandlerBase) WritabilityChanged(*Channel) {}
