package subjects

// Flaw is one way of being incorrect. Each comment says what the executor does.
type Flaw int

const (
	None              Flaw = iota
	LosesAtStop            // drops the queue when the timeout ends admission (#9603)
	RunsRefused            // runs a task that it has refused (R11)
	RunsTwice              // runs the last task again when the timeout passes
	Reorders               // the newest task goes first
	Overlaps               // goes on with the next task after a while
	DoneEarly              // closes Done at the timeout, with tasks left (R133)
	DoneNever              // never closes Done
	AcceptsAfterDone       // says yes when it is over (#1307)
	DiesOfPanic            // a panic or Goexit ends the loop (R18)
	Polls                  // begins work at its next tick only (R114)
	QuietShort             // keeps half the quiet period
	QuietPolled            // rounds the quiet period up to 100 ms (R113)
	IgnoresDeadline        // the timeout does nothing while a body runs (R117)
	RefusesInQuiet         // refuses from the shutdown call on (#760)
	LaterWins              // a later Shutdown replaces the quiet period
	StartsEagerly          // has a goroutine before its first use
	NeverStarted           // a shutdown before first use is forgotten
	BlocksOnFull           // Execute blocks when the queue is full, in the loop too
	LeavesGoroutine        // a goroutine stays behind
	LosesInRace            // looks at the close and queues in two steps (R26)
	LosesInRaceYields      // the same, and runtime.Gosched between the two
	EndsAtGoexit           // closes Done when a body calls Goexit

	QuietZeroWaits  // waits 100 ms although the quiet period is 0
	TimeoutFromBody // counts the timeout from the end of the last body
	ShutdownWaits   // Shutdown returns at the end only, inside the loop too
	AnyArguments    // Shutdown accepts a timeout below the quiet period
	RepeatRestarts  // a second Shutdown restarts the quiet period
	TwoLoops        // checks that no loop runs, and starts one, in two steps
	RunsAgain       // runs a body that has panicked again
	CounterWraps    // numbers its tasks with 16 bits, and takes number 0 for none
	EndsWhenEmpty   // its loop is over for good when it has run out of tasks
	OneTaskPerWake  // runs one task for each wake-up, of which several may be one
	LIFOInside      // takes the tasks that bodies submit in reverse order
	NoTieBreak      // keeps its tasks in a heap without an order of submission
	DropsOldest     // makes room in a full queue by forgetting the oldest task
	DropsNewest     // forgets a task that finds the queue full
	CallerRuns      // runs a task that finds the queue full on the caller's goroutine
	AbandonsAtCall  // Shutdown forgets the tasks that have not begun
	SkipsAfterPanic // forgets the queue when a body panics

	HookSkipped      // does not run the last hook (R120)
	HookEarly        // runs a hook as soon as it is added
	TimerEarly       // timers fire a little before their deadline
	TimersUnordered  // equal deadlines run in reverse
	CancelLies       // cancel says true and the timer runs
	FutureForgotten  // the future of a panicking task never ends (R135)
	StateGoesBack    // a new task makes the state Started again
	StarvesTimers    // looks at timers only when the queue is empty (R50)
	CountsRefused    // counts a refused task as accepted
	ClosesLate       // ShutdownNow returns with admission open
	InsideDenied     // InEventLoop is false in the first body (#4357)
	HooksDoNotCount  // the end of a hook does not restart the quiet period (R118)
	DelayOverflows   // takes a delay of more than 2^31 ms for none
	CancelTwice      // cancel says true of a timer that is cancelled or ended already
	PanicIsSuccess   // the future of a panicking task ends without an error
	HooksTwice       // each Shutdown runs the hooks
	HooksReversed    // runs the hooks in reverse order
	HookPanicEnds    // a hook that panics is the last one
	RemoveLies       // remove says true although the hook has run
	WaitsForTimers   // a shutdown waits for the last timer, which it cancels
	TimersBeside     // timers run on goroutines of their own
	TerminatedBefore // the state is Terminated before Done (R133)
	ResetLoses       // Reset takes the timer out, and does not put it back
	ResetTwice       // Reset adds a deadline, and the old one stays
	ResetIgnored     // Reset says true and keeps the old deadline
	ResetTooLate     // Reset says true of a timer that has run
)
