package blocking

import (
	"errors"
	"fmt"
)

// Sentinels, to be compared with errors.Is.
var (
	// ErrChannelClosed is why a write fails whose channel is closed, or was closed
	// before the connection took its bytes. A *ClosedError says why it was closed.
	ErrChannelClosed = errors.New("blocking: channel is closed")

	// ErrChannelClosing is why a write is refused after CloseGracefully, or after
	// the shutdown call of the channel's executor.
	ErrChannelClosing = errors.New("blocking: channel is closing")

	// ErrTooManyChannels is why a connection is refused by a group that has as
	// many as it may have. It comes as a *TooManyChannelsError.
	ErrTooManyChannels = errors.New("blocking: too many channels")

	// ErrHandlerFailed is why a channel was closed whose handler panicked or
	// called runtime.Goexit.
	ErrHandlerFailed = errors.New("blocking: a handler method did not return")

	// ErrCloseDeadline is why CloseGracefully had to give up, or why a Close could
	// not send what was flushed before it.
	ErrCloseDeadline = errors.New("blocking: deadline of the close passed")
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

// ClosedError is what a write fails with when its channel is closed. It is
// ErrChannelClosed and, by errors.Is and errors.As, its Cause; and also
// ErrChannelClosing if a shutdown or a graceful close had begun.
type ClosedError struct {
	// Cause says why the channel was closed: io.EOF, the error of the connection,
	// core.ErrShutdown or another cause of a shutdown, ErrHandlerFailed,
	// ErrCloseDeadline. Nil: by Close, or by a drain that came to its end.
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
	return fmt.Errorf("blocking: %s: %s", call, fmt.Sprintf(format, args...))
}
