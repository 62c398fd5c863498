package blocking

import (
	"errors"
	"fmt"

	"eventide/core"
	"eventide/core/internal/transport"
)

// Sentinels, to be compared with errors.Is.
var (
	// ErrChannelClosed is the error of a write whose channel is closed, or was closed
	// before the connection took its bytes. A *ClosedError gives the reason.
	ErrChannelClosed = transport.NewSentinel("blocking: channel is closed", core.ErrChannelClosed)

	// ErrChannelClosing is the error of a write after CloseGracefully, after the peer's end, or after the
	// shutdown call of the channel's executor.
	ErrChannelClosing = transport.NewSentinel("blocking: channel is closing", core.ErrChannelClosing)

	// ErrTooManyChannels is the error of Register when the group has its maximum of
	// channels. It comes as a *TooManyChannelsError.
	ErrTooManyChannels = errors.New("blocking: too many channels")

	// ErrHandlerFailed is the cause of the close of a channel whose handler panicked or
	// called runtime.Goexit.
	ErrHandlerFailed = transport.NewSentinel("blocking: a handler method panicked or called runtime.Goexit", core.ErrHandlerFailed)

	// ErrCloseDeadline is the cause of a close by the deadline of CloseGracefully, and of a
	// Close that could not send all flushed bytes in time.
	ErrCloseDeadline = transport.NewSentinel("blocking: deadline of the close passed", core.ErrCloseDeadline)
)

// TooManyChannelsError gives the maximum of the group. It wraps ErrTooManyChannels.
type TooManyChannelsError struct {
	Max int
}

func (e *TooManyChannelsError) Error() string {
	return fmt.Sprintf("%v: the group has %d open, which is its maximum", ErrTooManyChannels, e.Max)
}

// Unwrap makes the sentinel visible to errors.Is.
func (e *TooManyChannelsError) Unwrap() error { return ErrTooManyChannels }

// ClosedError is core.ClosedError, the error of a write whose channel is closed. It matches
// ErrChannelClosed and, through errors.Is and errors.As, its Cause. If Closing is set,
// because a shutdown or a graceful close had begun, it matches ErrChannelClosing too.
// Cause is nil after a Close or a complete drain.
type ClosedError = core.ClosedError

var sentinels = transport.Sentinels{Closed: ErrChannelClosed, Closing: ErrChannelClosing}

// closedError returns the error of a write to a channel that is closed.
func closedError(cause error, closing bool) *ClosedError { return sentinels.NewClosed(cause, closing) }

// argumentError returns the error of a bad argument: it names the call, the value and the
// expected value. The call has had no effect.
func argumentError(call, format string, args ...any) error {
	return fmt.Errorf("blocking: %s: %s", call, fmt.Sprintf(format, args...))
}
