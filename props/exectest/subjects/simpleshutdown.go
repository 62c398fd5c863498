package subjects

import (
	"errors"
	"time"
)

func (s *Simple) Shutdown(quiet, timeout time.Duration) error {
	if s.flaw != AnyArguments && (quiet < 0 || timeout < quiet) {
		return errors.New("simple: want 0 <= quiet <= timeout")
	}
	if s.flaw == ShutdownWaits {
		defer s.wait()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shutting {
		if s.flaw == RepeatRestarts && !s.closed {
			s.idle = time.Now()
		}
		if s.flaw == HooksTwice && !s.ended {
			s.atStop()
		}
		if s.flaw == LaterWins && !s.closed {
			s.quiet = quiet
			s.settle()
		}
		return nil
	}
	s.shutting = true
	s.quiet, s.idle = quiet, time.Now()
	if s.flaw == NeverStarted && s.begun == 0 && len(s.queue) == 0 {
		return nil
	}
	s.timeout = timeout
	time.AfterFunc(timeout, s.deadline)
	if s.flaw == AbandonsAtCall {
		s.queue = nil
	}
	s.atStop()
	s.settle()
	return nil
}

// wait returns at the end.
func (s *Simple) wait() {
	select {
	case <-s.done:
	case <-s.abandoned:
	}
}

// deadline ends admission, whatever is running.
func (s *Simple) deadline() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if left := s.timeout - time.Since(s.idle); s.flaw == TimeoutFromBody && (left > 0 || s.running) {
		time.AfterFunc(max(left, time.Millisecond), s.deadline)
		return
	}
	if s.closed || s.flaw == IgnoresDeadline && s.running {
		return
	}
	s.closed = true
	switch {
	case s.flaw == LosesAtStop:
		s.queue = nil
	case s.flaw == RunsTwice && len(s.queue) > 0:
		s.queue = append(s.queue, s.last)
	case s.flaw == DoneEarly:
		s.end()
	}
	s.settle()
}

// settle acts on an idle loop in a shutdown: it ends admission if the quiet
// period is over, and the executor with it. Lock held.
func (s *Simple) settle() {
	if s.running || !s.shutting || s.ended {
		return
	}
	if wait := time.Until(s.idle.Add(s.quietTime())); !s.closed && wait > 0 {
		time.AfterFunc(wait, s.look)
		return
	}
	if wait := time.Until(s.until); s.flaw == WaitsForTimers && wait > 0 {
		time.AfterFunc(wait, s.look)
		return
	}
	s.closed = true
	s.end()
}

func (s *Simple) quietTime() time.Duration {
	const tick = 100 * time.Millisecond
	switch s.flaw {
	case QuietZeroWaits:
		if s.quiet == 0 {
			return tick
		}
		return s.quiet
	case QuietShort:
		return s.quiet / 2
	case QuietPolled:
		return (s.quiet + tick - 1) / tick * tick
	default:
		return s.quiet
	}
}

// endNow ends the executor, even if tasks are queued.
func (s *Simple) endNow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if !s.ended {
		s.end()
	}
}

func (s *Simple) end() {
	s.ended, s.endedAt = true, time.Now()
	if s.flaw != DoneNever && !s.stuck {
		close(s.done)
	}
	if s.flaw == LeavesGoroutine {
		go func() { <-s.abandoned }()
	}
}

// look is settle at the end of a quiet period.
func (s *Simple) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
}
