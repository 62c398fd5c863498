package exectest_test

import (
	"sync/atomic"
	"time"

	"eventide/props/exectest"
	"eventide/props/history"
)

// twisted is full with some methods replaced. What is wrong with it shows only in
// programs that are made for another guarantee than the one that it breaks.
type twisted struct {
	*full
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
func twist(f flaw, wrong func(*twisted)) func() exectest.Subject {
	return func() exectest.Subject {
		e := newFull(f)
		w := &twisted{
			full: e, execute: e.Execute, schedule: e.Schedule, addHook: e.AddShutdownHook,
			submit: e.Submit, shut: e.ShutdownNow, inside: e.InEventLoop, stats: e.Stats,
		}
		wrong(w)
		return w
	}
}

// locked calls f with the lock of the executor.
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

// second reports whether the caller is a body that asks for the second time.
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

// onPanic has each task call f if it panics.
func (e *twisted) onPanic(f func()) {
	e.execute = func(task func()) error {
		return e.full.Execute(func() {
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

// misplaced are mistakes that no program shows that is made for the guarantee that they
// break. For each: that guarantee, and a part of what the failure says.
var misplaced = []struct {
	name  string
	make  func() exectest.Subject
	guilt string
	text  string
}{
	{"a timer runs twice", twist(none, func(e *twisted) {
		e.schedule = func(delay time.Duration, f func()) (func() bool, error) {
			return e.full.Schedule(delay, func() { f(); f() })
		}
	}), "G3", "accepted work runs at most once: timer"},
	{"a task of a hook is lost", twist(none, func(e *twisted) {
		e.execute = func(task func()) error {
			var lost bool
			if e.InEventLoop() {
				e.locked(func() { lost = e.current.hook != nil })
			}
			if lost {
				return nil
			}
			return e.full.Execute(task)
		}
	}), "G3", "accepted tasks run before done: task"},
	{"a panic loses the next task", twist(none, func(e *twisted) {
		e.onPanic(func() {
			e.locked(func() {
				if len(e.queue) > 0 {
					e.queue = e.queue[1:]
				}
			})
		})
	}), "G3", "accepted tasks run before done: task"},
	{"ShutdownNow drops the queue", twist(none, func(e *twisted) {
		e.shut = func() {
			e.locked(func() { e.queue = nil })
			e.full.ShutdownNow()
		}
	}), "G3", "accepted tasks run before done: task"},
	{"timers run off the loop", twist(none, func(e *twisted) {
		e.schedule = func(delay time.Duration, f func()) (func() bool, error) {
			return e.full.Schedule(delay, elsewhere(f))
		}
	}), "G2", "InEventLoop was false inside timer"},
	{"hooks run off the loop", twist(none, func(e *twisted) {
		e.addHook = func(f func()) (func() bool, error) { return e.full.AddShutdownHook(elsewhere(f)) }
	}), "G2", "InEventLoop was false inside hook"},
	{"the first task of a body runs inside of it", twist(none, func(e *twisted) {
		did := false
		e.execute = func(task func()) error {
			inside := e.InEventLoop()
			e.locked(func() {
				inside = inside && !did && !e.shutting && len(e.queue) == 0
				did = did || inside
			})
			if inside {
				task()
				return nil
			}
			return e.full.Execute(task)
		}
	}), "G2", "bodies run one at a time, on the loop: task"},
	{"the second task of a body goes first", twist(none, func(e *twisted) {
		e.execute = func(task func()) error {
			if e.second() {
				defer e.lastFirst()
			}
			return e.full.Execute(task)
		}
	}), "G4", "tasks begin in the order submitted: task"},
	{"a submitted task goes first", twist(none, func(e *twisted) {
		e.submit = func(task func() error) exectest.Future {
			defer e.lastFirst()
			return e.full.Submit(task)
		}
	}), "G4", "tasks begin in the order submitted: task"},
	{"Submit accepts after done", twist(none, func(e *twisted) {
		e.submit = func(task func() error) exectest.Future {
			over := false
			e.locked(func() { over = e.ended && time.Since(e.endedAt) > time.Millisecond })
			if !over {
				return e.full.Submit(task)
			}
			f := &future{done: make(chan struct{}), err: errAbrupt}
			close(f.done)
			return f
		}
	}), "G5", "refusal is final and honest: task"},
	{"a hook does not restart the quiet period", twist(hooksDoNotCount, func(*twisted) {}), "G10", "the quiet period is exact: admission ended already"},
	{"a task waits for the next timer", twist(none, func(e *twisted) {
		e.execute = func(task func()) error {
			var wait time.Duration
			e.locked(func() {
				if len(e.timers) > 0 && !e.shutting {
					wait = time.Until(e.timers[0].due)
				}
			})
			if wait <= 0 {
				return e.full.Execute(task)
			}
			time.AfterFunc(wait, func() { _ = e.full.Execute(task) })
			return nil
		}
	}), "G12", "accepted work begins as soon as the loop is free: task"},
	{"a cancelled timer keeps it from ending", twist(none, func(e *twisted) {
		e.schedule = func(delay time.Duration, f func()) (func() bool, error) {
			cancel, err := e.full.Schedule(delay, f)
			return func() bool {
				defer e.locked(func() { e.stuck = true })
				return cancel()
			}, err
		}
	}), "G15", "never ended, though all accepted work has run"},
	{"a timer runs after done", twist(none, func(e *twisted) {
		var late atomic.Bool
		e.inside = func() bool { return late.Load() || e.full.InEventLoop() }
		e.schedule = func(delay time.Duration, f func()) (func() bool, error) {
			var began, cancelled atomic.Bool
			cancel, err := e.full.Schedule(delay, func() { began.Store(true); f() })
			time.AfterFunc(delay+time.Millisecond, func() {
				if !began.Load() && !cancelled.Load() && closed(e.Done()) {
					late.Store(true)
					f()
				}
			})
			return func() bool {
				taken := cancel()
				cancelled.Store(taken)
				return taken
			}, err
		}
	}), "G15", "nothing runs after done: timer"},
	{"Cancel does not return in the loop", twist(none, func(e *twisted) {
		e.schedule = func(delay time.Duration, f func()) (func() bool, error) {
			cancel, err := e.full.Schedule(delay, f)
			return func() bool {
				if e.InEventLoop() {
					<-e.abandoned
				}
				return cancel()
			}, err
		}
	}), "G18", "cancel, called at #"},
	{"a task that panicked is pending", twist(none, func(e *twisted) {
		panicked := 0
		e.onPanic(func() { panicked++ })
		e.stats = func() history.Stats {
			s := e.full.Stats()
			s.Ran, s.Pending = s.Ran-panicked, s.Pending+panicked
			return s
		}
	}), "G20", "accepted = ran + cancelled + pending: "},
	{"a panic leaves a goroutine", twist(none, func(e *twisted) { e.onPanic(e.leak) }),
		"G24", "no goroutine is left after done: "},
	{"Cancel leaves a goroutine", twist(none, func(e *twisted) {
		e.schedule = func(delay time.Duration, f func()) (func() bool, error) {
			cancel, err := e.full.Schedule(delay, f)
			return func() bool { e.leak(); return cancel() }, err
		}
	}), "G24", "no goroutine is left after done: "},
	{"a cancelled timer is still counted", twist(none, func(e *twisted) {
		timers := 0
		e.schedule = func(delay time.Duration, f func()) (func() bool, error) {
			e.locked(func() { timers++ })
			return e.full.Schedule(delay, func() { e.locked(func() { timers-- }); f() })
		}
		e.stats = func() history.Stats {
			s := e.full.Stats()
			e.locked(func() { s.Timers = timers })
			return s
		}
	}), "G24", "nothing is left behind: "},
	{"the 50th submitted task is lost and its future ends", twist(none, func(e *twisted) {
		n := 0
		e.submit = func(task func() error) exectest.Future {
			lost := false
			e.locked(func() { n++; lost = n == 50 })
			if lost {
				return e.full.Submit(func() error { return nil })
			}
			return e.full.Submit(task)
		}
	}), "G3", "accepted and never ran"},
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
