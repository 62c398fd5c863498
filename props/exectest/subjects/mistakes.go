package subjects

import (
	"runtime"

	"eventide/props/exectest"
)

// lost are the guarantees that an executor may break too because it loses tasks, or runs
// them too late.
var lost = []string{"G3", "G4", "G5", "G6", "G9", "G10", "G11", "G12", "G14", "G15", "G16", "G18", "G20", "G24"}

// flawed are the mistakes of the simple executor.
var flawed = []Mistake{
	{Name: "drops the queue when the timeout ends admission", Source: "Netty #9603: tasks of the last pass were dropped at termination", New: Bare(LosesAtStop), Guarantee: "G3", Text: "accepted tasks run before done: task"},
	{Name: "forgets the queue at the call of Shutdown", Source: "gammazero/workerpool, Stop: pending tasks are abandoned", New: Bare(AbandonsAtCall), Guarantee: "G3", Also: lost, Text: "accepted tasks run before done: task"},
	{Name: "runs a task that it has refused", Source: "Netty, R11: a task is queued before the rejection is known", New: Bare(RunsRefused), Guarantee: "G3", Text: "refused work never runs: task"},
	{Name: "runs the last task again when the timeout passes", Source: "classic: delivery at least once, as in job queues that acknowledge late", New: Bare(RunsTwice), Guarantee: "G3", Text: "accepted work runs at most once: task"},
	{Name: "runs a body that has panicked again", Source: "classic: a retry of failed jobs", New: Bare(RunsAgain), Guarantee: "G3", ShownBy: "G14", Also: lost, Text: "at most once"},
	{Name: "forgets the oldest task of a full queue", Source: "java.util.concurrent.ThreadPoolExecutor.DiscardOldestPolicy", New: Bare(DropsOldest), Guarantee: "G3", Also: lost, Text: "accepted tasks run before done: task"},
	{Name: "forgets a task that finds the queue full", Source: "java.util.concurrent.ThreadPoolExecutor.DiscardPolicy", New: Bare(DropsNewest), Guarantee: "G3", Also: lost, Text: "accepted tasks run before done: task"},
	{Name: "runs a task that finds the queue full on the caller", Source: "java.util.concurrent.ThreadPoolExecutor.CallerRunsPolicy", New: Bare(CallerRuns), Guarantee: "G2", Also: []string{"G3", "G4", "G5", "G12", "G10", "G11", "G14", "G15", "G16", "G18", "G20"}},
	{Name: "numbers its tasks with 16 bits", Source: "Netty #10423: the counter of a chooser overflowed", New: Bare(CounterWraps), Guarantee: "G3", Also: lost, Text: "accepted and never ran", Unlogged: true},
	{Name: "runs the newest task first", Source: "classic: a stack for a queue", New: Bare(Reorders), Guarantee: "G4", Text: "tasks begin in the order submitted: task"},
	{Name: "takes the tasks that bodies submit in reverse order", Source: "java.util.concurrent.ForkJoinPool: asyncMode is false by default, so forked tasks are taken last in, first out", New: Bare(LIFOInside), Guarantee: "G4", ShownBy: "G3", Text: "tasks begin in the order submitted: task"},
	{Name: "keeps its tasks in a heap without an order of submission", Source: "java.util.concurrent.PriorityBlockingQueue: no guarantee about elements of equal priority", New: Bare(NoTieBreak), Guarantee: "G4", Text: "tasks begin in the order submitted: task"},
	{Name: "goes on with the next task after a while", Source: "classic: a watchdog takes a slow body for a dead one", New: Bare(Overlaps), Guarantee: "G2", Text: "bodies run one at a time, on the loop: task"},
	{Name: "starts a second loop", Source: "Netty #2307: a loop is started by a check and a set, without compare-and-swap", New: Bare(TwoLoops), Guarantee: "G2", Also: lost, Unlogged: true},
	{Name: "closes Done at the timeout, with tasks left", Source: "Netty, R133: the future of the termination is complete before the last task", New: Bare(DoneEarly), Guarantee: "G15", Text: "nothing runs after done: task", Also: []string{"G3"}},
	{Name: "never closes Done", Source: "Netty #16098: the wait for a termination never returned", New: Bare(DoneNever), Guarantee: "G15", Also: []string{"G14"}, Text: "never ended, though all accepted work has run"},
	{Name: "accepts a task when it is over", Source: "Netty #1307: tasks were accepted until the end", New: Bare(AcceptsAfterDone), Guarantee: "G5", Text: "though the executor was done at #"},
	{Name: "a panic or Goexit ends the loop", Source: "Netty #16102: a task that throws ended a loop silently", New: Bare(DiesOfPanic), Guarantee: "G14", Text: "a panic or Goexit stays inside its body: task"},
	{Name: "closes Done when a body calls Goexit", Source: "package testing: FailNow calls runtime.Goexit, which recover does not see", New: Bare(EndsAtGoexit), Guarantee: "G14", Text: "without a shutdown call"},
	{Name: "forgets the queue when a body panics", Source: "golang.org/x/sync/errgroup: the first error cancels the context of all", New: Bare(SkipsAfterPanic), Guarantee: "G3", ShownBy: "G14", Also: lost},
	{Name: "begins work at its next tick only", Source: "Netty, R114: a pass of a shutdown each 100 ms", New: Bare(Polls), Guarantee: "G12", Text: "with the loop free for 3ms in between", Also: []string{"G16", "G11"}},
	{Name: "its loop is over for good when there is no task", Source: "Boost.Asio, io_context::run: returns when there is no more work, unless a work guard exists", New: Bare(EndsWhenEmpty), Guarantee: "G12", Also: []string{"G2", "G3", "G10", "G11", "G14", "G15", "G16", "G18", "G20", "G4", "G5", "G24"}},
	{Name: "runs one task for each wake-up", Source: "libuv, uv_async_send: calls are coalesced, so several may be one callback", New: Bare(OneTaskPerWake), Guarantee: "G12", Also: []string{"G3", "G10", "G11", "G15", "G16", "G18", "G20", "G5", "G14"}},
	{Name: "keeps half the quiet period", Source: "classic: a quiet period that is measured by ticks of a sampler", New: Bare(QuietShort), Guarantee: "G10", Text: "admission ended already at "},
	{Name: "rounds the quiet period up to 100 ms", Source: "DotNetty #239: a shutdown takes at least 100 ms", New: Bare(QuietPolled), Guarantee: "G10", Text: "admission ended only at 100ms, and 50ms was due", Also: []string{"G16", "G11"}},
	{Name: "waits 100 ms although the quiet period is 0", Source: "Netty #4241: a quiet period of 0 waited for one round", New: Bare(QuietZeroWaits), Guarantee: "G10", Also: []string{"G11", "G15", "G16"}},
	{Name: "the timeout does nothing while a body runs", Source: "Netty, R117: the timeout is checked between tasks only", New: Bare(IgnoresDeadline), Guarantee: "G11", Text: "was accepted at 80ms, after the deadline at "},
	{Name: "counts the timeout from the end of the last body", Source: "classic: an idle timeout for a deadline", New: Bare(TimeoutFromBody), Guarantee: "G11", Also: []string{"G10", "G16", "G15"}},
	{Name: "refuses from the call of Shutdown on", Source: "Netty #760: events of the shutdown itself were rejected", New: Bare(RefusesInQuiet), Guarantee: "G10", Text: "and admission was open until "},
	{Name: "a later Shutdown replaces the quiet period", Source: "Netty, R101: what a second call does was left open", New: Bare(LaterWins), Guarantee: "G16", Text: "admission ended where the later call at #"},
	{Name: "a second Shutdown restarts the quiet period", Source: "DotNetty #239: unrelated calls restart the quiet period", New: Bare(RepeatRestarts), Guarantee: "G10", ShownBy: "G16", Also: []string{"G16", "G11"}},
	{Name: "accepts a timeout below the quiet period", Source: "classic: an argument that is not checked", New: Bare(AnyArguments), Guarantee: "G16", Also: []string{"G10", "G11"}},
	{Name: "has a goroutine before its first use", Source: "classic: the constructor starts the loop", New: Bare(StartsEagerly), Guarantee: "G17", Text: "no goroutine before first use: 1 ran before the first call"},
	{Name: "forgets a shutdown before its first use", Source: "Netty #14883: an outside shutdown of a loop in its initial state was ignored", New: Bare(NeverStarted), Guarantee: "G17", Text: "Done was not closed, though it is closed in a program that begins with a task", Also: []string{"G10", "G11", "G15"}},
	{Name: "Execute blocks when the queue is full, in the loop too", Source: "ants, Pool.Submit: blocks while no worker is free, inside a task too", New: Bare(BlocksOnFull), Guarantee: "G18", Text: "never returned", Also: []string{"G3"}},
	{Name: "Shutdown waits for the end, in the loop too", Source: "Netty #5507: a wait inside the loop for the loop", New: Bare(ShutdownWaits), Guarantee: "G18", Also: []string{"G3", "G10", "G11", "G15", "G16", "G20", "G5", "G14"}},
	{Name: "leaves a goroutine behind", Source: "Netty #6154: a thread was alive after a graceful shutdown", New: Bare(LeavesGoroutine), Guarantee: "G24", Text: "no goroutine is left after done: 1 goroutines were left"},
	{Name: "checks the end and queues in two steps", Source: "Netty, R26: a check, and then a queue", New: Bare(LosesInRace), Guarantee: "G3", Unlogged: true, Rare: true},
	{Name: "the same, with runtime.Gosched between the two", Source: "the same, on a busy machine", New: Bare(LosesInRaceYields), Guarantee: "G3", Also: lost, Unlogged: true},

	{Name: "does not run the last hook", Source: "Netty, R120: a hook that is added while the hooks run", New: Whole(HookSkipped), Guarantee: "G6", Text: "never ran and was not removed"},
	{Name: "runs a hook as soon as it is added", Source: "classic: a closed-check that is inverted", New: Whole(HookEarly), Guarantee: "G6", Text: "before any shutdown"},
	{Name: "each Shutdown runs the hooks", Source: "classic: the hooks run in every caller of Stop, without sync.Once", New: Whole(HooksTwice), Guarantee: "G3", ShownBy: "G15", Also: []string{"G6", "G10", "G14", "G15"}},
	{Name: "runs the hooks in reverse order", Source: "classic: hooks as a stack, as defer has them", New: Whole(HooksReversed), Guarantee: "G6"},
	{Name: "a hook that panics is the last one", Source: "classic: one recover around all hooks", New: Whole(HookPanicEnds), Guarantee: "G6", Also: []string{"G3", "G14"}},
	{Name: "remove says true although the hook has run", Source: "classic: the list is searched, and not the state", New: Whole(RemoveLies), Guarantee: "G6"},
	{Name: "timers fire a little before their deadline", Source: "Qt, CoarseTimer: within 5 percent of the interval", New: Whole(TimerEarly), Guarantee: "G7", Text: "1ms before its deadline"},
	{Name: "equal deadlines run in reverse", Source: "Netty #9599: equal deadlines need an order of their own", New: Whole(TimersUnordered), Guarantee: "G7", Text: "scheduled first, began second"},
	{Name: "takes a delay of more than 2^31 ms for none", Source: "Node.js, setTimeout: a delay above 2147483647 is set to 1", New: Whole(DelayOverflows), Guarantee: "G7"},
	{Name: "timers run on goroutines of their own", Source: "package time: AfterFunc calls f in its own goroutine", New: Whole(TimersBeside), Guarantee: "G2", ShownBy: "G8", Also: []string{"G3", "G7", "G8", "G13", "G10", "G14", "G15", "G16", "G12"}},
	{Name: "cancel says true and the timer runs", Source: "package time: Timer.Stop says nothing of a function that runs", New: Whole(CancelLies), Guarantee: "G8", Text: "and its cancel at #"},
	{Name: "cancel says true of a timer that the shutdown has ended", Source: "classic: a flag that is set without a look at it", New: Whole(CancelTwice), Guarantee: "G7", ShownBy: "G15", Text: "timers that a shutdown cancels have ended"},
	{Name: "a shutdown waits for the last timer, which it cancels", Source: "Netty #2545, #10241: the latency of a shutdown depended on a far timer", New: Whole(WaitsForTimers), Guarantee: "G10", ShownBy: "G15", Also: []string{"G11", "G15", "G16"}},
	{Name: "the future of a panicking task never ends", Source: "Netty, R135: a future that nobody completes", New: Whole(FutureForgotten), Guarantee: "G9", Text: ": the future of task"},
	{Name: "the future of a panicking task ends without an error", Source: "Netty #2728: a failure without a cause was accepted", New: Whole(PanicIsSuccess), Guarantee: "G9"},
	{Name: "the state goes back", Source: "Netty #15809: a state that new work does not leave, or goes back to", New: Whole(StateGoesBack), Guarantee: "G1", Text: "ShuttingDown was seen at #"},
	{Name: "looks at timers only when the queue is empty", Source: "Netty #1614, #9980: timers were fetched only if the queue was empty", New: Whole(StarvesTimers), Guarantee: "G13", Text: "and a batch is 64"},
	{Name: "counts a refused task as accepted", Source: "classic: the counter is incremented before the check", New: Whole(CountsRefused), Guarantee: "G20", Text: "accepted = ran + cancelled + pending"},
	{Name: "ShutdownNow returns with admission open", Source: "Netty #1307: the state was set by the loop later", New: Whole(ClosesLate), Guarantee: "G5", Text: "though Shutdown had returned at #"},
	{Name: "InEventLoop is false in the first body", Source: "Netty #4357: the thread was started before it was stored", New: Whole(InsideDenied), Guarantee: "G2", Text: "InEventLoop was false inside task"},
	{Name: "the state is Terminated before Done", Source: "Netty, R133: terminated was visible before the clean-up", New: Whole(TerminatedBefore), Guarantee: "G15", Text: "and Done was open afterwards"},

	{Name: "Reset loses the timer", Source: "classic: the timer is taken out of the heap, and not put back", New: Whole(ResetLoses), Guarantee: "G7", Also: []string{"G3", "G12"}},
	{Name: "Reset makes a timer run twice", Source: "package time before Go 1.23: after Reset the channel may still hold the value of the old deadline", New: Whole(ResetTwice), Guarantee: "G7", Also: []string{"G3", "G8"}, Text: "timers keep their time: timer"},
	{Name: "Reset keeps the old deadline", Source: "classic: the deadline is changed, and not its place in the heap", New: Whole(ResetIgnored), Guarantee: "G7", Also: []string{"G12"}},
	{Name: "Reset says true of a timer that has run", Source: "classic: the state is read before the lock is held", New: Whole(ResetTooLate), Guarantee: "G8", Text: "its reset at #"},
}

