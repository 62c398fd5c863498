package vocabulary

// Outcome is the answer of a call, or the end of a body or of a future. The zero value
// is none of them.
type Outcome uint8

// The outcomes.
const (
	Accepted           Outcome = iota + 1 // call: a nil error
	Refused                               // call: an error for which the executor gives no reason
	RefusedClosed                         // call: admission has ended
	RefusedQueueFull                      // call: no room in the queue
	RefusedStartFailed                    // call: the loop could not be started
	RefusedStarting                       // call: made from inside the executor's own spawner
	RefusedInLoop                         // call: made in the loop, it would wait for the loop
	RefusedBadArgument                    // call: bad argument; nothing happened
	True                                  // Cancel or remove: it took effect; an observation: it was so
	False                                 // Cancel or remove: it had no effect; an observation: it was not so
	Returned                              // a call without an answer
	Expired                               // a wait: the caller's context ended first
	Normal                                // body: it returned; future: it has a value
	Errored                               // future: it has an error
	Panicked                              // body, future
	Exited                                // body, future: runtime.Goexit
	Cancelled                             // future
	RefusedByPoller                       // Register: the descriptor cannot be watched
	Drained                               // channel: flushed, and the peer's EOF was seen
	Aborted                               // channel: it ended in any other way
	Skipped                               // body: its future was cancelled first
)

var outcomeWords = []string{
	Accepted: "accepted", Refused: "refused", RefusedClosed: "refused:closed", RefusedQueueFull: "refused:full",
	RefusedStartFailed: "refused:startfailed", RefusedStarting: "refused:starting", RefusedInLoop: "refused:inloop",
	RefusedBadArgument: "refused:badargument", True: "true", False: "false", Returned: "returned", Expired: "expired",
	Normal: "normal", Errored: "error", Panicked: "panicked", Exited: "exited", Cancelled: "cancelled",
	RefusedByPoller: "refused:poller", Drained: "drained", Aborted: "aborted", Skipped: "skipped",
}

// Truth returns True or False.
func Truth(yes bool) Outcome {
	if yes {
		return True
	}
	return False
}

// IsRefusal reports whether the answer of a submission was an error.
func (o Outcome) IsRefusal() bool {
	return o >= Refused && o <= RefusedBadArgument || o == RefusedByPoller
}

// Abrupt reports whether a body ended by a panic or by runtime.Goexit.
func (o Outcome) Abrupt() bool { return o == Panicked || o == Exited }

// String returns the word for the outcome, such as "refused:closed".
func (o Outcome) String() string { return word(o) }

// MarshalText implements encoding.TextMarshaler.
func (o Outcome) MarshalText() ([]byte, error) { return marshal(o) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *Outcome) UnmarshalText(text []byte) error { return unmarshal(o, text) }
