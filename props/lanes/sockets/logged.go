//go:build linux

package sockets

import (
	"context"
	"log/slog"
	"sync"
)

// logged counts the records of a logger by their message.
type logged struct {
	mu     sync.Mutex
	counts map[string]int
}

func (l *logged) Enabled(context.Context, slog.Level) bool { return true }
func (l *logged) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *logged) WithGroup(string) slog.Handler            { return l }

func (l *logged) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts == nil {
		l.counts = map[string]int{}
	}
	l.counts[r.Level.String()+" "+r.Message]++
	return nil
}

func (l *logged) count(record string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts[record]
}
