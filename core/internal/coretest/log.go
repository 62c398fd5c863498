package coretest

import (
	"bytes"
	"log/slog"
	"sync"
	"testing"
)

// Log is a writer for loggers that keeps the text. The zero Log is empty. Any goroutine may call
// its methods.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends p. It returns no error.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns the text so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// OnMessage returns a logger that calls f for each message.
func OnMessage(f func()) *slog.Logger { return slog.New(slog.NewTextHandler(onMessage(f), nil)) }

type onMessage func()

func (f onMessage) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

// DefaultLog returns a Log of the messages to slog.Default at Warn or above until the test ends.
// A test that calls it must not run in parallel with others.
func DefaultLog(t testing.TB) *Log {
	t.Helper()
	l, before := new(Log), slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelWarn})))
	t.Cleanup(func() { slog.SetDefault(before) })
	return l
}
