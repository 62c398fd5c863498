//go:build linux

package exits

import (
	"context"
	"log/slog"
	"runtime"
	"sync"
	"time"
)

// journal is a handler of log records that keeps their level, message and step. After each record it
// does what its kind says.
type journal struct {
	kind   string
	record func(who, format string, args ...any)
	check  func(what string, ctx context.Context) // gets the context of each record

	mu    sync.Mutex
	lines []string
	said  []said
	exit  map[string]any // the attributes of the record "exit"
}

// said is a record.
type said struct {
	text  string // level and message
	attrs []slog.Attr
	at    time.Time
}

func (j *journal) Enabled(context.Context, slog.Level) bool { return true }
func (j *journal) WithAttrs([]slog.Attr) slog.Handler       { return j }
func (j *journal) WithGroup(string) slog.Handler            { return j }

func (j *journal) Handle(ctx context.Context, r slog.Record) error {
	line := r.Level.String() + " " + r.Message
	all, part := map[string]any{}, "Run"
	one := said{text: line, at: r.Time}
	r.Attrs(func(a slog.Attr) bool {
		all[a.Key] = a.Value.Any()
		one.attrs = append(one.attrs, a)
		if a.Key == "step" || a.Key == "start" || a.Key == "outcome" {
			line += " " + a.Value.String()
		}
		if a.Key == "step" || a.Key == "start" {
			part = a.Value.String()
		}
		return true
	})
	j.record(part, "log: %s", line)
	j.check("the record "+line, ctx)
	j.mu.Lock()
	j.lines, j.said = append(j.lines, line), append(j.said, one)
	if r.Message == "exit" {
		j.exit = all
	}
	j.mu.Unlock()
	switch j.kind {
	case "panics":
		panic("a handler of the program")
	case "exits":
		runtime.Goexit()
	case "blocks":
		time.Sleep(time.Minute)
	}
	return nil
}

func (j *journal) all() ([]string, map[string]any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]string(nil), j.lines...), j.exit
}
