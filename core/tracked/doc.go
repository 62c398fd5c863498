// Package tracked runs functions in goroutines of their own, keeps them by name, and ends
// without losing one.
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
// It is for work that an executor is no place for: functions that block, that take long, or
// that live as long as the program. sync.WaitGroup waits for such goroutines too, but its Add
// races its Wait; errgroup has neither a close nor names. A Group has both: after the close
// every call of Go is refused, and until then none is.
//
// A Group goes through the states of an executor (G1) and ends as one: ShutdownGracefully
// with a quiet period and a timeout (G10, G11, G16), Shutdown, Termination, Report. So it is a
// process.Executor, and one step of a process.Plan. When the timeout passes, the report names
// each function that still runs, since when, and where.
//
// Two contexts tell a function of the end. ShutdownContext ends when the shutdown begins: a
// loop that waits for more work returns then. The context that the function gets ends when
// the group closes; work in flight is cut by the timeout, and by nothing before it.
//
//	g.Go("consumer", func(ctx context.Context) error {
//		for {
//			select {
//			case m := <-messages:
//				handle(ctx, m) // finished also if the shutdown begins meanwhile
//			case <-g.ShutdownContext().Done():
//				return nil
//			}
//		}
//	})
//
// G2 and G4 do not hold: functions overlap, and begin in any order.
package tracked
