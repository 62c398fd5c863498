// Package tracked runs functions in goroutines of their own, lists the running ones by
// name, and shuts down without losing an accepted one.
//
// The promise is that of package core: Go returned nil if and only if the function runs
// exactly once and has returned before Termination().Done() is closed.
//
//	var g tracked.Group
//	err := g.Go("mailer", func(ctx context.Context) error {
//		return send(ctx, mail)
//	})
//	if err != nil {
//		return err // the group is closed: the mail will not be sent here
//	}
//	...
//	return g.Close() // every accepted function has returned
//
// Use it for functions that do not fit an executor, because they block, take long, or run
// as long as the program. sync.WaitGroup waits for such goroutines too, but its Add races
// with its Wait; errgroup has neither a close nor names. A Group has both: until it
// closes, no call of Go is refused; afterwards every call is.
//
// A Group has the states of an executor (G1) and ends like one: ShutdownGracefully with a
// quiet period and a timeout (G10, G11, G16), Shutdown, Termination, Report. So it is a
// process.Executor, and can be one step of a process.Plan. When the timeout passes, the
// report names each function that still runs, with its start time and its stack.
//
// Two contexts announce the end. ShutdownContext ends when the shutdown begins: a loop
// that waits for more work should then return. The context passed to the function ends
// when the group closes, so only the timeout or Shutdown interrupts work in flight.
//
//	g.Go("consumer", func(ctx context.Context) error {
//		for {
//			select {
//			case m := <-messages:
//				handle(ctx, m) // runs to its end even if the shutdown begins meanwhile
//			case <-g.ShutdownContext().Done():
//				return nil
//			}
//		}
//	})
//
// The first error of a function is the error of the group and, in a process.Plan, of its step, so
// that the exit code is not 0. A function whose failure is part of normal work handles its error
// and returns nil.
//
// G2 and G4 do not hold: functions run in parallel, and begin in any order.
package tracked
