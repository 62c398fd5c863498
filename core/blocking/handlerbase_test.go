package blocking_test

import (
	"errors"
	"testing"

	"eventide/core/blocking"
)

// TestHandlerBaseDoesNothing: each method accepts a nil channel, which it must not use.
func TestHandlerBaseDoesNothing(*testing.T) {
	var h blocking.Handler = blocking.HandlerBase{}
	h.Active(nil)
	h.Read(nil, nil)
	h.ReadComplete(nil)
	h.InputShutdown(nil)
	h.Error(nil, errors.New("an error"))
	h.Inactive(nil)
	h.Unregistered(nil)
}
