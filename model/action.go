package model

import (
	"strings"

	"eventide/internal/vocabulary"
)

// The steps that an executor or its environment takes by itself. The constants continue
// those of package vocabulary, so that an Op names either a call or a step.
const (
	// The environment.

	StepStartOK      Op = vocabulary.FirstStep + iota // the spawner accepted: the loop exists from here on
	StepStartFail                                     // the spawner refused
	StepLoopFails                                     // the loop or its poller failed: admission closes (G15)
	StepQuietElapses                                  // the quiet period has passed since the shutdown call and the last body
	StepTimeoutFires                                  // the shutdown deadline passed (G11)
	StepLost                                          // the registration Body could not be moved to the rebuilt poller (G22)

	// The loop.

	StepBegin      // Body begins
	StepEnd        // Body ends, see Outcome
	StepDiscard    // the loop drops a queued task that was cancelled, and counts the task (G20)
	StepTimerDies  // a timer ends with ErrCancelled by the timer policy
	StepCloseFD    // the loop ends a plain registration: at a shutdown, or because it is lost; it closes no descriptor
	StepNotified   // the owner of a registration is notified that it has ended (G3)
	StepLoopCloses // the loop closes admission: drained and quiet (G10)
	StepDone       // Done is closed (G15)

	numKinds
)

// Body identifies one function of the user, by the kind of call that submits it and by a number
// that the writer of the trace chooses. Within a kind, a number is used for one submission only.
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

// FD returns the Body of plain registration id, which is a number like that of a task, and not a
// descriptor.
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
	Kind Op   // a call, at the moment when the executor decides it, or a step
	From From // of a call: where it was made
	// Outcome is the result of a call, or how a body ended. A call with a wrong result is
	// an action that is not allowed (G5, G8). A shutdown call has no Outcome, unless it
	// had to start the loop and the start failed.
	Outcome  Outcome
	Phase    Phase // OpState: the result
	Periodic bool  // OpSchedule: one of the periodic calls
	Part     Part  // StepBegin of a channel: Drain, Abort, or Ready
	Quiet    bool  // OpShutdownGracefully: quiet > 0
	Timeout  bool  // OpShutdownGracefully: timeout > 0
	Body     Body  // the body that the action concerns, if any
}

// kindSet is a set of kinds.
type kindSet uint64

func kinds(ks ...Op) kindSet {
	var set kindSet
	for _, k := range ks {
		set |= 1 << k
	}
	return set
}

func (set kindSet) has(k Op) bool { return set&(1<<k) != 0 }

// String returns the words of the kinds, as in "shutdown|loopCloses".
func (set kindSet) String() string {
	var words []string
	for k := range numKinds {
		if set.has(k) {
			words = append(words, kindWord(k))
		}
	}
	return strings.Join(words, "|")
}

var (
	taskCalls        = kinds(OpExecute, OpExecuteLazy, OpAfterIteration)
	submissions      = taskCalls | kinds(OpSchedule, OpAddHook, OpRegister)
	shutdowns        = kinds(OpShutdownGracefully, OpShutdown)
	calls            = submissions | shutdowns | kinds(OpCancel, OpReset, OpRemoveHook, OpState, OpEnd)
	environmentSteps = kinds(StepStartOK, StepStartFail, StepLoopFails, StepQuietElapses, StepTimeoutFires, StepLost)
	failures         = kinds(StepStartFail, StepLoopFails, StepLost)
	loopSteps        = kinds(StepBegin, StepEnd, StepDiscard, StepTimerDies, StepCloseFD, StepNotified, StepLoopCloses, StepDone)
	everyKind        = calls | environmentSteps | loopSteps
)

// IsCall reports whether a is a call by a user, not a step of the executor or of its
// environment.
func (a Action) IsCall() bool { return calls.has(a.Kind) }
