package transport

import (
	"context"
	"log/slog"
)

// Apply applies the options to c in order, and ignores nil options. It returns the first error
// of an option; the caller must drop c then.
func Apply[C any, O ~func(*C) error](c *C, opts []O) error {
	for _, opt := range opts {
		if opt == nil {
			continue
		}
		if err := opt(c); err != nil {
			return err
		}
	}
	return nil
}

// Log writes to logger, or to slog.Default() if logger is nil. A panic of the logger is
// ignored. A logger may call runtime.Goexit, and then Log does not return: so callers
// call it last, or defer the work that follows.
func Log(logger *slog.Logger, level slog.Level, msg string, args ...any) {
	defer func() { _ = recover() }()
	if logger == nil {
		logger = slog.Default()
	}
	logger.Log(context.Background(), level, msg, args...)
}

// LogSome calls log for the first of several events of one kind, and then each time their number n
// has doubled. It posts log as a body of its own, because a logger may call runtime.Goexit; if post
// refuses it, LogSome calls it.
func LogSome(n int64, post func(func()) bool, log func()) {
	if n&(n-1) == 0 && !post(log) {
		log()
	}
}
