package tcp

import (
	"log/slog"
	"math"
	"time"

	"eventide/core/internal/transport"
)

// Option changes how Listen and Dial make channels. A bad value is an error of
// that call, as is a nil option, and nothing has happened then.
type Option func(*config) error

// config is what the options say. It is not changed once a channel has it.
type config struct {
	low, high   int
	writeSpin   int
	readBuffer  int
	recv, send  int
	linger      time.Duration
	lingers     bool
	idle        [3]time.Duration // by IdleKind; 0: none
	halfClosure bool
	delay       bool
	keepAlive   time.Duration
	backlog     int
	noReuseAddr bool
	reusePort   bool
	logger      *slog.Logger // nil: slog.Default, as of the moment
	faults      *faults      // tests only
	socket      Socket       // of Embed; nil: the kernel's
}

// Defaults.
const (
	DefaultLowWaterMark  = 32 << 10
	DefaultHighWaterMark = 64 << 10
	DefaultWriteSpin     = 16
	DefaultReadBuffer    = 64 << 10
	DefaultBacklog       = 4096
	DefaultKeepAlive     = 15 * time.Second
)

// MaxReadBuffer is the greatest read buffer: 1 GiB. One read(2) can fill it; of more
// than 2 GiB it would not, and be taken for one that has emptied the socket.
const MaxReadBuffer = 1 << 30

// What options take at most: the kernel would refuse or cut what is more, or a sum
// overflow, and nobody would hear of it.
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
	if err := transport.Apply("tcp", c, opts); err != nil {
		return nil, err
	}
	return c, nil
}

// WithWriteBufferWaterMarks sets when a channel says that it is written to faster
// than it can send: it is unwritable once more than high bytes wait, and writable
// again once fewer than low do (R222). It is advice: Write always accepts.
// 1 <= low <= high < math.MaxInt: with a low of 0 it would never be writable again. The
// default is 32 and 64 KiB.
func WithWriteBufferWaterMarks(low, high int) Option {
	return func(c *config) error {
		if low < 1 || high < low || high > mostWaterMark {
			return argumentError("WithWriteBufferWaterMarks", "low is %d and high is %d, want 1 <= low <= high <= %d", low, high, mostWaterMark)
		}
		c.low, c.high = low, high
		return nil
	}
}

// WithWriteSpin bounds the system calls of one flush: after n of them others get
// their turn, and the flush goes on later (R218). The default is 16.
func WithWriteSpin(n int) Option {
	return func(c *config) error {
		if n < 1 {
			return argumentError("WithWriteSpin", "n is %d, want at least 1", n)
		}
		c.writeSpin = n
		return nil
	}
}

// WithReadBuffer bounds the bytes of one call of Handler.Read. The buffer belongs
// to the loop: its channels share it. The default is 64 KiB, the most MaxReadBuffer.
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
// (SO_RCVBUF, SO_SNDBUF; the kernel doubles them). 0 leaves one as it is, which
// lets the kernel adapt it. The most is math.MaxInt32/2; the kernel's own limits
// (net.core.rmem_max, wmem_max) hold too.
func WithSocketBuffers(receive, send int) Option {
	return func(c *config) error {
		if receive < 0 || send < 0 || receive > mostSocketBuffer || send > mostSocketBuffer {
			return argumentError("WithSocketBuffers", "receive is %d and send is %d, want 0 to %d", receive, send, mostSocketBuffer)
		}
		c.recv, c.send = receive, send
		return nil
	}
}

// WithLinger makes Close wait, off the loop, until the peer's kernel has
// acknowledged what ours holds, or the connection has failed, for d at most. The future of Close completes
// after that; an abort by a shutdown cuts it short. d = 0 resets the connection
// instead: what the kernels hold is lost. Without this option the socket is closed
// at once and the kernel delivers the rest in the background.
//
// SO_LINGER itself is not set for d > 0, as it makes close(2) block the thread, on
// a non-blocking socket too.
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
// Handler.InputShutdown is called, and writes go on. The channel is closed when its
// own output has been shut down too. The default is false: what was written until
// then is sent, flushed or not, and the channel is closed, with io.EOF for a cause.
// (Netty closes it at once, and drops what was not sent, R220.) A peer that does not
// read holds that up as it does any write: CloseGracefully has a deadline.
func WithHalfClosure(on bool) Option {
	return func(c *config) error {
		c.halfClosure = on
		return nil
	}
}

// WithKeepAlive sets after how long of silence, and then how often, the kernel
// asks whether the peer is alive. 0 turns it off. The default is 15 s, as in
// package net. The kernel counts in seconds: period is rounded up. The most is what
// Linux takes, 32767 s (9h6m7s).
func WithKeepAlive(period time.Duration) Option {
	return func(c *config) error {
		if period < 0 || period > mostKeepAlive {
			return argumentError("WithKeepAlive", "period is %v, want 0 to %v", period, mostKeepAlive)
		}
		c.keepAlive = period
		return nil
	}
}

// WithBacklog sets how many connections the kernel may have accepted that the
// listener has not. The kernel's own limit (net.core.somaxconn) holds too. The
// default is 4096, the most math.MaxInt32-1. No effect on Dial.
func WithBacklog(n int) Option {
	return func(c *config) error {
		if n < 1 || n > mostBacklog {
			return argumentError("WithBacklog", "n is %d, want 1 to %d", n, mostBacklog)
		}
		c.backlog = n
		return nil
	}
}

// WithReuseAddr(false) does not set SO_REUSEADDR on a listener: a restarted server
// then has to wait for the connections of the one before to be forgotten. The
// default is true. No effect on Dial.
func WithReuseAddr(on bool) Option {
	return func(c *config) error {
		c.noReuseAddr = !on
		return nil
	}
}

// WithReusePort(true) lets several listeners have the same address; the kernel
// spreads connections over them (SO_REUSEPORT). No effect on Dial.
func WithReusePort(on bool) Option {
	return func(c *config) error {
		c.reusePort = on
		return nil
	}
}

// WithLogger sets the logger of failures that no caller gets: a connection that was
// accepted and had to be closed, a listener that cannot accept for a while, a handler that
// panicked or called runtime.Goexit, and a channel that a shutdown aborted at its deadline
// or with bytes in its buffer. Each is logged at Warn or Error. The default is
// slog.Default as of that moment; silence is slog.New(slog.DiscardHandler). A nil logger is
// an error. A panic of the logger is ignored.
func WithLogger(logger *slog.Logger) Option {
	return func(c *config) error {
		if logger == nil {
			return argumentError("WithLogger", "logger is nil, want a *slog.Logger")
		}
		c.logger = logger
		return nil
	}
}
