package tcp

import (
	"log/slog"
	"math"
	"time"

	"eventide/core/internal/transport"
)

// Option configures the channels and listeners that Listen, Dial and their variants make.
// Those calls return an error for a bad value, and then have no effect. They ignore a nil option.
type Option func(*config) error

// config holds the values of the options. It does not change after newConfig.
type config struct {
	low, high   int
	writeSpin   int
	readBuffer  int
	recv, send  int
	linger      time.Duration
	lingers     bool
	idle        [3]time.Duration // indexed by IdleKind; 0: no timeout
	halfClosure bool
	delay       bool
	keepAlive   time.Duration
	backlog     int
	noReuseAddr bool
	reusePort   bool
	logger      *slog.Logger // nil: slog.Default at the time of the message
	faults      *faults      // tests only
	socket      Socket       // set by Embed; nil: a socket of the kernel
}

// resetsOnClose reports whether the close of a socket is a reset: see WithLinger.
func (c *config) resetsOnClose() bool { return c.lingers && c.linger == 0 }

// Defaults.
const (
	DefaultLowWaterMark  = 32 << 10
	DefaultHighWaterMark = 64 << 10
	DefaultWriteSpin     = 16
	DefaultReadBuffer    = 64 << 10
	DefaultBacklog       = 4096
	DefaultKeepAlive     = 15 * time.Second
)

// MaxReadBuffer is the largest read buffer: 1 GiB. One read(2) can fill it. One read
// cannot fill a buffer of 2 GiB, and a read that does not fill its buffer is taken as the
// sign that the socket is empty.
const MaxReadBuffer = 1 << 30

// Upper bounds of option values. The kernel would refuse or silently cut a larger value,
// or a sum would overflow.
const (
	mostWaterMark    = math.MaxInt - 1     // the bytes that cross it can be counted
	mostSocketBuffer = math.MaxInt32 / 2   // an int, doubled
	mostKeepAlive    = 32767 * time.Second // MAX_TCP_KEEPIDLE, MAX_TCP_KEEPINTVL
	mostBacklog      = math.MaxInt32 - 1   // an int, and Linux queues one more
)

func newConfig(opts []Option) (*config, error) {
	c := &config{
		low: DefaultLowWaterMark, high: DefaultHighWaterMark,
		writeSpin: DefaultWriteSpin, readBuffer: DefaultReadBuffer,
		backlog: DefaultBacklog, keepAlive: DefaultKeepAlive,
	}
	if err := transport.Apply(c, opts); err != nil {
		return nil, err
	}
	return c, nil
}

// WithWriteBufferWaterMarks sets when Channel.IsWritable reports back-pressure: false once
// more than high bytes wait to be sent, and true again once fewer than low do (R222). It
// is advice: Write accepts bytes in both cases. The bounds are
// 1 <= low <= high < math.MaxInt; with a low of 0 a channel would never become writable
// again. The defaults are 32 KiB and 64 KiB.
func WithWriteBufferWaterMarks(low, high int) Option {
	return func(c *config) error {
		if low < 1 || high < low || high > mostWaterMark {
			return argumentError("WithWriteBufferWaterMarks", "low is %d and high is %d, want 1 <= low <= high <= %d", low, high, mostWaterMark)
		}
		c.low, c.high = low, high
		return nil
	}
}

// WithWriteSpin bounds the system calls of one flush: after n of them the loop serves its
// other channels, and then continues the flush (R218). The default is 16.
func WithWriteSpin(n int) Option {
	return func(c *config) error {
		if n < 1 {
			return argumentError("WithWriteSpin", "n is %d, want at least 1", n)
		}
		c.writeSpin = n
		return nil
	}
}

// WithReadBuffer bounds the bytes of one call of Handler.Read. The buffer belongs to the
// loop, and the loop's channels share it. The default is 64 KiB, the maximum MaxReadBuffer.
func WithReadBuffer(size int) Option {
	return func(c *config) error {
		if size < 1 || size > MaxReadBuffer {
			return argumentError("WithReadBuffer", "size is %d, want 1 to %d", size, MaxReadBuffer)
		}
		c.readBuffer = size
		return nil
	}
}

