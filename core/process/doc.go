// Package process ends a process in order: a signal starts the exit, its steps
// run one after another, and the exit code says how it went.
//
//	func main() {
//		os.Exit(process.Run(context.Background(), process.Plan{
//			Start: serve,
//			Steps: []process.Step{
//				{Name: "acceptors", Executor: boss},
//				{Name: "workers", Executor: workers, Quiet: time.Second, Timeout: 10 * time.Second},
//				{Name: "database", Run: func(context.Context) error { return db.Close() }},
//			},
//		}))
//	}
//
// Run never calls os.Exit, so a test can call it. A test that calls Run in a testing/synctest
// bubble must first call signal.Notify outside of all bubbles, for example in TestMain: the
// first Notify of a process starts a goroutine of the Go runtime, and that goroutine must
// belong to no bubble. Deferred calls of main do not run when main calls os.Exit: make each
// of them a step.
//
// # What happens
//
// The exit begins with the first signal, with the end of Run's context, or when
// Start returns. Then NotReady is called, the program goes on serving for PreDrain
// (kubernetes #86280: the load balancer learns of the exit later than the process), and
// the steps run in order.
//
// A Timeout bounds how long an executor accepts tasks. Accepted tasks have until
// Plan.Deadline, unless their Step limits them (Drain or Deadline) or later steps need the
// time. A step that uses up its time is left running, and the next step begins (fx
// #1035). A step that fails, panics, or calls runtime.Goexit stops no other step.
// Plan.Deadline bounds the whole exit.
//
// Without a Logger, Run logs to slog.Default. A wrong plan, a failed step, a passed
// deadline and lost tasks are logged as errors. To log nothing, set
// slog.New(slog.DiscardHandler).
//
// A second signal ends the exit at once. The tempting wrong version is
//
//	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
//	defer stop()
//	<-ctx.Done()
//	shutdown()
//
// It swallows every signal after the first, so only SIGKILL ends a shutdown that hangs
// (oklog/run #19). A parent process that forwards signals can double them: a terminal
// sends ^C to the whole process group, so the child receives SIGINT from the terminal and
// again from the parent.
//
// # Exit codes
//
//   - 0: every step ended in time and without an error, and every accepted task has run.
//     Channels that a Timeout aborted and cancelled timers do not change the code: the
//     report and the log count them.
//   - 1: a deadline passed, accepted tasks were lost, a channel was closed while an answer was
//     in flight (core.Report.ChannelsHeld), or a step, Start or NotReady failed; or
//     nothing was started, because the process had no descriptors left for a timer.
//   - 2: the Plan or the call is wrong; nothing was started.
//   - 128+n: a second signal forced the exit; n is its number.
//
// # What to shut down, and in which order
//
// Shut down acceptors first: then no new work arrives while other executors drain. Shut
// down executors before the resources that their tasks use: close a database after the
// workers that write to it.
//
// A step ends whole executors. To end one connection, close the connection. A loop serves
// many connections, and a shutdown of the loop ends all of them: shut down a loop only when
// the process ends.
//
// # Standard output and SIGPIPE
//
// The Go runtime kills a process that writes to standard output or standard error if that is a
// pipe whose reader has gone. While Run runs, such a write returns EPIPE instead, so a
// log reader that has gone cannot cut an exit short. Run restores the old behaviour before
// it returns: pass the exit code to os.Exit without printing.
package process
