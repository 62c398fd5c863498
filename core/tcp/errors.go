package tcp

import (
	"errors"
	"fmt"

	"eventide/core"
)

// Sentinels, to be compared with errors.Is.
var (
	// ErrChannelClosed is why a write fails whose channel is closed, or was closed
	// before its bytes reached the kernel. A *ClosedError says why it was closed.
	ErrChannelClosed = errors.New("tcp: channel is closed")

	// ErrChannelClosing is why a write is refused after CloseGracefully, or after
	// the shutdown call of the channel's loop; and where the end of the stream does as
	// they do: while what was written before the peer's end is sent, and, with
	// WithHalfClosure, when both sides have ended.
	ErrChannelClosing = errors.New("tcp: channel is closing")

	// ErrOutputShutdown is why a write is refused after CloseOutput.
	ErrOutputShutdown = errors.New("tcp: output of the channel is shut down")

	// ErrListenerClosed is the CloseCause of a Listener after Close.
	ErrListenerClosed = errors.New("tcp: listener is closed")

	// ErrHandlerFailed is why a channel was closed whose handler panicked or
	// called runtime.Goexit.
	ErrHandlerFailed = errors.New("tcp: a handler method did not return")

	// ErrCloseDeadline is why CloseGracefully had to give up.
	ErrCloseDeadline = errors.New("tcp: deadline of the graceful close passed")
)

// ClosedError is what a write fails with when its channel is closed. It is
// ErrChannelClosed and, by errors.Is and errors.As, its Cause; and also
// ErrChannelClosing if a shutdown or a graceful close had begun, whether the write was
// pending then or came later.
type ClosedError struct {
	// Cause says why the channel was closed: io.EOF, the error of the connection,
	// core.ErrShutdown or another cause of a shutdown, ErrHandlerFailed,
	// ErrCloseDeadline. Nil: by Close.
	Cause error

	// Closing: a shutdown or a graceful close had begun.
	Closing bool
}

func (e *ClosedError) Error() string {
	if e.Cause == nil {
		return ErrChannelClosed.Error()
	}
	return fmt.Sprintf("%v: %v", ErrChannelClosed, e.Cause)
}

// Unwrap makes the sentinels and the Cause visible to errors.Is.
func (e *ClosedError) Unwrap() []error {
	errs := []error{ErrChannelClosed}
	if e.Closing {
		errs = append(errs, ErrChannelClosing)
	}
	if e.Cause != nil {
		errs = append(errs, e.Cause)
	}
	return errs
}

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
