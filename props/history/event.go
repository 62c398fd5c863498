package history

import (
	"math"
	"time"
)

// Never is the instant that does not come: the deadline of a Park without
// one, and the sum of two durations that does not fit.
const Never time.Duration = math.MaxInt64

// Event is one line of the log: something that happened on one goroutine at
// one instant. Only the fields that the kind speaks of are set; the zero value
// of any other means "not said".
type Event struct {
	N       int           // position in the log, 1, 2, ...; assigned by Log
	At      time.Duration // since the log began
	G       int64         // goroutine of the writer; below zero a loop, by name (see Parse)
	Kind    Kind
	Op      Op      // Invoke, Return, Admit: the call; Observe: what was looked at
	Body    Body    // Begin, End
	Outcome Outcome // Return: the answer; End: how; Complete: with what; Observe: True or False
	ID      int     // program-wide label of the task, timer or hook it is about; 0 none
	Call    int     // Return, Admit: N of the Invoke
	Run     int     // Begin, End of a periodic timer: which run, from 1
	From    State   // State
	To      State   // State: the new one; Return, Observe: the one seen; Park: the one the loop acted on

	Delay    time.Duration // Invoke of a timer: the (initial) delay
	Period   time.Duration // Invoke of a periodic timer: period, or delay between runs
	Quiet    time.Duration // Invoke of OpShutdownGracefully
	Timeout  time.Duration // Invoke of OpShutdownGracefully
	Deadline time.Duration // Park: sleeps until then, or Never
	Next     time.Duration // Park: earliest deadline the loop has to meet, or Never

	InLoop bool          // Begin, End, Observe: what InEventLoop said there
	Until  time.Duration // Begin of BodyDrain: the deadline that the channel was given
	Bytes  int           // Invoke of OpEnd: bytes that were never handed to the kernel
	Queued int           // Park: entries in the queue that are not lazy
	Lazy   int           // Park: lazy entries in the queue
	Token  bool          // Park: a wake is pending, the sleep will end at once
	Stats  *Stats        // Sample; Return of OpStats
	Note   string        // free text for the reader; no predicate reads it
}

// Kind says what sort of thing an event is.
type Kind uint8

// The kinds. Invoke to End, Complete and Observe are written by whoever drives
// the executor; the others by the executor, if it can.
const (
	Invoke   Kind = iota + 1 // a call on the executor begins
	Admit                    // the moment inside a call at which the executor decided it
	Return                   // the call is over, with its answer
	Begin                    // a body begins
	End                      // a body has ended
	Complete                 // a future or timer is complete, with its Outcome
	Transit                  // the state changes; "state" in text
	Park                     // the loop goes to sleep
	Unpark                   // the loop is awake again
	Wake                     // a waker signals the sleeping loop
	Closed                   // the poller is closed
	Done                     // the termination is done; no event of the executor follows
	Sample                   // a snapshot of the counters, taken at this position; "stats" in text
	Observe                  // somebody looked: at Done (OpDone), at State (OpState), at InEventLoop (OpInLoop)
	Ended                    // a registration ends, Outcome: Normal by its owner, Errored by the executor; "ended" in text
	Readied                  // the descriptor of a registration is ready, and it waits for that; "ready" in text
	Fault                    // the environment fails: False if a registration may be lost, Errored if the executor cannot go on; of one registration, or of the poller; RefusedByPoller if the new poller of the executor cannot take the registration
	Sealed                   // the report of the termination; "report" in text
)

// Op names the call that Invoke, Admit, Return or Observe is about.
type Op uint8

