package tcp

import (
	"errors"
	"fmt"

	"eventide/core"
	"eventide/core/internal/transport"
)

// Sentinels, to be compared with errors.Is.
var (
	// ErrChannelClosed is the error of a write to a closed channel, and of a write whose
	// bytes had not reached the kernel when the channel was closed. It is a *ClosedError,
	// whose Cause says why the channel was closed.
	ErrChannelClosed = transport.NewSentinel("tcp: channel is closed", core.ErrChannelClosed)

	// ErrChannelClosing is the error of a write after CloseGracefully, or after the
	// shutdown call of the channel's loop. A write gets it also while the channel sends
	// its buffer after the peer's end of the stream, and, with WithHalfClosure, once both
	// sides have ended.
	ErrChannelClosing = transport.NewSentinel("tcp: channel is closing", core.ErrChannelClosing)

	// ErrOutputShutdown is the error of a write after CloseOutput.
	ErrOutputShutdown = errors.New("tcp: output of the channel is shut down")

	// ErrListenerClosed is the CloseCause of a Listener after Close.
	ErrListenerClosed = errors.New("tcp: listener is closed")

	// errPollerEndedCall is the error of a dial if Add of the loop's poller panics, or calls
	// runtime.Goexit.
	errPollerEndedCall = errors.New("the poller did not return from Add")

	// ErrHandlerFailed is the cause of the close of a channel whose handler panicked or
	// called runtime.Goexit.
	ErrHandlerFailed = transport.NewSentinel("tcp: a handler method panicked or called runtime.Goexit", core.ErrHandlerFailed)

	// ErrCloseDeadline is the cause of a close by the deadline of CloseGracefully.
	ErrCloseDeadline = transport.NewSentinel("tcp: deadline of the graceful close passed", core.ErrCloseDeadline)
)

// ClosedError is core.ClosedError: the error of a write whose channel is closed. It
// matches ErrChannelClosed and, through errors.Is and errors.As, its Cause. If Closing is
// set, because a shutdown or a graceful close had begun, it matches ErrChannelClosing too.
// Both hold for writes that were pending and for later ones.
// A nil Cause means that Close closed the channel.
type ClosedError = core.ClosedError

var sentinels = transport.Sentinels{Closed: ErrChannelClosed, Closing: ErrChannelClosing}

// closedError returns the error of a write to a channel that is closed.
func closedError(cause error, closing bool) *ClosedError { return sentinels.NewClosed(cause, closing) }

// argumentError returns the error of a bad argument: it names the call, the value and
// the expected range. The call had no effect.
func argumentError(call, format string, args ...any) error {
	return fmt.Errorf("tcp: %s: %s", call, fmt.Sprintf(format, args...))
}

// refusedByLoop returns the error of a connection that its loop does not accept.
func refusedByLoop(call string, err error) error {
	if errors.Is(err, core.ErrRejected) {
		return fmt.Errorf("tcp: %s: the loop refuses the channel: %w", call, err)
	}
	return fmt.Errorf("tcp: %s: %w", call, err)
}
