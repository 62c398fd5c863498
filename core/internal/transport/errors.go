package transport

import (
	"errors"
	"fmt"
)

// The sentinels of core. The sentinels of every transport wrap them.
var (
	ErrChannelClosed  = errors.New("core: channel is closed")
	ErrChannelClosing = errors.New("core: channel is closing")
	ErrHandlerFailed  = errors.New("core: a handler method panicked or called runtime.Goexit")
	ErrCloseDeadline  = errors.New("core: deadline of the close passed")
)

// sentinel is an error of one transport that wraps the sentinel of core.
type sentinel struct {
	text string
	is   error
}

// NewSentinel returns an error with this text that wraps ofCore, a sentinel of core.
func NewSentinel(text string, ofCore error) error { return &sentinel{text, ofCore} }

func (s *sentinel) Error() string { return s.text }
func (s *sentinel) Unwrap() error { return s.is }

// Sentinels are the errors of one transport that its ClosedErrors wrap.
type Sentinels struct {
	Closed, Closing error
}

// NewClosed returns the error of a write to a closed channel of this transport.
func (s *Sentinels) NewClosed(cause error, closing bool) *ClosedError {
	return &ClosedError{Cause: cause, Closing: closing, of: s}
}

// ClosedError is core.ClosedError.
type ClosedError struct {
	Cause   error
	Closing bool

	of *Sentinels // the transport's; nil: core's
}

var ofCore = Sentinels{ErrChannelClosed, ErrChannelClosing}

func (e *ClosedError) sentinels() *Sentinels {
	if e.of == nil {
		return &ofCore
	}
	return e.of
}

// Error returns the text of the transport's sentinel, and the Cause.
func (e *ClosedError) Error() string {
	if e.Cause == nil {
		return e.sentinels().Closed.Error()
	}
	return fmt.Sprintf("%v: %v", e.sentinels().Closed, e.Cause)
}

// Unwrap makes the sentinels and the Cause visible to errors.Is.
func (e *ClosedError) Unwrap() []error {
	s := e.sentinels()
	errs := []error{s.Closed}
	if e.Closing {
		errs = append(errs, s.Closing)
	}
	if e.Cause != nil {
		errs = append(errs, e.Cause)
	}
	return errs
}
