package tcp

import (
	"errors"
	"fmt"

	"eventide/core"
	"eventide/core/internal/transport"
)

// Sentinels, to be compared with errors.Is.
var (
	// ErrChannelClosed is why a write fails whose channel is closed, or was closed
	// before its bytes reached the kernel. A *ClosedError says why it was closed.
	ErrChannelClosed = transport.NewSentinel("tcp: channel is closed", core.ErrChannelClosed)

	// ErrChannelClosing is why a write is refused after CloseGracefully, or after
	// the shutdown call of the channel's loop; and where the end of the stream does as
	// they do: while what was written before the peer's end is sent, and, with
	// WithHalfClosure, when both sides have ended.
	ErrChannelClosing = transport.NewSentinel("tcp: channel is closing", core.ErrChannelClosing)

	// ErrOutputShutdown is why a write is refused after CloseOutput.
	ErrOutputShutdown = errors.New("tcp: output of the channel is shut down")

	// ErrListenerClosed is the CloseCause of a Listener after Close.
	ErrListenerClosed = errors.New("tcp: listener is closed")

	// ErrHandlerFailed is why a channel was closed whose handler panicked or
	// called runtime.Goexit.
	ErrHandlerFailed = transport.NewSentinel("tcp: a handler method did not return", core.ErrHandlerFailed)

	// ErrCloseDeadline is why CloseGracefully had to give up.
	ErrCloseDeadline = transport.NewSentinel("tcp: deadline of the graceful close passed", core.ErrCloseDeadline)
)

// ClosedError is core.ClosedError: what a write fails with when its channel is closed. It
// is ErrChannelClosed and, by errors.Is and errors.As, its Cause; and also
// ErrChannelClosing if its Closing says that a shutdown or a graceful close had begun. It is so
// whether the write was pending then or came later.
// A nil Cause says that the channel was closed by Close.
type ClosedError = core.ClosedError

var sentinels = transport.Sentinels{Closed: ErrChannelClosed, Closing: ErrChannelClosing}

// closedError returns the error of a write to a channel that is closed.
func closedError(cause error, closing bool) *ClosedError { return sentinels.NewClosed(cause, closing) }

// argumentError is a bad argument: it names the call, the value and what was
// expected. Nothing has happened.
func argumentError(call, format string, args ...any) error {
	return fmt.Errorf("tcp: %s: %s", call, fmt.Sprintf(format, args...))
}

// refusedByLoop is the failure of a connection whose loop does not take it.
func refusedByLoop(call string, err error) error {
	if errors.Is(err, core.ErrRejected) {
		return fmt.Errorf("tcp: %s: the loop refuses the channel: %w", call, err)
	}
	return fmt.Errorf("tcp: %s: %w", call, err)
}
