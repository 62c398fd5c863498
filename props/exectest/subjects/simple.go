package subjects

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/petermattis/goid"
)

var errClosed = errors.New("simple: closed")

// Simple is a small correct executor: a mutex, a slice, and a goroutine for as
// long as there is work. A flaw makes it incorrect in one way.
type Simple struct {
	flaw Flaw

	mu        sync.Mutex
	queue     []item
	current   item
	loop      int64 // the goroutine that drains the queue, 0 if None
	running   bool
	shutting  bool
	closed    bool
	ended     bool
	stuck     bool // Done is never closed
	again     bool // a body has run again: see RunsAgain
	quiet     time.Duration
	timeout   time.Duration
	until     time.Time // see WaitsForTimers
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
	abandoned chan struct{}  // closed when the kit no longer needs it
	bodies    sync.WaitGroup // see Overlaps
}

// item is one entry of the queue.
type item struct {
	run  func()
	skip func() bool // called with the lock held; true: the loop skips the item
	task bool        // it is in the counters
	hook *hook
}

func NewSimple(f Flaw) *Simple {
	s := &Simple{
		flaw: f, atStop: func() {}, atIdle: func() {},
		done: make(chan struct{}), abandoned: make(chan struct{}),
	}
	if f == StartsEagerly {
		go func() { <-s.done }()
	}
	return s
}

func (s *Simple) Execute(task func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	it := item{run: task, task: true}
	if s.ended && s.flaw == AcceptsAfterDone && time.Since(s.endedAt) > time.Millisecond {
		return nil
	}
	if s.closed || s.shutting && s.flaw == RefusesInQuiet {
		s.rejected++
		if s.flaw == CountsRefused {
			s.accepted++
		}
		if s.flaw == RunsRefused && !s.ended {
			s.push(it)
		}
		return errClosed
	}
	if s.flaw == LosesInRace || s.flaw == LosesInRaceYields {
		s.mu.Unlock() // the gap: what was seen of closed may be wrong from here on
		if s.flaw == LosesInRaceYields {
			runtime.Gosched()
		}
		s.mu.Lock()
		if s.ended {
			return nil
		}
	}
	if len(s.queue) >= smallQueue && s.full(task) {
		return nil
	}
	if s.flaw == BlocksOnFull && len(s.queue) >= 100 {
		s.mu.Unlock()
		<-s.abandoned
		s.mu.Lock()
	}
	s.accepted++
	s.push(it)
	return nil
}

// smallQueue is the room for tasks of the executors with a flaw about a full queue.
const smallQueue = 2

// full applies a flaw about a full queue, and reports whether Execute has nothing left to
// do. Called with the lock held.
func (s *Simple) full(task func()) bool {
	switch s.flaw {
	case DropsOldest:
		s.queue = s.queue[1:]
	case DropsNewest:
		return true
	case CallerRuns:
		s.accepted++
		s.mu.Unlock()
		defer s.mu.Lock()
		defer func() { _ = recover() }()
		task()
		return true
	}
	return false
}

// push appends and starts the goroutine. Called with the lock held.
func (s *Simple) push(it item) {
	if s.flaw == Reorders && len(s.queue) > 0 {
		s.queue = append([]item{it}, s.queue...)
	} else {
		s.queue = append(s.queue, it)
	}
	if s.flaw == LIFOInside && s.loop == goid.Get() && len(s.queue) > 1 {
		s.queue = append([]item{it}, s.queue[:len(s.queue)-1]...)
	}
	if !s.running {
		if s.flaw == TwoLoops {
			s.mu.Unlock() // the gap: another one may start the loop
			runtime.Gosched()
			s.mu.Lock()
		}
		s.running = true
		go s.drain()
	}
}

// drain runs the queue until it is empty. If a body panics or exits, this goroutine
// ends, and another one continues.
func (s *Simple) drain() {
	finished := false
	defer func() {
		if recover() == nil && !finished && s.flaw == EndsAtGoexit {
			s.endNow()
			return
		}
		if !finished && s.flaw != DiesOfPanic {
			s.afterPanic()
			s.bodyEnded()
			go s.drain()
		}
	}()
	if s.flaw == Polls {
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
		if s.flaw == OneTaskPerWake && s.oneTask() {
			finished = true
			return
		}
	}
}

// oneTask ends the loop although there may be tasks, unless a shutdown has begun.
func (s *Simple) oneTask() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = s.shutting
	return !s.running
}

// afterPanic applies a flaw about bodies that end abruptly.
func (s *Simple) afterPanic() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.flaw == SkipsAfterPanic:
		s.queue = nil
	case s.flaw == RunsAgain && !s.again:
		s.again = true
		s.queue = append([]item{s.last}, s.queue...)
	case s.flaw == HookPanicEnds && s.current.hook != nil:
		s.queue = slices.DeleteFunc(s.queue, func(it item) bool { return it.hook != nil })
	}
}

func (s *Simple) run(it item) {
	if s.flaw != Overlaps {
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

func (s *Simple) bodyEnded() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current.task {
		s.ran++
	}
	if s.flaw != HooksDoNotCount || s.current.hook == nil {
		s.idle = time.Now()
	}
	s.current, s.loop = item{}, 0
}

// take returns the next body; None ends the goroutine.
func (s *Simple) take() (item, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		s.atIdle()
		if len(s.queue) == 0 && !s.overlapped() {
			s.running = s.flaw == EndsWhenEmpty && !s.shutting
			s.settle()
			return item{}, false
		}
		it := s.queue[0]
		if last := len(s.queue) - 1; s.flaw == NoTieBreak {
			s.queue[0] = s.queue[last]
			s.queue = s.queue[:last]
		} else {
			s.queue = s.queue[1:]
		}
		if s.flaw == CounterWraps && uint16(s.begun+1) == 0 {
			s.begun++
			continue
		}
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
func (s *Simple) overlapped() bool {
	if s.flaw != Overlaps {
		return false
	}
	s.mu.Unlock()
	s.bodies.Wait()
	s.mu.Lock()
	s.idle = time.Now()
	return len(s.queue) > 0
}

func (s *Simple) Done() <-chan struct{} { return s.done }

func (s *Simple) Abandon() { close(s.abandoned) }
