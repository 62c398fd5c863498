package blocking

import (
	"log/slog"
	"time"

	"eventide/core/internal/transport"
)

// Option configures the channels that Register and Serve make. Those calls return an error for
// a bad value, of several for the first one, and then have no effect. They ignore a nil option.
type Option func(*config) error

// config holds the values of the options. It does not change after it was made.
type config struct {
	readBuffer       int
	halfClosure      bool
	handshakeTimeout time.Duration
	closeTimeout     time.Duration
	logger           *slog.Logger // nil: slog.Default() at the time of the record
}

// Defaults.
const (
	DefaultReadBuffer       = 16 << 10
	DefaultHandshakeTimeout = 10 * time.Second
	DefaultCloseTimeout     = 5 * time.Second
)

// MaxReadBuffer is the largest read buffer, in bytes: 1 GiB.
const MaxReadBuffer = 1 << 30

func newConfig(opts []Option) (*config, error) {
	c := &config{
		readBuffer:       DefaultReadBuffer,
		handshakeTimeout: DefaultHandshakeTimeout,
		closeTimeout:     DefaultCloseTimeout,
	}
	if err := transport.Apply(c, opts); err != nil {
		return nil, err
	}
	return c, nil
}

// WithReadBuffer bounds the bytes of one call of Handler.Read. Each open channel has a
// buffer of this size. The default is 16 KiB, which is a TLS record; the maximum is
// MaxReadBuffer.
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
// Handler.InputShutdown is called, and writes are possible until the channel is closed.
// The default is false: at the peer's end all written bytes are sent, flushed or not, and the
// channel is closed. (Netty drops them, R220.)
func WithHalfClosure(on bool) Option {
	return func(c *config) error {
		c.halfClosure = on
		return nil
	}
}

// WithHandshakeTimeout bounds the handshake of a connection that has one (a method
// HandshakeContext, as *tls.Conn has). The executor makes the handshake before
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

// WithCloseTimeout sets for how long in total the executor may be blocked in the
// connection after Close: in a handshake, in writes to a peer that does not read, in the
// close alert of TLS. After that the connection is cut. Other time does not count: an executor
// that runs tasks sends the flushed bytes after them, however late. With 0 a
// blocked call is cut at once, and no more bytes are sent. The default is 5 s.
func WithCloseTimeout(d time.Duration) Option {
	return func(c *config) error {
		if d < 0 {
			return argumentError("WithCloseTimeout", "d is %v, want 0 or more", d)
		}
		c.closeTimeout = d
		return nil
	}
}
