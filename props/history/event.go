package history

import (
	"math"
	"time"
)

// Never is an instant that does not come: the deadline of a Park without deadline, and
// the sum of two durations that overflows.
const Never time.Duration = math.MaxInt64

// Event is one line of the log: something that happened on one goroutine at one instant.
// Only the fields that the kind uses are set; unused and unknown fields are zero.
type Event struct {
	N       int           // position in the log, 1, 2, ...; assigned by Log
	At      time.Duration // since the log began
	G       int64         // id of the goroutine; in a parsed trace, negative for a loop
	Kind    LogKind
	Op      Op      // Invoke, Return, Admit: the call; Observe: what was observed
	Body    Body    // Begin, End
	Outcome Outcome // Admit, Return: the result of the call; End: of the body; Complete: of the future; Observe: True or False; Ended, Fault: see there
	ID      int     // label of the task, timer, hook or registration, unique in the program; 0: none
	Call    int     // Return, Admit: N of the Invoke
	Run     int     // Begin, End of a periodic timer: which run, from 1
	From    State   // Transit: the old state
	To      State   // Transit: the new state; Return, Observe: the state seen; Park: the state the loop acted on
	Cause   Cause   // Transit: why admission was closed; Ended: why the executor ended the registration

	Delay    time.Duration // Invoke of a timer: the (initial) delay
	Period   time.Duration // Invoke of a periodic timer: period, or delay between runs
	Quiet    time.Duration // Invoke of OpShutdownGracefully
	Timeout  time.Duration // Invoke of OpShutdownGracefully
	Deadline time.Duration // Park: the end of the sleep, or Never
	Next     time.Duration // Park: the earliest deadline of the loop, or Never

	InLoop bool          // Begin, End, Observe: the answer of InEventLoop
	Until  time.Duration // Begin of BodyDrain: the deadline given to the channel
	Bytes  int           // Invoke of OpEnd: bytes that were not handed to the kernel
	Queued int           // Park: entries in the queue that are not lazy
	Lazy   int           // Park: lazy entries in the queue
	Token  bool          // Park: a wake-up is pending, so the sleep ends at once
	Stats  *Stats        // Sample, Sealed; Return of OpStats
	Note   string        // free text for people; no check reads it
}

// LogKind is the kind of an event of the log.
type LogKind uint8

// The kinds. The driver of the executor writes Invoke, Return, Begin, End, Complete and
// Observe. The executor, or its tracer, poller or clock, writes the others if it can.
const (
	Invoke   LogKind = iota + 1 // a call on the executor begins
	Admit                       // the moment at which the executor decides a call
	Return                      // the call is over, with its answer
	Begin                       // a body begins
	End                         // a body has ended
	Complete                    // a future or timer is complete, with its Outcome
	Transit                     // the state changes; "state" in text
	Park                        // the loop begins to sleep
	Unpark                      // the loop is awake again
	Wake                        // another goroutine signals the sleeping loop
	Closed                      // the poller is closed
	Done                        // the termination is done; no event of the executor follows
	Sample                      // a snapshot of the counters at this position; "stats" in text
	Observe                     // an observation of Done (OpDone), State (OpState) or InEventLoop (OpInLoop); or the goroutine has completed promise ID, which has listeners (OpListen)
	Ended                       // a registration ends; Outcome: Normal by its owner, Errored by the executor
	Readied                     // the descriptor of a registration is ready and the registration watches for it; "ready" in text
	Fault                       // the poller fails, for one registration if ID is set. Outcome: Errored if the executor cannot continue, RefusedByPoller if a new poller cannot take the registration, False if a registration may be lost
	Sealed                      // the report of the termination; "report" in text
)

// Stats is one consistent snapshot of an executor's counters.
type Stats struct {
	Accepted  int // tasks admitted
	Ran       int // tasks whose body has ended, however it ended
	Cancelled int // tasks cancelled before they began
	Pending   int // tasks admitted and neither run nor cancelled; a running one is pending
	Rejected  int // tasks refused
	Panicked  int // bodies that panicked
	Timers    int // timers waiting
	Parks     int // sleeps of the loop
	Wakes     int // signals to the poller

	Registrations int // open
	Drained       int // Sealed: channels that ended drained since the shutdown call
	Aborted       int // Sealed: channels that ended in another way since the shutdown call
	Discarded     int // Sealed: bytes that aborted channels did not send
}

// Later adds a delay to an instant. A negative delay counts as zero, and a sum that
// overflows is Never (G7).
func Later(at, delay time.Duration) time.Duration {
	delay = max(delay, 0)
	if at > Never-delay {
		return Never
	}
	return at + delay
}
