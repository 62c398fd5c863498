package exectest_test

import (
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/petermattis/goid"
)

var errClosed = errors.New("simple: closed")

// simple is a small correct executor: a mutex, a slice, and a goroutine for as
// long as there is work. A flaw makes it incorrect in one way.
type simple struct {
	flaw flaw

	mu        sync.Mutex
	queue     []item
	current   item
	loop      int64 // the goroutine that drains the queue, 0 if none
	running   bool
	shutting  bool
	closed    bool
	ended     bool
	stuck     bool // it is not to be done, ever
	quiet     time.Duration
	idle      time.Time // the shutdown call, or the end of the last body
	endedAt   time.Time
	last      item // the last one begun
	begun     int
	accepted  int
	ran       int
	rejected  int
	atStop    func()         // called in the shutdown call, with the lock held
	atIdle    func()         // called when the queue is empty, with the lock held
	done      chan struct{}  // closed at the end
	abandoned chan struct{}  // closed when the kit is through
	bodies    sync.WaitGroup // see overlaps
}

// item is one entry of the queue.
type item struct {
	run  func()
	skip func() bool // called with the lock held; true: it is not to run any more
	task bool        // it counts
	hook *hook
}

func newSimple(f flaw) *simple {
	s := &simple{
		flaw: f, atStop: func() {}, atIdle: func() {},
		done: make(chan struct{}), abandoned: make(chan struct{}),
	}
	if f == startsEagerly {
		go func() { <-s.done }()
	}
	return s
}

func (s *simple) Execute(task func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	it := item{run: task, task: true}
	if s.ended && s.flaw == acceptsAfterDone && time.Since(s.endedAt) > time.Millisecond {
		return nil
	}
	if s.closed || s.shutting && s.flaw == refusesInQuiet {
		s.rejected++
		if s.flaw == countsRefused {
			s.accepted++
		}
		if s.flaw == runsRefused && !s.ended {
			s.push(it)
		}
		return errClosed
	}
	if s.flaw == losesInRace || s.flaw == losesInRaceYields {
		s.mu.Unlock() // the gap: what was seen of closed may be wrong from here on
		if s.flaw == losesInRaceYields {
			runtime.Gosched()
		}
		s.mu.Lock()
		if s.ended {
			return nil
		}
	}
	if s.flaw == blocksOnFull && len(s.queue) >= 100 {
		s.mu.Unlock()
		<-s.abandoned
		s.mu.Lock()
	}
	s.accepted++
	s.push(it)
	return nil
}

// push appends and starts the goroutine. Called with the lock held.
func (s *simple) push(it item) {
	if s.flaw == reorders && len(s.queue) > 0 {
		s.queue = append([]item{it}, s.queue...)
	} else {
		s.queue = append(s.queue, it)
	}
	if !s.running {
		s.running = true
		go s.drain()
	}
}

// drain runs the queue until it is empty. A body that panics or exits takes
// the goroutine with it, and another goes on.
func (s *simple) drain() {
	finished := false
	defer func() {
		if recover() == nil && !finished && s.flaw == endsAtGoexit {
			s.endNow()
			return
		}
		if !finished && s.flaw != diesOfPanic {
			s.bodyEnded()
			go s.drain()
		}
	}()
	if s.flaw == polls {
		time.Sleep(3 * time.Millisecond)
	}
	for {
		it, ok := s.take()
		if !ok {
			finished = true
			return
		}
		s.run(it)
		s.bodyEnded()
	}
}

func (s *simple) run(it item) {
	if s.flaw != overlaps {
		it.run()
		return
	}
	over := make(chan struct{})
	s.bodies.Go(func() {
		defer close(over)
		defer func() { _ = recover() }()
		it.run()
	})
	select {
	case <-over:
	case <-time.After(time.Millisecond):
	}
}

func (s *simple) bodyEnded() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current.task {
		s.ran++
	}
	if s.flaw != hooksDoNotCount || s.current.hook == nil {
		s.idle = time.Now()
	}
	s.current, s.loop = item{}, 0
}

// take returns the next body; none ends the goroutine.
func (s *simple) take() (item, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		s.atIdle()
		if len(s.queue) == 0 && !s.overlapped() {
			s.running = false
			s.settle()
			return item{}, false
		}
		it := s.queue[0]
		s.queue = s.queue[1:]
		if it.skip == nil || !it.skip() {
			s.begun++
			s.current, s.last = it, it
			s.loop = goid.Get()
			return it, true
		}
	}
}

// overlapped waits for the bodies that still run, without the lock, and
// reports whether there is work again.
func (s *simple) overlapped() bool {
	if s.flaw != overlaps {
		return false
	}
	s.mu.Unlock()
	s.bodies.Wait()
	s.mu.Lock()
	s.idle = time.Now()
	return len(s.queue) > 0
}

func (s *simple) Shutdown(quiet, timeout time.Duration) error {
	if quiet < 0 || timeout < quiet {
		return errors.New("simple: want 0 <= quiet <= timeout")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shutting {
		if s.flaw == laterWins && !s.closed {
			s.quiet = quiet
			s.settle()
		}
		return nil
	}
	s.shutting = true
	s.quiet, s.idle = quiet, time.Now()
	if s.flaw == neverStarted && s.begun == 0 && len(s.queue) == 0 {
		return nil
	}
	time.AfterFunc(timeout, s.deadline)
	s.atStop()
	s.settle()
	return nil
}

// deadline ends admission, whatever is running.
func (s *simple) deadline() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.flaw == ignoresDeadline && s.running {
		return
	}
	s.closed = true
	switch {
	case s.flaw == losesAtStop:
		s.queue = nil
	case s.flaw == runsTwice && len(s.queue) > 0:
		s.queue = append(s.queue, s.last)
	case s.flaw == doneEarly:
		s.end()
	}
	s.settle()
}

// settle acts on an idle loop in a shutdown: it ends admission if the quiet
// period is over, and the executor with it. Lock held.
func (s *simple) settle() {
	if s.running || !s.shutting || s.ended {
		return
	}
	if wait := time.Until(s.idle.Add(s.quietTime())); !s.closed && wait > 0 {
		time.AfterFunc(wait, s.look)
		return
	}
	s.closed = true
	s.end()
}

func (s *simple) quietTime() time.Duration {
	const tick = 100 * time.Millisecond
	switch s.flaw {
	case quietShort:
		return s.quiet / 2
	case quietPolled:
		return (s.quiet + tick - 1) / tick * tick
	default:
		return s.quiet
	}
}

// endNow ends whatever is queued.
func (s *simple) endNow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if !s.ended {
		s.end()
	}
}

func (s *simple) end() {
	s.ended, s.endedAt = true, time.Now()
	if s.flaw != doneNever && !s.stuck {
		close(s.done)
	}
	if s.flaw == leavesGoroutine {
		go func() { <-s.abandoned }()
	}
}

// look is settle at the end of a quiet period.
func (s *simple) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
}

func (s *simple) Done() <-chan struct{} { return s.done }

func (s *simple) Abandon() { close(s.abandoned) }
