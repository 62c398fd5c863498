//go:build linux

package sockets

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// logged counts the records of a logger by their message.
type logged struct {
	paused func(slog.Level, time.Duration, error) // gets each pause of a listener, on its loop; may be nil
	then   func()                                 // called after each record; may be nil

	mu     sync.Mutex
	counts map[string]int
}

func (l *logged) Enabled(context.Context, slog.Level) bool { return true }
func (l *logged) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *logged) WithGroup(string) slog.Handler            { return l }

func (l *logged) Handle(_ context.Context, r slog.Record) error {
	if l.paused != nil && r.Message == "tcp: the listener pauses" {
		var lasts time.Duration
		var why error
		r.Attrs(func(a slog.Attr) bool {
			switch a.Key {
			case "pause":
				lasts = a.Value.Duration()
			case "error":
				why, _ = a.Value.Any().(error)
			}
			return true
		})
		l.paused(r.Level, lasts, why)
	}
	l.add(r.Level.String() + " " + r.Message)
	if l.then != nil {
		l.then()
	}
	return nil
}

func (l *logged) add(record string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts == nil {
		l.counts = map[string]int{}
	}
	l.counts[record]++
}

func (l *logged) count(record string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts[record]
}