// WithSocketBuffers sets the kernel's buffers of each connection, in bytes
// (SO_RCVBUF, SO_SNDBUF; the kernel doubles them). With 0 the kernel keeps adapting that
// buffer. The maximum is math.MaxInt32/2; the kernel's own limits
// (net.core.rmem_max, wmem_max) apply too.
func WithSocketBuffers(receive, send int) Option {
	return func(c *config) error {
		if receive < 0 || send < 0 || receive > mostSocketBuffer || send > mostSocketBuffer {
			return argumentError("WithSocketBuffers", "receive is %d and send is %d, want 0 to %d", receive, send, mostSocketBuffer)
		}
		c.recv, c.send = receive, send
		return nil
	}
}

// WithLinger makes Close keep the socket until the peer's kernel has acknowledged all sent
// bytes or the connection has failed, for d at most. No thread blocks meanwhile: the loop
// checks by timer. The future of Close completes when the socket is closed; an abort by a
// shutdown ends the wait early. With d = 0 Close resets the connection instead: bytes in
// the kernels' buffers are lost. Without this option Close closes the socket at once, and
// the kernel delivers the rest in the background.
//
// With d > 0 the option does not set SO_LINGER, which would make close(2) block the
// thread even on a non-blocking socket.
func WithLinger(d time.Duration) Option {
	return func(c *config) error {
		if d < 0 {
			return argumentError("WithLinger", "d is %v, want 0 or more", d)
		}
		c.linger, c.lingers = d, true
		return nil
	}
}

// WithNoDelay(false) lets the kernel hold back small segments (Nagle's algorithm).
// The default is true, as in package net.
func WithNoDelay(on bool) Option {
	return func(c *config) error {
		c.delay = !on
		return nil
	}
}

// WithHalfClosure(true) keeps a channel open when the peer has ended its side:
// Handler.InputShutdown is called, and writes are still accepted. The channel closes once
// its own output has been shut down too. The default is false: at the peer's end the
// channel sends its buffer, flushed or not, and closes with io.EOF as the cause. (Netty
// closes it at once and drops the buffer, R220.) A peer that does not read delays that
// close without bound; CloseGracefully sets a deadline.
func WithHalfClosure(on bool) Option {
	return func(c *config) error {
		c.halfClosure = on
		return nil
	}
}

// WithKeepAlive sets after how much silence, and then how often, the kernel probes
// whether the peer is alive. 0 turns it off. The default is 15 s, as in package net. The
// kernel counts in seconds: period is rounded up. The maximum is that of Linux, 32767 s
// (9h6m7s).
func WithKeepAlive(period time.Duration) Option {
	return func(c *config) error {
		if period < 0 || period > mostKeepAlive {
			return argumentError("WithKeepAlive", "period is %v, want 0 to %v", period, mostKeepAlive)
		}
		c.keepAlive = period
		return nil
	}
}

// WithBacklog sets how many established connections may wait in the kernel for the
// listener to accept them. The kernel's own limit (net.core.somaxconn) applies too. The
// default is 4096, the maximum math.MaxInt32-1. It has no effect on Dial.
func WithBacklog(n int) Option {
	return func(c *config) error {
		if n < 1 || n > mostBacklog {
			return argumentError("WithBacklog", "n is %d, want 1 to %d", n, mostBacklog)
		}
		c.backlog = n
		return nil
	}
}

// WithReuseAddr(false) leaves SO_REUSEADDR unset on a listener: a restarted server then
// cannot bind until the kernel has forgotten the connections of its predecessor. The
// default is true. It has no effect on Dial.
func WithReuseAddr(on bool) Option {
	return func(c *config) error {
		c.noReuseAddr = !on
		return nil
	}
}

// WithReusePort(true) lets several listeners share one address; the kernel spreads
// connections over them (SO_REUSEPORT). It has no effect on Dial.
func WithReusePort(on bool) Option {
	return func(c *config) error {
		c.reusePort = on
		return nil
	}
}

// WithLogger sets the logger of failures that no call returns: a connection that was
// accepted and had to be closed, a listener that cannot accept for a while, a handler that
// panicked or called runtime.Goexit, a channel that a shutdown aborted at its deadline
// or with bytes in its buffer, and a write that a shutdown refused. Each message has the
// address of the listener, or both addresses of the channel. Messages that would be many are
// logged each time their number has doubled, and have that number.
//
// The level is Warn or Error, except that a listener that
// keeps pausing logs the later short pauses at Debug. The default, and nil, is
// slog.Default at the time of each message; slog.New(slog.DiscardHandler) silences them. A
// panic of the logger is ignored.
func WithLogger(logger *slog.Logger) Option {
	return func(c *config) error {
		c.logger = logger
		return nil
	}
}
