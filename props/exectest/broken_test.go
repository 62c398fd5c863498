package exectest_test

// flaw is one way of being incorrect. Each comment says what the executor does.
type flaw int

const (
	none              flaw = iota
	losesAtStop            // drops the queue when the timeout ends admission (#9603)
	runsRefused            // runs a task that it has refused (R11)
	runsTwice              // runs the last task again when the timeout passes
	reorders               // the newest task goes first
	overlaps               // goes on with the next task after a while
	doneEarly              // closes Done at the timeout, with tasks left (R133)
	doneNever              // never closes Done
	acceptsAfterDone       // says yes when it is over (#1307)
	diesOfPanic            // a panic or Goexit ends the loop (R18)
	polls                  // begins work at its next tick only (R114)
	quietShort             // keeps half the quiet period
	quietPolled            // rounds the quiet period up to 100 ms (R113)
	ignoresDeadline        // the timeout does nothing while a body runs (R117)
	refusesInQuiet         // refuses from the shutdown call on (#760)
	laterWins              // a later Shutdown replaces the quiet period
	startsEagerly          // has a goroutine before its first use
	neverStarted           // a shutdown before first use is forgotten
	blocksOnFull           // Execute blocks when the queue is full, in the loop too
	leavesGoroutine        // a goroutine stays behind
	losesInRace            // looks at the close and queues in two steps (R26)
	losesInRaceYields      // the same, and runtime.Gosched between the two
	endsAtGoexit           // closes Done when a body calls Goexit

	hookSkipped      // does not run the last hook (R120)
	hookEarly        // runs a hook as soon as it is added
	timerEarly       // timers fire a little before their deadline
	timersUnordered  // equal deadlines run in reverse
	cancelLies       // cancel says true and the timer runs
	futureForgotten  // the future of a panicking task never ends (R135)
	stateGoesBack    // a new task makes the state Started again
	starvesTimers    // looks at timers only when the queue is empty (R50)
	countsRefused    // counts a refused task as accepted
	closesLate       // ShutdownNow returns with admission open
	insideDenied     // InEventLoop is false in the first body (#4357)
	hooksDoNotCount  // the end of a hook does not restart the quiet period (R118)
	terminatedBefore // the state is Terminated before Done (R133)
)
