package transport

import (
	"context"
	"fmt"
	"log/slog"
)

// Apply gives c to each option in order. A nil option is an error that names its index, and
// the first error of an option ends the call: the caller then drops c.
func Apply[C any, O ~func(*C) error](pkg string, c *C, opts []O) error {
	for i, opt := range opts {
		if opt == nil {
			return fmt.Errorf("%s: options: option %d is nil, want a value returned by a With function", pkg, i)
		}
		if err := opt(c); err != nil {
			return err
		}
	}
	return nil
}

// Log writes to logger, or to slog.Default as of now if logger is nil. A panic of the
// logger is ignored. A logger may call runtime.Goexit, and then Log does not return: it is
// the last thing that a caller does, or the rest of the caller's work is deferred.
func Log(logger *slog.Logger, level slog.Level, msg string, args ...any) {
	defer func() { _ = recover() }()
	if logger == nil {
		logger = slog.Default()
	}
	logger.Log(context.Background(), level, msg, args...)
}
