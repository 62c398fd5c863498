package process

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// scribe writes the log on a goroutine of its own, which exists while there is
// something to write. A handler that blocks, because nobody reads the pipe of
// standard error, holds up the log and not the exit. Its methods may be called
// from many goroutines at once.
type scribe struct {
	// Set once.
	logger *slog.Logger
	ctx    context.Context

	// Guarded by mu.
	mu    sync.Mutex
	lines []line
	idle  chan struct{} // closed when the writer has left; nil: there is none
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

// write returns when there is nothing to write. A handler that calls runtime.Goexit
// takes the goroutine with it: then another one goes on.
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

// next takes a line; if there is none, the writer is gone from here on.
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

// writeLine contains a panic of the handler: there is nobody left to tell.
func (s *scribe) writeLine(l line) {
	defer func() { _ = recover() }()
	s.logger.Log(s.ctx, l.level, l.text, l.args...)
}

// flush returns when everything is written, or after limit.
func (s *scribe) flush(limit time.Duration) {
	idle := s.untilIdle()
	if idle == nil {
		return
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-idle:
	case <-timer.C:
	}
}

// flushWithoutTimer returns when everything is written. It is for a process that cannot set
// a timer: a handler that blocks holds it up.
func (s *scribe) flushWithoutTimer() {
	if idle := s.untilIdle(); idle != nil {
		<-idle
	}
}

// untilIdle returns what is closed when everything is written; nil: it is.
func (s *scribe) untilIdle() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.idle
}
