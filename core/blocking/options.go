package blocking

import (
	"log/slog"
	"time"

	"eventide/core/internal/transport"
)

// Option changes how Register and Serve make channels. A bad value is an error of
// that call, as is a nil option, and nothing has happened then.
type Option func(*config) error

// config is what the options say. It is not changed once a channel has it.
type config struct {
	readBuffer       int
	halfClosure      bool
	handshakeTimeout time.Duration
	closeTimeout     time.Duration
	logger           *slog.Logger // nil: slog.Default, as of the moment
}

// Defaults.
const (
	DefaultReadBuffer       = 16 << 10
	DefaultHandshakeTimeout = 10 * time.Second
	DefaultCloseTimeout     = 5 * time.Second
)

// MaxReadBuffer is the greatest read buffer: 1 GiB.
const MaxReadBuffer = 1 << 30

func newConfig(opts []Option) (*config, error) {
	c := &config{
		readBuffer:       DefaultReadBuffer,
		handshakeTimeout: DefaultHandshakeTimeout,
		closeTimeout:     DefaultCloseTimeout,
	}
	if err := transport.Apply("blocking", c, opts); err != nil {
		return nil, err
	}
	return c, nil
}

// WithReadBuffer bounds the bytes of one call of Handler.Read. Each channel has a
// buffer of this size while it is open. The default is 16 KiB, which is a TLS
// record, the most MaxReadBuffer.
func WithReadBuffer(size int) Option {
	return func(c *config) error {
		if size < 1 || size > MaxReadBuffer {
			return argumentError("WithReadBuffer", "size is %d, want 1 to %d", size, MaxReadBuffer)
		}
		c.readBuffer = size
		return nil
	}
}

// WithHalfClosure(true) keeps a channel open when the peer has ended its side:
// Handler.InputShutdown is called, and writes go on until the channel is closed.
// The default is false: what was written until then is sent, flushed or not, and the
// channel is closed. (Netty drops it, R220.)
func WithHalfClosure(on bool) Option {
	return func(c *config) error {
		c.halfClosure = on
		return nil
	}
}

// WithHandshakeTimeout bounds the handshake of a connection that has one (a method
// HandshakeContext, as of *tls.Conn); the executor performs it before
// Handler.Active. The default is 10 s.
func WithHandshakeTimeout(d time.Duration) Option {
	return func(c *config) error {
		if d <= 0 {
			return argumentError("WithHandshakeTimeout", "d is %v, want more than 0", d)
		}
		c.handshakeTimeout = d
		return nil
	}
}

// WithCloseTimeout sets how long the executor may be blocked in the connection from
// Close on, in all: in a handshake, in writes to a peer that does not read, in the
// goodbye of TLS. After that the connection is closed under it. What it does elsewhere
// does not count: an executor that is busy sends what was flushed before Close when
// it comes to it, however late that is. 0 leaves no time: what blocks is cut at once,
// and nothing more is sent. The default is 5 s.
func WithCloseTimeout(d time.Duration) Option {
	return func(c *config) error {
		if d < 0 {
			return argumentError("WithCloseTimeout", "d is %v, want 0 or more", d)
		}
		c.closeTimeout = d
		return nil
	}
}
