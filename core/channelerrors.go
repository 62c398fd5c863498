package core

import "eventide/core/internal/transport"

// Sentinels of channels, to be compared with errors.Is. Each transport has errors of its
// own, such as tcp.ErrChannelClosed, with a text that names the transport. errors.Is
// finds in each of these the sentinel of core that has the same name.
var (
	// ErrChannelClosed is the error of a write to a channel that is closed, or that was
	// closed before the bytes were sent. A *ClosedError says why the channel was closed.
	ErrChannelClosed = transport.ErrChannelClosed

	// ErrChannelClosing is the error of a write after CloseGracefully, or after the
	// shutdown call of the channel's executor.
	ErrChannelClosing = transport.ErrChannelClosing

	// ErrHandlerFailed is the reason for the close of a channel whose handler panicked or
	// called runtime.Goexit.
	ErrHandlerFailed = transport.ErrHandlerFailed

	// ErrCloseDeadline is the reason for a close whose deadline passed before the channel
	// had ended in an orderly way.
	ErrCloseDeadline = transport.ErrCloseDeadline
)

// ClosedError is the error of a write whose channel is closed, in every transport:
//
//	type ClosedError struct {
//		// Cause says why the channel was closed: io.EOF, the error of the connection,
//		// ErrShutdown or another cause of a shutdown, ErrHandlerFailed,
//		// ErrCloseDeadline. Nil: by Close.
//		Cause error
//
//		// Closing: a shutdown or a graceful close had begun.
//		Closing bool
//	}
//
// errors.Is and errors.As find in it ErrChannelClosed, its Cause, and, if Closing is set,
// ErrChannelClosing.
type ClosedError = transport.ClosedError