// looped are the mistakes of loops with a slice, and of loops with a queue without a lock.
var looped = []Mistake{
	loop("wakes the loop, and then appends the task", "Netty #1603, #7815: the thread was started before the task was added", wakesBeforePush, "G12", lost...),
	loop("sends to a wake-up channel without room, and gives up", "classic: select with default on an unbuffered channel", wakesNobody, "G12", "G15"),
	loop("looks at the queue, and then announces its sleep", "Netty #7816, #9561: the announcement of the sleep came after the look at the queue", announcesTooLate, "G12"),
	loop("announces its sleep, and does not look at the queue again", "Netty #8230: no look after the flag was reset", neverLooksAgain, "G12"),
	loop("forgets a wake-up that comes while it runs", "classic: the signal is consumed before the sleep, as of an auto-reset event", wakesAtFirstOnly, "G12", "G15"),
	loop("reads the queue and empties it in two steps", "classic: the lock is released between the two", takesInTwoSteps, "G3", lost...),
	once("a panic ends the batch", "Netty #5882: an exception skipped the tasks behind it", looper(dropsRestAtPanic), loopOptions(), "G3", lost...).shownBy("G14"),
	once("closes Done, and then runs the last batch", "Netty #6596: clean-up ran after the future was complete", looper(closesDoneBefore), loopOptions(), "G15", lost...),
	once("takes no last look at the queue", "Netty #9858: no last pass after the close", looper(endsWithoutTheLast), loopOptions(), "G3", lost...),
	once("a goroutine that purges ticks on after the end", "ants: the goroutine that purges idle workers has to be stopped", looper(leavesTicker), loopOptions(), "G24"),
	link("takes a node that is not linked yet for the end", "classic of Vyukov's queue: push is two steps", gapIsTheEnd, "G12", "G15", "G3"),
	link("writes the tail without a swap", "classic: load and store for an exchange", storesTail, "G12", lost...),
	link("counts a task after it was queued", "Netty, R26: the loop may end in between", countsLate, "G3", lost...),
}

