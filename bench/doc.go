// Package bench measures executors side by side in one process: core's, a Go
// channel with one receiver, and a mutex with a condition variable.
//
//	go test -bench 'Execute/impl=.*/producers=1$' -count 10 ./bench | benchstat -col /impl -
//	go run ./bench/cmd/compare -run 'Execute|RoundTrip'
//
// The first line runs one implementation after the other, as go test does. The second
// runs them interleaved, round by round. Trust the second: on a shared machine
// sequential runs differ by more than the implementations do.
//
// # Names
//
// A name is BenchmarkWhat/key=value/key=value. The keys:
//
//	impl       core          core.Executor as NewExecutor makes it
//	           core-bounded  the same with WithMaxPendingTasks(1048576), and a
//	                         rejected-handler that yields and tries again
//	           core-own      core.Executor with timers in memory of the caller
//	                         (ScheduleTimer); in ScheduleCancel
//	           loop          core.EventLoop as NewEventLoop makes it, watching an
//	                         idle pipe
//	           loop-blocking  the same with WithBlockingEpoll
//	           pool          core.Pool of one worker
//	           channel       make(chan func(), 1024), one receiver
//	           mutex         a slice under a mutex, one consumer on a sync.Cond
//	           bare          a queue without a lock and with nothing else: no close,
//	                         no sleep; in Execute and ExecuteInLoop
//	           unbuffered    two unbuffered channels and a goroutine that answers
//	           afterfunc     time.AfterFunc and Stop
//	           timer         time.NewTimer
//	           goroutine     one that blocks in Read of a pipe
//	producers  goroutines that submit at the same time
//	quiet      length of the quiet period
//	timers     timers that are pending during the measurement, or at the call of Close
//	load       percent of the peak rate of a channel whose producers read the clock for each task,
//	           see SubmitLatency and SubmitStart
//	tasks      tasks queued at the call of Close
//	hooks      shutdown hooks at the call of Close
//	registrations  idle pipes that the loop watches at the call of Close
//	where      loop: the calls come from a body; outside: from another goroutine
//
// # What is measured
//
//	Execute         wall time per task, from the moment the producers are started
//	                until the last task has run. All submit one existing func.
//	ExecuteBusy     the same beside as many processes that compute as Go uses processors.
//	ExecuteInLoop   the same as Execute for tasks that a running task submits.
//	ExecuteLazy     one producer; the last task is not lazy.
//	RoundTrip       from before Execute until the caller has the answer of the task,
//	                on an executor that is idle: p50 and p99.
//	RoundTripBusy   the same, without a pause: an event loop that looks for
//	                work before it parks need not park. Mean.
//	ScheduleCancel  one Schedule and one Cancel of a timer that has reached the top
//	                of the heap, with the heap's work. From outside this includes a
//	                fence per 64 pairs: a task for which the caller waits.
//	ShutdownIdle    Close of an idle executor that has run one task: p50 and p99.
//	SubmitLatency   from the moment a task is due until it begins: p50, p99, p99.9 and
//	                the maximum, of at least one second of steady load (in compare)
//	                after a warm-up of a fifth of that. The producers offer an open load: a task is due at
//	                its time even if earlier ones are late, and one that could not
//	                be submitted in time has waited since (no coordinated omission).
//	                Between two tasks a producer yields; it neither sleeps nor spins.
//	                100 % is what a channel reaches at full speed with the same
//	                producers and tasks, measured before: one rate for all.
//	SubmitStart     the same for the first five milliseconds of the load, each time on
//	                a new executor, with the start of its goroutine if the first task starts it.
//	Readiness       from before a byte is written into a pipe until the handler that
//	                watches it runs, on a loop that had time to park: p50 and p99.
//	TimerLateness   by how much timers of 1 to 21 ms, 100 at a time, fire after they
//	                are due; none may be early (G7): p50 and p99.
//	Shutdown        Close with tasks, hooks, timers or registrations, from the release of the
//	                one running task until the end. Hooks and tasks do nothing, timers are
//	                cancelled; the channel has room for all tasks.
//	QuietPeriod     by how much Done closes after the end of the quiet period; none
//	                may be short (G10).
//	Submit          submit a function, and at the end wait for the last result.
//	Stats           one snapshot of an idle executor.
//
// Idle means parked. For core this is verified: if Stats.Parks does not rise by exactly
// one per trip, the sample is void, and is only counted (void/op).
//
// # Histograms
//
// compare keeps every latency as a histogram, in out/histograms.txt: first a line
// "# name unit samples histogram", then one line for each case with those four
// fields, separated by tabs. The histogram is HdrHistogram's compressed V2 encoding
// in base 64, in nanoseconds, of all rounds together. compare.ReadHistograms reads
// it, and so does every other HdrHistogram library.
//
// # What is not
//
// The rivals do less. They have no states, counters, bound, snapshot or recover,
// and the channel makes its producers wait where core and the mutex let a backlog grow;
// these differences are not evened out. The garbage collector runs before each slice of
// compare, outside of the measured time; collections that the slice itself causes are
// inside. The tasks do next to nothing, so caches are warmer than in a server. This
// package measures no CPU time, no sockets and no other processes: for Netty and other
// peers see bench/peers.
package bench
