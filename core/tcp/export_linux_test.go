package tcp

import (
	"syscall"

	"eventide/core"
)

// WithFaults lets a test decide how system calls go: op is "read", "send", "accept",
// "shutdown", "close" or "connect".
func WithFaults(ask func(op string, n int) (int, syscall.Errno)) Option {
	names := [...]string{opRead: "read", opSend: "send", opAccept: "accept", opShutdown: "shutdown", opClose: "close", opConnect: "connect"}
	return func(c *config) error {
		c.faults = &faults{ask: func(op operation, n int) (int, syscall.Errno) { return ask(names[op], n) }}
		return nil
	}
}

// FD returns the descriptor.
func (c *Channel) FD() int { return c.fd }

// Again makes the poller report once more, as it does after a real EAGAIN.
func (c *Channel) Again() { c.onLoop(c.again) }

// OnClose listens to the future that Close or CloseGracefully would return, without
// closing.
func (c *Channel) OnClose(which string, listener func()) {
	c.mu.Lock()
	p := c.promise(map[string]**core.Promise[struct{}]{"close": &c.asks().close, "graceful": &c.asks().graceful}[which])
	c.mu.Unlock()
	p.Future().OnDone(func(struct{}, error) { listener() })
}

// ContinueFlush is what readiness does after a send that would have blocked.
func (c *Channel) ContinueFlush() { c.flush() }