// The calls. Submissions come first; see Op.Submits.
const (
	OpExecute Op = iota + 1
	OpExecuteLazy
	OpSubmit
	OpAfterIteration // ExecuteAfterIteration: a tail task
	OpSchedule
	OpFixedRate
	OpFixedDelay
	OpAddHook
	OpRemoveHook
	OpCancel // of a Submit's future or of a timer
	OpShutdownGracefully
	OpShutdown
	OpClose // ShutdownGracefully(0, default) and wait
	OpAwait // AwaitTermination, or any wait for Done through the executor
	OpState
	OpDone
	OpInLoop
	OpStats
	OpRegister        // Register: a plain descriptor
	OpRegisterChannel // RegisterChannel
	OpModify          // of a registration's interest
	OpEnd             // Close of a registration, or End of a channel with Outcome and Bytes
	OpListen          // OnClose of a registration
)

// Body says what sort of user function a Begin or End is about. A listener is
// not a body in the sense of the guarantees: it may nest inside one, it does
// not restart the quiet period, and it may run after done.
type Body uint8

// The bodies.
const (
	BodyTask Body = iota + 1
	BodyTail
	BodyTimer
	BodyHook
	BodyListener
	BodyReadiness // the handler of a registration
	BodyDrain     // a channel is asked to drain
	BodyAbort     // a channel is asked to end
)

// Outcome is the answer of a call, the end of a body or of a future.
type Outcome uint8

// The outcomes.
const (
	Accepted           Outcome = iota + 1 // Return: a nil error
	Refused                               // Return: an error whose reason the executor does not give
	RefusedClosed                         // Return: admission has ended
	RefusedQueueFull                      // Return: no room
	RefusedStartFailed                    // Return: the loop could not be started
	RefusedStarting                       // Return: called from inside the executor's own spawner
	RefusedInLoop                         // Return: the call would wait for its own loop
	RefusedBadArgument                    // Return: bad argument, nothing happened
	True                                  // Return of Cancel or remove: it worked; Observe: it was so
	False                                 // Return, Observe: it did not, it was not
	Returned                              // Return of a call that gives no answer
	Expired                               // Return of a wait: the caller's context ended first
	Normal                                // End, Complete: with a value
	Errored                               // Complete: with an error
	Panicked                              // End, Complete
	Exited                                // End, Complete: runtime.Goexit
	Cancelled                             // Complete
	RefusedByPoller                       // Return of OpRegister: the descriptor cannot be watched
	Drained                               // Invoke of OpEnd: flushed, and the peer's end was seen
	Aborted                               // Invoke of OpEnd: anything else
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
	Aborted       int // Sealed: those that ended in another way
	Discarded     int // Sealed: bytes of these
}

// Submits reports whether the call hands a body to the executor: a task, a
// timer, a hook or the handler of a registration. These are the calls that end with admission.
func (o Op) Submits() bool { return o >= OpExecute && o <= OpAddHook || o.Registers() }

// Tasks reports whether the call hands over a task in the sense of the
// guarantees: what Execute, ExecuteLazy, Submit and ExecuteAfterIteration were given.
func (o Op) Tasks() bool { return o >= OpExecute && o <= OpAfterIteration }

// Timers reports whether the call creates a timer.
func (o Op) Timers() bool { return o >= OpSchedule && o <= OpFixedDelay }

// Registers reports whether the call registers a descriptor.
func (o Op) Registers() bool { return o == OpRegister || o == OpRegisterChannel }

// Shuts reports whether the call begins a shutdown.
func (o Op) Shuts() bool { return o >= OpShutdownGracefully && o <= OpClose }

// IsRefusal reports whether the answer of a submission was an error.
func (o Outcome) IsRefusal() bool {
	return o >= Refused && o <= RefusedBadArgument || o == RefusedByPoller
}

// Registration reports whether the body is one of a registration.
func (b Body) Registration() bool { return b >= BodyReadiness }

// Abrupt reports whether a body ended by a panic or by runtime.Goexit.
func (o Outcome) Abrupt() bool { return o == Panicked || o == Exited }

// Later adds a delay to an instant, with two laws: a delay below zero is
// zero, and a sum too large is Never (G7).
func Later(at, delay time.Duration) time.Duration {
	delay = max(delay, 0)
	if at > Never-delay {
		return Never
	}
	return at + delay
}
