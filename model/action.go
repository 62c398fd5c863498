package model

import "strings"

// ActionKind says what happened. Calls come first, then steps of the environment,
// then steps of the loop.
type ActionKind uint8

const (
	// Calls. Each is one step, taken at the moment the executor decides it.

	KindSubmit             ActionKind = iota // Execute or Submit of Body
	KindSubmitLazy                           // ExecuteLazy: as KindSubmit, without a wake-up
	KindSubmitTail                           // ExecuteAfterIteration
	KindSchedule                             // Schedule; with Periodic one of the periodic calls
	KindCancel                               // Cancel of a future or timer: True or False
	KindAddHook                              // AddShutdownHook
	KindRemoveHook                           // remove() of a hook: True or False
	KindShutdownGracefully                   // Quiet and Timeout say whether each parameter is > 0
	KindShutdown                             // Shutdown()
	KindObserve                              // State() returned Phase
	KindRegister                             // Register or RegisterChannel, as Body says
	KindUnregister                           // Close of a registration; End of a channel

	// The environment.

	KindStartOK      // the spawner accepted: the loop exists from here on
	KindStartFail    // the spawner refused
	KindLoopFails    // the loop or its poller failed: admission closes (G15)
	KindQuietElapses // no body ended for the quiet period
	KindTimeoutFires // the shutdown deadline passed (G11)
	KindLost         // the rebuilt poller could not take Body over (G22)

	// The loop.

	KindBegin      // Body begins
	KindEnd        // Body ends, see Outcome
	KindDiscard    // the loop drops a queued task that was cancelled, and counts the task (G20)
	KindTimerDies  // a timer ends with ErrCancelled by the timer policy
	KindCloseFD    // the loop closes a plain registration: at a shutdown, or because it is lost
	KindNotified   // the owner of a registration is notified that it has ended (G3)
	KindLoopCloses // the loop closes admission: drained and quiet (G10)
	KindDone       // Done is closed (G15)

	numKinds
)

// Body names one user function: the call that submits it, and a number that the
// writer of the trace chooses. A number names one submission. Each kind has numbers
// of its own.
type Body struct {
	Kind Op // TaskBody, TailBody, TimerBody, HookBody, FDBody, ChannelBody; or NoBody
	ID   int
}

// Task returns the Body of task id.
func Task(id int) Body { return Body{TaskBody, id} }

// Tail returns the Body of tail task id.
func Tail(id int) Body { return Body{TailBody, id} }

// TimerNo returns the Body of timer id.
func TimerNo(id int) Body { return Body{TimerBody, id} }

// HookNo returns the Body of shutdown hook id.
func HookNo(id int) Body { return Body{HookBody, id} }

// FD returns the Body of plain registration id.
func FD(id int) Body { return Body{FDBody, id} }

// Channel returns the Body of channel id.
func Channel(id int) Body { return Body{ChannelBody, id} }

// registers reports whether b is a registration.
func (b Body) registers() bool { return b.Kind.Registers() }

// From says where a call was made.
type From uint8

const (
	Outside From = iota // on any goroutine other than the loop
	Loop                // inside the running body
)

// Action is one step of a trace. Only the fields that its Kind needs are set, so that
// equal actions compare equal with ==.
type Action struct {
	Kind ActionKind
	From From // calls
	// Outcome is the answer of a call, or how a body ended. The answer belongs to the
	// action, so that a dishonest answer is an action that is not allowed (G5, G8). A
	// shutdown call has none unless its own start failed.
	Outcome  Outcome
	Phase    Phase // KindObserve
	Periodic bool  // KindSchedule
	Part     Part  // KindBegin of a channel: Drain, Abort, or Ready
	Quiet    bool  // KindShutdownGracefully: quiet > 0
	Timeout  bool  // KindShutdownGracefully: timeout > 0
	Body     Body  // what the action is about, if it is about a body
}

// kindSet is a set of kinds.
type kindSet uint32

func kinds(ks ...ActionKind) kindSet {
	var set kindSet
	for _, k := range ks {
		set |= 1 << k
	}
	return set
}

func (set kindSet) has(k ActionKind) bool { return set&(1<<k) != 0 }

// String returns the words of the kinds, as in "shutdown|loopCloses".
func (set kindSet) String() string {
	var words []string
	for k := range numKinds {
		if set.has(k) {
			words = append(words, k.String())
		}
	}
	return strings.Join(words, "|")
}

var (
	submits   = kinds(KindSubmit, KindSubmitLazy, KindSubmitTail)
	admitting = submits | kinds(KindSchedule, KindAddHook, KindRegister)
	shutdowns = kinds(KindShutdownGracefully, KindShutdown)
	calls     = admitting | shutdowns | kinds(KindCancel, KindRemoveHook, KindObserve, KindUnregister)
	failures  = kinds(KindStartFail, KindLoopFails, KindLost)
	loopSteps = kinds(KindBegin, KindEnd, KindDiscard, KindTimerDies, KindCloseFD, KindNotified, KindLoopCloses, KindDone)
)

// IsCall reports whether a is a call by a user, not a step of the executor or of its
// environment.
func (a Action) IsCall() bool { return calls.has(a.Kind) }
