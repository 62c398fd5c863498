package core

import "eventide/core/internal/transport"

// Sentinels of channels, to be compared with errors.Is. Each transport has errors of its
// own, such as tcp.ErrChannelClosed, with a text that names the transport; each of these is
// also the sentinel of core of the same name.
var (
	// ErrChannelClosed is why a write fails whose channel is closed, or was closed before
	// the bytes were sent. A *ClosedError says why the channel was closed.
	ErrChannelClosed = transport.ErrChannelClosed

	// ErrChannelClosing is why a write is refused after CloseGracefully, or after the
	// shutdown call of the channel's executor.
	ErrChannelClosing = transport.ErrChannelClosing

	// ErrHandlerFailed is why a channel was closed whose handler panicked or called
	// runtime.Goexit.
	ErrHandlerFailed = transport.ErrHandlerFailed

	// ErrCloseDeadline is why a close had to give up.
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
// By errors.Is and errors.As it is ErrChannelClosed, its Cause, and, if Closing,
// ErrChannelClosing.
type ClosedError = transport.ClosedError
