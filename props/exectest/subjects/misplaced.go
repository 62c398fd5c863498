package subjects

import (
	"sync/atomic"
	"time"

	"eventide/props/exectest"
	"eventide/props/history"
)

// misplaced are mistakes of the whole executor that programs made for another guarantee show
// first.
var misplaced = []Mistake{
	{Name: "a timer runs twice",
		Source: "classic: the tick and the reschedule both call the callback",
		New: twist(None, func(e *twisted) {
			e.schedule = func(delay time.Duration, f func()) (func() bool, error) {
				return e.Full.Schedule(delay, func() { f(); f() })
			}
		}), Guarantee: "G3", ShownBy: "G7", Also: lost, Text: "accepted work runs at most once: timer"},
	{Name: "a task of a hook is lost",
		Source: "Netty #9603: a task that is submitted in the last pass of a shutdown is dropped",
		New: twist(None, func(e *twisted) {
			e.execute = func(task func()) error {
				var lost bool
				if e.InEventLoop() {
					e.locked(func() { lost = e.current.hook != nil })
				}
				if lost {
					return nil
				}
				return e.Full.Execute(task)
			}
		}), Guarantee: "G3", ShownBy: "G15", Text: "accepted tasks run before done: task"},
	{Name: "a panic loses the next task",
		Source: "Netty #5882: an exception skipped the tasks behind it",
		New: twist(None, func(e *twisted) {
			e.onPanic(func() {
				e.locked(func() {
					if len(e.queue) > 0 {
						e.queue = e.queue[1:]
					}
				})
			})
		}), Guarantee: "G3", ShownBy: "G14", Text: "accepted tasks run before done: task"},
	{Name: "ShutdownNow drops the queue",
		Source: "java.util.concurrent.ExecutorService.shutdownNow: tasks that have not begun are returned, and do not run",
		New: twist(None, func(e *twisted) {
			e.shut = func() {
				e.locked(func() { e.queue = nil })
				e.Full.ShutdownNow()
			}
		}), Guarantee: "G3", ShownBy: "G5", Text: "accepted tasks run before done: task"},
	{Name: "timers run off the loop",
		Source: "package time: AfterFunc calls f in its own goroutine",
		New: twist(None, func(e *twisted) {
			e.schedule = func(delay time.Duration, f func()) (func() bool, error) {
				return e.Full.Schedule(delay, elsewhere(f))
			}
		}), Guarantee: "G2", ShownBy: "G7", Text: "InEventLoop was false inside timer"},
	{Name: "hooks run off the loop",
		Source: "java.lang.Runtime.addShutdownHook: hooks run on threads of their own",
		New: twist(None, func(e *twisted) {
			e.addHook = func(f func()) (func() bool, error) { return e.Full.AddShutdownHook(elsewhere(f)) }
		}), Guarantee: "G2", ShownBy: "G15", Text: "InEventLoop was false inside hook"},
	{Name: "the first task of a body runs inside of it",
		Source: "Boost.Asio dispatch: a handler may run inside the call",
		New: twist(None, func(e *twisted) {
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
				return e.Full.Execute(task)
			}
		}), Guarantee: "G2", ShownBy: "G1", Text: "bodies run one at a time, on the loop: task"},
	{Name: "the second task of a body goes first",
		Source: "Tokio: the worker's LIFO slot",
		New: twist(None, func(e *twisted) {
			e.execute = func(task func()) error {
				if e.second() {
					defer e.lastFirst()
				}
				return e.Full.Execute(task)
			}
		}), Guarantee: "G4", ShownBy: "G1", Text: "tasks begin in the order submitted: task"},
	{Name: "a submitted task goes first",
		Source: "Node.js process.nextTick: overtakes what was queued before",
		New: twist(None, func(e *twisted) {
			e.submit = func(task func() error) exectest.Future {
				defer e.lastFirst()
				return e.Full.Submit(task)
			}
		}), Guarantee: "G4", ShownBy: "G15", Text: "tasks begin in the order submitted: task"},
	{Name: "Submit accepts after done",
		Source: "Netty #1307: tasks were accepted until termination",
		New: twist(None, func(e *twisted) {
			e.submit = func(task func() error) exectest.Future {
				over := false
				e.locked(func() { over = e.ended && time.Since(e.endedAt) > time.Millisecond })
				if !over {
					return e.Full.Submit(task)
				}
				f := &future{done: make(chan struct{}), err: errAbrupt}
				close(f.done)
				return f
			}
		}), Guarantee: "G5", ShownBy: "G9", Text: "refusal is final and honest: task"},
	{Name: "a hook does not restart the quiet period",
		Source: "Netty, R118: hooks count as work of the quiet period",
		New:    twist(HooksDoNotCount, func(*twisted) {}), Guarantee: "G10", ShownBy: "G6", Text: "the quiet period is exact: admission ended already"},
	{Name: "a task waits for the next timer",
		Source: "Python asyncio: call_soon from another thread does not wake the selector",
		New: twist(None, func(e *twisted) {
			e.execute = func(task func()) error {
				var wait time.Duration
				e.locked(func() {
					if len(e.timers) > 0 && !e.shutting {
						wait = time.Until(e.timers[0].due)
					}
				})
				if wait <= 0 {
					return e.Full.Execute(task)
				}
				time.AfterFunc(wait, func() { _ = e.Full.Execute(task) })
				return nil
			}
		}), Guarantee: "G12", ShownBy: "G8", Text: "accepted work begins as soon as the loop is free: task"},
	{Name: "a cancelled timer keeps it from ending",
		Source: "Netty #2545: a shutdown waited for a far timer",
		New: twist(None, func(e *twisted) {
			e.schedule = func(delay time.Duration, f func()) (func() bool, error) {
				cancel, err := e.Full.Schedule(delay, f)
				return func() bool {
					defer e.locked(func() { e.stuck = true })
					return cancel()
				}, err
			}
		}), Guarantee: "G15", Also: lost, Text: "never ended, though all accepted work has run"},
	{Name: "a timer runs after done",
		Source: "package time: Timer.Stop does not wait for a function that has started",
		New: twist(None, func(e *twisted) {
			var late atomic.Bool
			e.inside = func() bool { return late.Load() || e.Full.InEventLoop() }
			e.schedule = func(delay time.Duration, f func()) (func() bool, error) {
				var began, cancelled atomic.Bool
				cancel, err := e.Full.Schedule(delay, func() { began.Store(true); f() })
				time.AfterFunc(delay+time.Millisecond, func() {
					if !began.Load() && !cancelled.Load() && closed(e.Done()) {
						late.Store(true)
						runOne(f)
					}
				})
				return func() bool {
					taken := cancel()
					cancelled.Store(taken)
					return taken
				}, err
			}
		}), Guarantee: "G15", Text: "nothing runs after done: timer"},
	{Name: "Cancel does not return in the loop",
		Source: "Netty #5507: a call inside the loop waited for the loop",
		New: twist(None, func(e *twisted) {
			e.schedule = func(delay time.Duration, f func()) (func() bool, error) {
				cancel, err := e.Full.Schedule(delay, f)
				return func() bool {
					if e.InEventLoop() {
						<-e.abandoned
					}
					return cancel()
				}, err
			}
		}), Guarantee: "G18", ShownBy: "G8", Text: "cancel, called at #"},
	{Name: "a task that panicked is pending",
		Source: "classic: the counter is decremented behind the call, and not in a defer",
		New: twist(None, func(e *twisted) {
			panicked := 0
			e.onPanic(func() { e.locked(func() { panicked++ }) })
			e.stats = func() history.Stats {
				s := e.Full.Stats()
				e.locked(func() { s.Ran, s.Pending = s.Ran-panicked, s.Pending+panicked })
				return s
			}
		}), Guarantee: "G20", ShownBy: "G14", Text: "accepted = ran + cancelled + pending: "},
	{Name: "a panic leaves a goroutine",
		Source: "classic: a watcher of a task that ends only if the task returns",
		New:    twist(None, func(e *twisted) { e.onPanic(e.leak) }), Guarantee: "G24", ShownBy: "G14", Text: "no goroutine is left after done: "},
	{Name: "Cancel leaves a goroutine",
		Source: "classic: a goroutine that waits for the timer of a cancelled task",
		New: twist(None, func(e *twisted) {
			e.schedule = func(delay time.Duration, f func()) (func() bool, error) {
				cancel, err := e.Full.Schedule(delay, f)
				return func() bool { e.leak(); return cancel() }, err
			}
		}), Guarantee: "G24", ShownBy: "G7", Text: "no goroutine is left after done: "},
	{Name: "a cancelled timer is still counted",
		Source: "Netty #3994: cancelled timers stayed in the heap",
		New: twist(None, func(e *twisted) {
			timers := 0
			e.schedule = func(delay time.Duration, f func()) (func() bool, error) {
				e.locked(func() { timers++ })
				return e.Full.Schedule(delay, func() { e.locked(func() { timers-- }); f() })
			}
			e.stats = func() history.Stats {
				s := e.Full.Stats()
				e.locked(func() { s.Timers = timers })
				return s
			}
		}), Guarantee: "G24", ShownBy: "G7", Text: "nothing is left behind: "},
	{Name: "the 50th submitted task is lost and its future ends",
		Source: "classic: a retry completes the future of a task that was given up",
		New: twist(None, func(e *twisted) {
			n := 0
			e.submit = func(task func() error) exectest.Future {
				lost := false
				e.locked(func() { n++; lost = n == 50 })
				if lost {
					return e.Full.Submit(func() error { return nil })
				}
				return e.Full.Submit(task)
			}
		}), Guarantee: "G3", ShownBy: "G9", Unlogged: true, Text: "accepted and never ran"},
}
