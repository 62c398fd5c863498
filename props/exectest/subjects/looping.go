package subjects

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"eventide/props/exectest"
)

// looping is an executor of one goroutine that starts at once: a slice behind a lock, and a
// channel that wakes the loop. The quiet period is 0, whatever was asked for.
type looping struct {
	mistake loopMistake

	mu     sync.Mutex
	queue  []func()
	closed bool

	batch []func() // of the loop
	ended bool     // of the loop

	asleep    atomic.Bool
	wake      chan struct{}
	done      chan struct{}
	abandoned chan struct{} // closed when the kit no longer needs it
}

// loopMistake is one way in which looping is wrong. A wrong loop yields in its gap, so that
// another goroutine steps into it on one processor too.
type loopMistake int

const (
	rightLoop          loopMistake = iota
	wakesBeforePush                // wakes the loop, and then appends the task
	wakesNobody                    // sends to a channel without room, and gives up if the loop is not there yet
	announcesTooLate               // looks at the queue, and then announces its sleep
	neverLooksAgain                // announces its sleep, and does not look at the queue again
	wakesAtFirstOnly               // a submitter wakes the loop only if the queue was empty, and the loop forgets a wake-up while it runs
	takesInTwoSteps                // reads the queue and empties it in two steps
	dropsRestAtPanic               // a panic ends the batch
	closesDoneBefore               // closes Done, and then runs the last batch
	endsWithoutTheLast             // after the close it takes no last look at the queue
	leavesTicker                   // a goroutine that purges ticks on after the end
)

func newLooping(m loopMistake) *looping {
	l := &looping{mistake: m, wake: make(chan struct{}, 1), done: make(chan struct{}), abandoned: make(chan struct{})}
	if m == wakesNobody {
		l.wake = make(chan struct{})
	}
	if m == leavesTicker {
		go l.purge()
	}
	go l.loop()
	return l
}

func (l *looping) Execute(task func()) error {
	if l.mistake == wakesBeforePush {
		l.rouse()
		runtime.Gosched()
	}
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return errClosed
	}
	first := len(l.queue) == 0
	l.queue = append(l.queue, task)
	l.mu.Unlock()
	switch {
	case l.mistake == wakesBeforePush:
	case l.mistake == wakesAtFirstOnly && !first:
	default:
		l.rouse()
	}
	return nil
}

// rouse wakes the loop if it has announced that it sleeps.
func (l *looping) rouse() {
	if l.announces() && !l.asleep.CompareAndSwap(true, false) {
		return
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// announces reports whether submitters make no wake-up unless the loop has announced its
// sleep.
func (l *looping) announces() bool {
	return l.mistake == announcesTooLate || l.mistake == neverLooksAgain
}

func (l *looping) Shutdown(quiet, timeout time.Duration) error {
	if quiet < 0 || timeout < quiet {
		return errClosed
	}
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	if l.mistake == wakesNobody {
		go func() {
			select {
			case l.wake <- struct{}{}:
			case <-l.done:
			case <-l.abandoned:
			}
		}()
		return nil
	}
	l.asleep.Store(true)
	l.rouse()
	return nil
}

func (l *looping) Done() <-chan struct{} { return l.done }

// Abandon ends the goroutines of a loop that has lost a wake-up.
func (l *looping) Abandon() { close(l.abandoned) }

// loop runs until the end. A body that panics or exits takes the goroutine with it, and
// another one goes on with the rest of the batch.
func (l *looping) loop() {
	survived := false
	defer func() {
		if _ = recover(); survived {
			return
		}
		if l.mistake == dropsRestAtPanic {
			l.batch = nil
		}
		go l.loop()
	}()
	for !l.turn() {
	}
	survived = true
}

// turn runs one queued task, or fetches tasks or sleeps, and reports whether that was the end.
func (l *looping) turn() (over bool) {
	if len(l.batch) > 0 {
		task := l.batch[0]
		l.batch = l.batch[1:]
		task()
		return false
	}
	tasks, closed := l.take()
	l.batch = tasks
	switch {
	case closed && l.mistake == closesDoneBefore:
		if !l.ended {
			close(l.done)
		}
		l.ended = true
		return len(tasks) == 0
	case len(tasks) > 0:
		return false
	case closed:
		close(l.done)
		return true
	}
	if l.mistake != rightLoop {
		runtime.Gosched() // the gap between the look at the queue and the sleep
	}
	return l.sleep()
}

// take empties the queue.
func (l *looping) take() (tasks []func(), closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.mistake == endsWithoutTheLast && l.closed:
		return nil, true
	case l.mistake == takesInTwoSteps:
		tasks = l.queue
		l.mu.Unlock() // a task that is appended in between is forgotten
		runtime.Gosched()
		l.mu.Lock()
	default:
		tasks = l.queue
	}
	l.queue = nil
	return tasks, l.closed
}

// sleep waits for a wake-up, and reports whether the executor was abandoned instead.
func (l *looping) sleep() (abandoned bool) {
	switch l.mistake {
	case announcesTooLate:
		if l.hasWork() {
			return false
		}
		runtime.Gosched()
		l.asleep.Store(true) // a task that came before this wakes nobody
	case neverLooksAgain:
		l.asleep.Store(true)
	case wakesAtFirstOnly:
		select { // an old wake-up
		case <-l.wake:
		default:
		}
	}
	select {
	case <-l.wake:
		return false
	case <-l.abandoned:
		return true
	}
}

func (l *looping) hasWork() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue) > 0 || l.closed
}

// purge ticks until the kit no longer needs the executor.
func (l *looping) purge() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-l.abandoned:
			return
		}
	}
}

// loopOptions declare what looping does not promise.
func loopOptions() []exectest.Option {
	return []exectest.Option{
		exectest.Without("G10", "it has no quiet period"), exectest.Without("G11", "it has no timeout"),
		exectest.Without("G16", "its shutdown has no parameters"), exectest.Without("G17", "its goroutine starts at once"),
	}
}
