//go:build linux

package sockets

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// logged keeps the records of a logger.
type logged struct {
	paused func(slog.Level, time.Duration, error) // gets each pause of a listener, on its loop; may be nil
	then   func()                                 // called after each record; may be nil

	mu      sync.Mutex
	records []record
}

// record is a record of a logger: its level and message, and its values by their keys.
type record struct {
	text   string
	values map[string]any
}

func (l *logged) Enabled(context.Context, slog.Level) bool { return true }
func (l *logged) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *logged) WithGroup(string) slog.Handler            { return l }

func (l *logged) Handle(_ context.Context, r slog.Record) error {
	values := map[string]any{}
	r.Attrs(func(a slog.Attr) bool {
		values[a.Key] = a.Value.Any()
		return true
	})
	if l.paused != nil && r.Message == "tcp: the listener pauses" {
		lasts, _ := values["pause"].(time.Duration)
		why, _ := values["error"].(error)
		l.paused(r.Level, lasts, why)
	}
	l.add(record{r.Level.String() + " " + r.Message, values})
	if l.then != nil {
		l.then()
	}
	return nil
}

func (l *logged) add(r record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = append(l.records, r)
}

func (l *logged) all() []record {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.records)
}

func (l *logged) count(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.records {
		if r.text == text {
			n++
		}
	}
	return n
}
