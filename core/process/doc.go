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
// Run never calls os.Exit, so a test can call it. In a testing/synctest bubble it can only
// after a call of signal.Notify outside of all bubbles, as in TestMain: with the first one
// the Go runtime starts a goroutine that has to belong to none. What main has deferred does
// not run when main calls os.Exit: make it a step.
//
// # What happens
//
// The exit begins with the first signal, with the end of Run's context, or when
// Start returns. Then NotReady is called, PreDrain passes while the program still
// serves (kubernetes #86280: the load balancer learns of the end later than the
// process does), and the steps run in order.
//
// A Timeout bounds how long an executor accepts tasks. Accepted tasks have until the end
// of the plan, unless their Step limits them (Step.Drain) or later steps need the
// time. A step whose time is over is left running, and the next one begins (fx #1035).
// A step that fails, panics, or calls runtime.Goexit stops no other step. Plan.Deadline
// bounds the whole exit.
//
// Without a Logger, Run logs to slog.Default: a wrong plan, a failed step, a passed
// deadline and lost tasks are errors there. Silence is slog.New(slog.DiscardHandler).
//
// A second signal ends it at once. The tempting wrong version is
//
//	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
//	defer stop()
//	<-ctx.Done()
//	shutdown()
//
// which swallows every signal after the first: a shutdown that hangs can then
// only be killed (oklog/run #19). Mind whoever forwards signals: a terminal sends
// ^C to the whole process group, and with a parent that passes it on it comes
// twice.
//
// # Exit codes
//
//   - 0: every step ended in time and without an error, and every accepted task has run.
//     Timers that the policy of their executor cancels, and channels that are aborted at
//     a Timeout, are in the report and the log.
//   - 1: a deadline passed, accepted tasks were lost, or a step, Start or NotReady failed; or
//     nothing was started, because the process had no descriptors left for a timer.
//   - 2: the Plan or the call is wrong; nothing was started.
//   - 128+n: a second signal forced the exit; n is its number.
//
// # What to shut down, and in which order
//
// Acceptors first: then nothing new arrives while the rest is drained. Executors
// before what their tasks use: a database is closed after the workers that write
// to it.
//
// A step ends whole executors. To end one connection, close the connection: its
// loop serves others too, and shutting that down ends every one of them. Nothing
// but the end of the process is a reason to shut down a channel's loop.
//
// # Standard output and SIGPIPE
//
// The Go runtime kills a process that writes to its standard output or error when
// nobody reads the pipe any more. While Run runs, such a write returns EPIPE
// instead, so that a log reader that is gone cannot cut an exit short. After Run
// has returned it is as it was: pass the exit code to os.Exit without printing.
package process
