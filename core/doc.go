// Package core is an event-loop executor that can be shut down without losing
// work, and that can prove it.
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
// timers, shutdown hooks. Its state goes forward through NotStarted, Started,
// ShuttingDown, Shutdown and Terminated. ShutdownGracefully lets it finish: tasks
// are accepted until none has come for a quiet period, or until a timeout, which
// is a deadline that no running body can postpone.
//
// # Guarantees
//
// Doc comments, tests and failure messages call these by their numbers.
//
//   - G1 States only move forward.
//   - G2 Bodies of one executor never overlap, and each sees the effects of the one
//     before; InEventLoop and Current are right inside them.
//   - G3 Exact admission: what was accepted runs exactly once before done; what was
//     refused never runs.
//   - G4 FIFO: if Execute(a) returned before Execute(b) was called, a begins first.
//   - G5 After the close nothing is accepted; before it nothing is refused, but for a
//     full queue or a failed start.
//   - G6 Hooks always run, once each, in order, as soon as the tasks accepted before
//     the shutdown call have run.
//   - G7 Timers are never early, and in order.
//   - G8 Cancel is exact: true means that the body does not begin.
//   - G9 Every future ends, and every listener is called once.
//   - G10 The quiet period is exact, without polling.
//   - G11 The timeout is a deadline for admission, even while a body runs.
//   - G12 No wake-up is lost; at most one per sleep, none from the loop itself.
//   - G13 No starvation by a task that resubmits itself.
//   - G14 Panics and runtime.Goexit stay inside.
//   - G15 Termination is one fact: Terminated if and only if Done is closed.
//   - G16 The first shutdown call wins; Shutdown shortens it; nothing lengthens it.
//   - G17 Lazy start; a start that fails keeps nothing.
//   - G18 No self-deadlock: calls that would wait for the loop from inside it return
//     ErrInEventLoop.
//   - G19 A bounded queue refuses honestly.
//   - G20 Conservation: accepted = ran + cancelled + pending, in every snapshot.
//   - G21 A group ends as one.
//   - G22 Channels and registrations close cleanly: each is told, once.
//   - G23 A shutdown drains channels: flushed, half-closed, read until the peer's end.
//   - G24 Nothing leaks.
//
// # Event loops
//
// An EventLoop is an executor that watches descriptors, by epoll; NewGroup makes
// several. It wakes without a system call, and readiness runs before tasks:
//
//	loop, err := core.NewEventLoop()
//	...
//	reg, err := loop.Register(fd, core.Readable, func(r core.Readiness) { ... })
//
// Package tcp has connections and listeners on top of it, package blocking one
// executor per connection for what epoll cannot serve, such as TLS, and package
// process the way from a signal to the exit code. A shutdown closes registrations
// and tells their handlers, and drains channels (WithDrain).
//
// The R numbers in comments are rules of Netty that are kept or departed from;
// docs/netty.md lists both.
package core
