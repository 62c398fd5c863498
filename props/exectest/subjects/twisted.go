package subjects

import (
	"time"

	"eventide/props/exectest"
	"eventide/props/history"
)

// twisted is full with some methods replaced. What is wrong with it shows only in
// programs that are made for another guarantee than the one that it breaks.
type twisted struct {
	*Full
	execute  func(task func()) error
	schedule func(delay time.Duration, task func()) (func() bool, error)
	addHook  func(hook func()) (func() bool, error)
	submit   func(task func() error) exectest.Future
	shut     func()
	inside   func() bool
	stats    func() history.Stats

	asking, asked int // see second
}

func (e *twisted) Execute(task func()) error { return e.execute(task) }
func (e *twisted) ShutdownNow()              { e.shut() }
func (e *twisted) InEventLoop() bool         { return e.inside() }
func (e *twisted) Stats() history.Stats      { return e.stats() }

func (e *twisted) Schedule(delay time.Duration, task func()) (func() bool, error) {
	return e.schedule(delay, task)
}
func (e *twisted) AddShutdownHook(hook func()) (func() bool, error) { return e.addHook(hook) }
func (e *twisted) Submit(task func() error) exectest.Future         { return e.submit(task) }

// twist makes a factory of executors that the function makes wrong.
func twist(f Flaw, wrong func(*twisted)) func() exectest.Subject {
	return func() exectest.Subject {
		e := NewFull(f)
		w := &twisted{
			Full: e, execute: e.Execute, schedule: e.Schedule, addHook: e.AddShutdownHook,
			submit: e.Submit, shut: e.ShutdownNow, inside: e.InEventLoop, stats: e.Stats,
		}
		wrong(w)
		return w
	}
}

// Locked calls f with the lock of the executor.
func (e *twisted) locked(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
}

// lastFirst moves the newest entry of the queue to its front.
func (e *twisted) lastFirst() {
	e.locked(func() {
		if n := len(e.queue); n > 1 {
			e.queue = append([]item{e.queue[n-1]}, e.queue[:n-1]...)
		}
	})
}

// second reports whether the caller is a body that calls second for the second time.
func (e *twisted) second() (yes bool) {
	if !e.InEventLoop() {
		return false
	}
	e.locked(func() {
		if e.asking != e.begun {
			e.asking, e.asked = e.begun, 0
		}
		e.asked++
		yes = e.asked == 2
	})
	return yes
}

// leak leaves a goroutine behind.
func (e *twisted) leak() { go func() { <-e.abandoned }() }

// elsewhere runs the function on a goroutine of its own and waits for it.
func elsewhere(f func()) func() {
	return func() {
		over := make(chan struct{})
		go func() {
			defer close(over)
			defer func() { _ = recover() }()
			f()
		}()
		<-over
	}
}

// onPanic makes each task call f if the task panics.
func (e *twisted) onPanic(f func()) {
	e.execute = func(task func()) error {
		return e.Full.Execute(func() {
			defer func() {
				if r := recover(); r != nil {
					f()
					panic(r)
				}
			}()
			task()
		})
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