// received are the mistakes of loops that receive from a channel.
var received = []Mistake{
	{Name: "checks a flag, and then sends", Source: "classic: the flag is set, and the loop gone, before the send", New: func() exectest.Subject { return NewChannelled(nil) }, Options: channelOptions(), Guarantee: "G3", Also: []string{"G18"}, Unlogged: true, Rare: true},
	{Name: "the same, with runtime.Gosched between the two", Source: "the same, on a busy machine", New: func() exectest.Subject { return NewChannelled(runtime.Gosched) }, Options: channelOptions(), Guarantee: "G3", Also: lost, Unlogged: true},
	{Name: "checks a flag, and then appends", Source: "classic: the flag is not under the lock of the queue", New: func() exectest.Subject { return NewFlagged() }, Options: channelOptions(), Guarantee: "G3", Unlogged: true, Rare: true},
	once("selects between a task and the end", "Go specification: select chooses by chance among cases that can proceed", receiver(selectsQuit), channelOptions(), "G3", lost...),
	once("recovers from the send on the closed channel", "classic: recover hides the panic, and the result says success", receiver(recoversSend), channelOptions(), "G5", lost...),
	once("forgets a task that finds the channel full", "classic: select with default on a full channel", receiver(triesToSend), channelOptions(), "G3", lost...),
	once("runs each task on a goroutine of its own", "classic: go func() for each message", receiver(goesPerTask), channelOptions(), "G2", lost...),
	once("waits until the goroutine of a task has begun", "classic: a channel for the begin, where one for the end was meant", receiver(goesAndWaits), channelOptions(), "G2", lost...),
	once("gives up a task that takes too long", "context.WithTimeout around a call that ignores it", receiver(waitsForOne), channelOptions(), "G2", lost...),
	once("runs as many tasks at the end as it counts, less one", "classic: a count that is off by one", receiver(drainsByCount), channelOptions(), "G3", lost...),
}

