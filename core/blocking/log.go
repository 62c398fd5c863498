package blocking

import (
	"errors"
	"log/slog"

	"eventide/core"
	"eventide/core/internal/transport"
)

// WithLogger sets the logger of failures that no call returns: a handler that panicked or
// called runtime.Goexit, a channel that a shutdown aborted at its deadline or with bytes
// in its buffer, a write that a shutdown refused, and a Serve that cannot accept for a
// while. Each message has both addresses of the channel, or the address of the listener and the
// error of its Accept. That of an aborted channel also has the cause of the close and how many bytes
// were discarded. Messages about aborted channels and refused writes are logged for the first
// one of the group, and each time their number in the group has doubled, and have that number.
//
// Each is logged at Warn or Error. The default, and nil, is slog.Default() at the time of each message;
// slog.New(slog.DiscardHandler) silences them. A panic of the logger is ignored.
func WithLogger(logger *slog.Logger) Option {
	return func(c *config) error {
		c.logger = logger
		return nil
	}
}

// log writes to the logger of the options. The logger may call runtime.Goexit: see
// transport.Log.
func (c *config) log(level slog.Level, msg string, args ...any) {
	transport.Log(c.logger, level, msg, args...)
}

// logRefused logs a write that a shutdown refused: its answer is lost if its caller ignores the
// future.
func (ch *Channel) logRefused() {
	n := ch.group.refused.Add(1)
	transport.LogSome(n, ch.reg.Post, func() {
		ch.cfg.log(slog.LevelWarn, "blocking: a shutdown refused a write; a handler waits in Read for answers computed elsewhere",
			"local", ch.LocalAddr(), "remote", ch.RemoteAddr(), "so far in this group", n)
	})
}

// logFailure logs an end that no caller can observe: that of a failed handler, or of a channel
// that a shutdown aborted at its deadline or with bytes in its buffer. Other ends
// reach a handler, a future or a caller. It logs in a body of its own, because the logger may
// call runtime.Goexit. Loop only, before End.
func (ch *Channel) logFailure(cause error, end core.ChannelEnd) {
	switch {
	case errors.Is(cause, ErrHandlerFailed):
		ch.reg.Post(func() {
			ch.cfg.log(slog.LevelError, "blocking: a handler method panicked or called runtime.Goexit, and its channel is closed",
				"local", ch.LocalAddr(), "remote", ch.RemoteAddr())
		})
	case end.Kind != core.EndAborted || !errors.Is(cause, core.ErrShutdownTimeout) && end.Discarded == 0:
	default:
		n := ch.group.aborted.Add(1)
		transport.LogSome(n, ch.reg.Post, func() {
			ch.cfg.log(slog.LevelWarn, "blocking: a shutdown aborted a channel", "local", ch.LocalAddr(), "remote", ch.RemoteAddr(),
				"error", cause, "bytes discarded", end.Discarded, "so far in this group", n)
		})
	}
}
