package blocking

import (
	"errors"
	"fmt"

	"eventide/core"
	"eventide/core/internal/transport"
)

// Sentinels, to be compared with errors.Is.
var (
	// ErrChannelClosed is why a write fails whose channel is closed, or was closed
	// before the connection took its bytes. A *ClosedError says why it was closed.
	ErrChannelClosed = transport.NewSentinel("blocking: channel is closed", core.ErrChannelClosed)

	// ErrChannelClosing is why a write is refused after CloseGracefully, or after
	// the shutdown call of the channel's executor.
	ErrChannelClosing = transport.NewSentinel("blocking: channel is closing", core.ErrChannelClosing)

	// ErrTooManyChannels is why a connection is refused by a group that has as
	// many as it may have. It comes as a *TooManyChannelsError.
	ErrTooManyChannels = errors.New("blocking: too many channels")

	// ErrHandlerFailed is why a channel was closed whose handler panicked or
	// called runtime.Goexit.
	ErrHandlerFailed = transport.NewSentinel("blocking: a handler method did not return", core.ErrHandlerFailed)

	// ErrCloseDeadline is why CloseGracefully had to give up, or why a Close could
	// not send what was flushed before it.
	ErrCloseDeadline = transport.NewSentinel("blocking: deadline of the close passed", core.ErrCloseDeadline)
)

// TooManyChannelsError says how many channels the group may have. It is
// ErrTooManyChannels.
type TooManyChannelsError struct {
	Max int
}

func (e *TooManyChannelsError) Error() string {
	return fmt.Sprintf("%v: the group has %d open, which is its maximum", ErrTooManyChannels, e.Max)
}

// Unwrap makes the sentinel visible to errors.Is.
func (e *TooManyChannelsError) Unwrap() error { return ErrTooManyChannels }

// ClosedError is core.ClosedError: what a write fails with when its channel is closed. It
// is ErrChannelClosed and, by errors.Is and errors.As, its Cause; and also
// ErrChannelClosing if its Closing says that a shutdown or a graceful close had begun.
// A nil Cause says that the channel was closed by Close, or by a drain that came to its end.
type ClosedError = core.ClosedError

var sentinels = transport.Sentinels{Closed: ErrChannelClosed, Closing: ErrChannelClosing}

// closedError returns the error of a write to a channel that is closed.
func closedError(cause error, closing bool) *ClosedError { return sentinels.NewClosed(cause, closing) }

// argumentError is a bad argument: it names the call, the value and what was
// expected. Nothing has happened.
func argumentError(call, format string, args ...any) error {
	return fmt.Errorf("blocking: %s: %s", call, fmt.Sprintf(format, args...))
}
