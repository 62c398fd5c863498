package tcp_test

import (
	"errors"
	"testing"

	"eventide/core/tcp"
)

// TestHandlerBaseDoesNothing: each method accepts a nil channel, which it must not use.
func TestHandlerBaseDoesNothing(*testing.T) {
	var h tcp.Handler = tcp.HandlerBase{}
	h.Active(nil)
	h.Read(nil, nil)
	h.ReadComplete(nil)
	h.WritabilityChanged(nil)
	h.InputShutdown(nil)
	h.Error(nil, errors.New("an error"))
	h.Inactive(nil)
	h.Unregistered(nil)
}
