package core

import (
	"log/slog"
	"time"

	"github.com/petermattis/goid"
)

// Tracer observes an executor. With none, the cost is a comparison with nil.
//
// Trace is called where the thing happens, for some events with the executor's
// lock held, so that their order in the trace is their order in fact. It must be
// quick, must not call the executor, and must return. Calls come from many goroutines
// at once. A panic of Trace is logged and otherwise ignored. It is logged where it
// happens, perhaps with the lock held: the logger must not call the executor either.
type Tracer interface{ Trace(Event) }

// EventKind says what an Event is about.
type EventKind uint8

const (
	// EventAdmit: a call was decided; Op, Accepted. With the lock held. A call that a
	// WithRejectedHandler tries again has one for each attempt: only the last decides.
	EventAdmit EventKind = iota + 1
	// EventBegin: a body begins; Body.
	EventBegin
	// EventEnd: a body ended; Body, Outcome.
	EventEnd
	// EventState: From, To. With the lock held.
	EventState
	// EventPark: the loop announces that it sleeps; Until, Queued, NextTimer.
	// With the lock held: nothing can be queued between the look and the event.
	EventPark
	// EventUnpark: the poller's Wait has returned.
	EventUnpark
	// EventWake: a caller will wake the sleeping loop. With the lock held.
	EventWake
	// EventTimerCancelled: a timer ended with ErrCancelled, by Cancel or by the
	// policy at shutdown. With the lock held.
	EventTimerCancelled
	// EventPollerClosed: the poller has been closed.
	EventPollerClosed
	// EventDone: Done is about to be closed. Only refusals come after it.
	EventDone
	// EventRegistrationClosed: a registration ended; Reason. With the lock held.
	EventRegistrationClosed
)

var eventNames = [...]string{"?", "Admit", "Begin", "End", "State", "Park", "Unpark", "Wake", "TimerCancelled", "PollerClosed", "Done", "RegistrationClosed"}

func (k EventKind) String() string {
	if int(k) >= len(eventNames) {
		return "?"
	}
	return eventNames[k]
}

// Op is a call on an executor.
type Op uint8

// The calls that EventAdmit reports. Submit is an Execute.
const (
	OpExecute Op = iota + 1
	OpExecuteLazy
	OpExecuteAfterIteration
	OpSchedule
	OpCancelTimer
	OpAddShutdownHook
	OpRemoveShutdownHook
	OpShutdownGracefully
	OpShutdown
	OpRegister
)

var opNames = [...]string{"?", "Execute", "ExecuteLazy", "ExecuteAfterIteration", "Schedule", "CancelTimer", "AddShutdownHook", "RemoveShutdownHook", "ShutdownGracefully", "Shutdown", "Register"}

func (o Op) String() string {
	if int(o) >= len(opNames) {
		return "?"
	}
	return opNames[o]
}

// Body is a kind of user function that a loop runs.
type Body uint8

// The kinds of body. A listener is not a body in the sense of the guarantees (it
// does not restart a quiet period), but is contained and traced like one.
const (
	BodyNone Body = iota
	BodyTask
	BodyTail
	BodyTimer
	BodyHook
	BodyListener
	BodyReadiness
)

var bodyNames = [...]string{"nothing", "task", "tail task", "timer", "hook", "listener", "readiness handler"}

func (b Body) String() string {
	if int(b) >= len(bodyNames) {
		return "?"
	}
	return bodyNames[b]
}

// Outcome says how a body ended.
type Outcome uint8

// The outcomes. Skipped is a submitted function whose future was cancelled first.
const (
	OutcomeNormal Outcome = iota
	OutcomePanicked
	OutcomeExited
	OutcomeSkipped
)

var outcomeNames = [...]string{"normal", "panicked", "exited", "skipped"}

func (o Outcome) String() string {
	if int(o) >= len(outcomeNames) {
		return "?"
	}
	return outcomeNames[o]
}

// Event is one thing that happened in an executor. Fields that have no meaning
// for its Kind are zero.
type Event struct {
	Kind      EventKind
	Op        Op
	Body      Body
	Outcome   Outcome
	Accepted  bool          // Admit: the answer
	From, To  State         // State; Park: To is the state that the loop has acted on
	Reason    error         // State, from Shutdown on: why admission was closed
	Goroutine int64         // id of the goroutine on which it happened
	Until     time.Duration // Park: sleeps no longer than this; negative: no limit
	NextTimer time.Duration // Park: earliest deadline known; negative: none
	Queued    int           // Park: tasks, tail tasks and listeners waiting
}

// trace completes ev and hands it on. Callers test e.cfg.tracer first.
func (e *Executor) trace(ev Event) {
	defer func() {
		if v := recover(); v != nil {
			e.log(slog.LevelError, "panic in the tracer", "event", ev.Kind.String(), "panic", v)
		}
	}()
	ev.Goroutine = goid.Get()
	e.cfg.tracer.Trace(ev)
}