// inPools are the mistakes of pools.
var inPools = []Mistake{
	once("a panic costs a worker", "java.util.concurrent.ThreadPoolExecutor: a worker that dies is replaced", pooled(workerDies), poolOptions(), "G14", lost...),
	once("Goexit costs a worker", "package testing: FailNow calls runtime.Goexit, which recover does not see", pooled(exitIsForgotten), poolOptions(), "G14", lost...),
	once("closes Done when the queue is empty, whatever runs", "Netty bc96c4b7b3: terminated was visible too early", pooled(doneWithBodies), poolOptions(), "G15", lost...),
	once("calls WaitGroup.Add in the goroutine that Wait is to wait for", "package sync: calls of Add must happen before Wait", pooled(addsInside), poolOptions(), "G15", lost...),
	once("counts a body that panics as two", "classic: the counter is decremented by the body and by the recovery", pooled(countsPanicTwice), poolOptions(), "G15", lost...).shownBy("G14"),
	once("idle workers stay for ever", "classic: range over a channel that nobody closes", pooled(leavesWorkers), poolOptions(), "G24"),
	once("counts a worker that was idle for too long", "classic: the worker ends, and its place is taken", pooled(idleCountStays), poolOptions(), "G12", lost...).shownBy("G15"),
	once("gives a task to a worker that was idle for too long", "valyala/fasthttp workerpool and ants: the list of idle workers and their end must be one step", pooled(handsToEnding), poolOptions(), "G12", lost...).shownBy("G15"),
	once("leaves a task that it stole in the queue", "classic of work stealing: the task at the border of the half belongs to both", pooled(stealsTwice), poolOptions(), "G3", lost...),
	once("a panic cancels the tasks that have not begun", "golang.org/x/sync/errgroup: the first error cancels the context of all", pooled(firstErrorCancels), poolOptions(), "G3", lost...).shownBy("G14"),
}

// once is a mistake that programs show.
func once(name, source string, factory func() exectest.Subject, opts []exectest.Option, guarantee string, also ...string) Mistake {
	return Mistake{Name: name, Source: source, New: factory, Options: opts, Guarantee: guarantee, Also: also}
}

// shownBy returns the mistake as one that the programs of another guarantee show.
func (m Mistake) shownBy(guarantee string) Mistake {
	m.ShownBy = guarantee
	return m
}

// loop is a mistake of looping that runs without the log show.
func loop(name, source string, m loopMistake, guarantee string, also ...string) Mistake {
	mistake := once(name, source, looper(m), loopOptions(), guarantee, append(also, lost...)...)
	mistake.Unlogged = true
	return mistake
}

// link is a mistake of linked that runs without the log show.
func link(name, source string, m linkMistake, guarantee string, also ...string) Mistake {
	mistake := once(name, source, linker(m), channelOptions(), guarantee, append(also, lost...)...)
	mistake.Unlogged = true
	return mistake
}
