// Package core has event-loop executors that can be shut down without losing accepted work.
//
// The promise: Execute returned nil if and only if the task runs exactly once
// before Termination().Done() is closed.
//
//	ex, err := core.NewExecutor()
//	if err != nil {
//		return err
//	}
//	if _, err := ex.AddShutdownHook(func() { fmt.Println("bye") }); err != nil {
//		return err
//	}
//	if err := ex.Execute(func() { fmt.Println("hello") }); err != nil {
//		return err // not accepted: it will never run
//	}
//	return ex.Close() // everything accepted has run
//
// An executor is one goroutine, started by its first use, that runs bodies: tasks,
// timers, shutdown hooks. Its state moves forward through NotStarted, Started,
// ShuttingDown, Shutdown and Terminated. ShutdownGracefully lets it finish: tasks are
// accepted until no task, timer or hook has run for a quiet period, or until a timeout that
// no running body can postpone.
//
// # Guarantees
//
// Doc comments, tests and failure messages use these numbers. A body is a function of the
// user that the loop runs: a task, timer, hook or handler. Accepted means that the call
// returned no error. Once admission has closed, every task is refused. Done is
// Termination().Done(). A quiet period does not end while a channel is open, or while a timer
// waits that WithTimersAtShutdown lets run. Handlers do not restart it, except one that
// runs at the shutdown call. ErrStarting is the error of a call in the executor's own spawner
// that would wait for the start of the executor.
//
//   - G1 The state of an executor only moves forward.
//   - G2 Bodies never overlap, each sees the effects of the one before; InEventLoop is
//     true only on their goroutine.
//   - G3 An accepted task runs exactly once before Done closes; a refused task never
//     runs.
//   - G4 If Execute(a) returns before Execute(b) is called, a begins before b.
//   - G5 A task is refused after admission has closed, or for a full queue, a failed
//     start or ErrStarting; else never.
//   - G6 Every hook that is not removed runs exactly once, in order, and later tasks do
//     not delay it.
//   - G7 Timers never run early; they run in deadline order, and equal deadlines in the
//     order scheduled.
//   - G8 After Cancel returns true the body does not begin; a one-shot timer either ran
//     or was cancelled.
//   - G9 Every future of accepted work is complete when Done closes, and each listener
//     runs exactly once.
//   - G10 Admission closes exactly one quiet period after the later of shutdown call
//     and last task, timer or hook.
//   - G11 The timeout of a shutdown closes admission on time, even while a body runs.
//   - G12 No wake-up is lost; a sleep takes at most one, and the loop never wakes
//     itself.
//   - G13 A task that resubmits itself delays timers, readiness, hooks and the close by
//     a bounded batch at most.
//   - G14 A panic or runtime.Goexit ends one body and nothing else; a panic is reported
//     once.
//   - G15 The state is Terminated if and only if Done is closed, and all cleanup is
//     complete by then.
//   - G16 The first shutdown call sets quiet period and timeout; Shutdown shortens
//     them, nothing lengthens them.
//   - G17 The loop starts at the first use; a failed start returns the spawner's error
//     and keeps no task.
//   - G18 A call inside the loop that would wait for the loop returns ErrInEventLoop at
//     once.
//   - G19 A queue bounded to n holds max(16, n) tasks that have not begun, and every
//     refusal is an error.
//   - G20 Every snapshot satisfies accepted = ran + cancelled + pending.
//   - G21 A group ends after its last child, with the joined errors of its children,
//     and Next is exactly fair.
//   - G22 A channel or registration closes exactly once, in a fixed order of events,
//     and its owner is notified.
//   - G23 A shutdown drains each open channel or counts it as aborted; a drained
//     channel has lost nothing.
//   - G24 Once Done is closed and its listeners have run, no goroutine, descriptor,
//     timer or task remains.
//
// # Several goroutines
//
// NewExecutorGroup makes several executors, each with a private queue. NewPool makes
// workers that share one queue, so that a task that blocks does not delay other tasks
// while another worker is free; the documentation of Pool says which guarantees a Pool
// does not keep.
//
// # Event loops
//
// An EventLoop is an executor that watches descriptors, by epoll; NewGroup makes several.
// By default a wake-up writes to no descriptor. Handlers of ready descriptors run before
// tasks. A descriptor is watched like this:
//
//	loop, err := core.NewEventLoop()
//	...
//	reg, err := loop.Register(fd, core.Readable, func(r core.Readiness) { ... })
//
// Package tcp has connections and listeners on top of event loops. Package blocking has
// one executor per connection, for transports that epoll cannot serve, such as TLS.
// Package process takes a program from a signal to its exit code. A shutdown closes
// registrations, calls their OnClose listeners, and drains channels (WithDrain).
//
// The R numbers in comments are rules of Netty that are kept or departed from;
// docs/netty.md lists both.
package core
