package tcp

import (
	"errors"
	"log/slog"

	"eventide/core"
	"eventide/core/internal/transport"
)

// log writes to the logger of the options. The logger may call runtime.Goexit: see
// transport.Log.
func (c *config) log(level slog.Level, msg string, args ...any) {
	transport.Log(c.logger, level, msg, args...)
}

// logRefused logs a write that a shutdown refused: its answer is lost if its caller ignores the
// future.
func (c *Channel) logRefused() {
	n := c.shared.refused.Add(1)
	transport.LogSome(n, c.reg.Post, func() {
		c.cfg.log(slog.LevelWarn, "tcp: a shutdown refused a write; an answer computed off the loop needs Hold or Quiesce",
			"local", c.LocalAddr(), "remote", c.RemoteAddr(), "so far on this loop", n)
	})
}

// logFailure logs an end that no caller can observe: that of a failed handler, or of a
// channel that a shutdown aborted at its deadline or with bytes in its buffer. Other ends
// reach a handler, a future or a caller. It logs in a body of its own, because the logger
// may call runtime.Goexit. Loop only, before End.
func (c *Channel) logFailure(cause error, end core.ChannelEnd) {
	switch {
	case errors.Is(cause, ErrHandlerFailed):
		c.reg.Post(func() {
			c.cfg.log(slog.LevelError, "tcp: a handler method panicked or called runtime.Goexit, and its channel is closed",
				"local", c.LocalAddr(), "remote", c.RemoteAddr())
		})
	case end.Kind != core.EndAborted || !errors.Is(cause, core.ErrShutdownTimeout) && end.Discarded == 0 && end.Held == "":
	default:
		c.shared.aborted++
		n := c.shared.aborted
		transport.LogSome(n, c.reg.Post, func() {
			args := []any{"local", c.LocalAddr(), "remote", c.RemoteAddr(), "error", cause, "bytes discarded", end.Discarded, "so far on this loop", n}
			if end.Held != "" {
				args = append(args, "answer in flight since", end.HeldSince)
			}
			c.cfg.log(slog.LevelWarn, "tcp: a shutdown aborted a channel", args...)
		})
	}
}
