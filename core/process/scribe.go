package process

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// scribe writes the log on a goroutine of its own, which exists while there are lines to
// write. A handler that blocks, for example on a pipe that nobody reads, delays the log and
// not the exit. All methods may be called from many goroutines at once.
type scribe struct {
	// Set once.
	logger *slog.Logger // nil: slog.Default at the time of each line
	ctx    context.Context

	// Guarded by mu.
	mu    sync.Mutex
	lines []line
	idle  chan struct{} // closed when the writing goroutine ends; nil: there is none
}

type line struct {
	level slog.Level
	text  string
	args  []any
}

func (s *scribe) log(level slog.Level, text string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line{level, text, args})
	if s.idle == nil {
		s.idle = make(chan struct{})
		go s.write()
	}
}

// write writes lines until none is left. If the handler ends the goroutine by
// runtime.Goexit, another goroutine writes the rest.
func (s *scribe) write() {
	left := false
	defer func() {
		if !left {
			go s.write()
		}
	}()
	for {
		next, ok := s.next()
		if !ok {
			left = true
			return
		}
		s.writeLine(next)
	}
}

// next takes a line. If there is none, it records that the writing goroutine ends.
func (s *scribe) next() (line, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lines) == 0 {
		close(s.idle)
		s.idle = nil
		return line{}, false
	}
	next := s.lines[0]
	s.lines = s.lines[1:]
	return next, true
}

// writeLine writes one line. It drops a panic of the handler: the only place to report it
// would be the same handler.
func (s *scribe) writeLine(l line) {
	defer func() { _ = recover() }()
	logger := s.logger
	if logger == nil {
		logger = slog.Default()
	}
	logger.Log(s.ctx, l.level, l.text, l.args...)
}

// flush returns when every line is written, or after limit.
func (s *scribe) flush(limit time.Duration) {
	idle := s.untilIdle()
	if idle == nil {
		return
	}
	select {
	case <-idle:
	case <-time.After(limit):
	}
}

// flushWithoutTimer returns when every line is written. It is for a process that cannot set
// a timer: a handler that blocks delays it without bound.
func (s *scribe) flushWithoutTimer() {
	if idle := s.untilIdle(); idle != nil {
		<-idle
	}
}

// untilIdle returns a channel that is closed when every line is written, or nil if no
// line is left to write.
func (s *scribe) untilIdle() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.idle
}
