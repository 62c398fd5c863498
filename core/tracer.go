package core

import (
	"log/slog"
	"time"

	"eventide/internal/vocabulary"

	"github.com/petermattis/goid"
)

// Tracer observes an executor. An executor without a tracer pays one comparison with nil per
// event.
//
// Trace is called where the event happens, for some events with the executor's lock held,
// so that the order of the trace is the order of the events. Trace must be fast, must not
// call the executor, and must return. It is called concurrently. A panic of Trace is logged
// and otherwise ignored. The lock may be held then, so the logger must not call the executor
// either, nor runtime.Goexit; but a logger that calls it at EventBegin or EventEnd only ends the
// goroutine of the loop or worker: the body runs, and is counted.
type Tracer interface{ Trace(Event) }

// EventKind is the kind of an Event.
type EventKind uint8

// The fields of Event that a kind sets follow the semicolon. "With the lock held" means that
// Trace is called with the executor's lock held.
const (
	// EventAdmit: a call was accepted or refused; Op, Accepted. With the lock held. If a
	// WithRejectedHandler retries a call, each attempt has an event, and the last one is
	// the result.
	EventAdmit EventKind = iota + 1
	// EventBegin: a body begins; Body.
	EventBegin
	// EventEnd: a body ended; Body, Outcome.
	EventEnd
	// EventState: the state moved; From, To, Reason. With the lock held, except for the
	// move to Terminated.
	EventState
	// EventPark: the loop announces that it sleeps; Until, Queued, NextTimer. With the
	// lock held: no work can be queued between the loop's last check of the queues and
	// this event.
	EventPark
	// EventUnpark: the sleep has ended, even if the poller's Wait has panicked.
	EventUnpark
	// EventWake: a caller has claimed the wake-up of the sleeping loop. With the lock held.
	EventWake
	// EventTimerCancelled: a timer ended with ErrCancelled, by Cancel or by the
	// policy at shutdown. Its Done channel is closed. With the lock held.
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

// Op names a call on an executor.
type Op = vocabulary.Op

// The calls that EventAdmit reports. Submit is an Execute, RegisterChannel a Register.
const (
	OpExecute               = vocabulary.OpExecute
	OpExecuteLazy           = vocabulary.OpExecuteLazy
	OpExecuteAfterIteration = vocabulary.OpAfterIteration
	OpSchedule              = vocabulary.OpSchedule
	OpCancelTimer           = vocabulary.OpCancel
	OpResetTimer            = vocabulary.OpReset
	OpAddShutdownHook       = vocabulary.OpAddHook
	OpRemoveShutdownHook    = vocabulary.OpRemoveHook
	OpShutdownGracefully    = vocabulary.OpShutdownGracefully
	OpShutdown              = vocabulary.OpShutdown
	OpRegister              = vocabulary.OpRegister
)

// Body is a kind of user function that a loop runs. A listener is not a body in the sense
// of the guarantees: it does not restart a quiet period. But it is traced, and its panics
// are recovered, as for a body.
type Body = vocabulary.Body

// The kinds of body. The calls of Channel.Drain and Channel.Abort are traced as
// BodyReadiness.
const (
	BodyNone      = vocabulary.NoBody
	BodyTask      = vocabulary.BodyTask
	BodyTail      = vocabulary.BodyTail
	BodyTimer     = vocabulary.BodyTimer
	BodyHook      = vocabulary.BodyHook
	BodyListener  = vocabulary.BodyListener
	BodyReadiness = vocabulary.BodyReadiness
)

// Outcome says how a body ended.
type Outcome = vocabulary.Outcome

// The outcomes of a body. OutcomeSkipped is the outcome of a submitted function whose
// future was cancelled before it began.
const (
	OutcomeNormal   = vocabulary.Normal
	OutcomePanicked = vocabulary.Panicked
	OutcomeExited   = vocabulary.Exited
	OutcomeSkipped  = vocabulary.Skipped
)

// Event is one thing that happened in an executor. Fields that have no meaning
// for its Kind are zero.
type Event struct {
	Kind      EventKind
	Op        Op
	Body      Body
	Outcome   Outcome
	Accepted  bool          // Admit
	From, To  State         // State; Park: To is the state that the loop has acted on
	Reason    error         // State, from Shutdown on: why admission closed; RegistrationClosed: the cause of the end
	Goroutine int64         // id of the goroutine of the event
	Until     time.Duration // Park: sleeps no longer than this; 0 if that is before the executor was made; negative: no limit
	NextTimer time.Duration // Park: earliest deadline known; 0 if that is before the executor was made; negative: none
	Queued    int           // Park: tasks, tail tasks and listeners waiting
}

// shown returns a deadline as an event shows it. On a clock that was set back behind the making of the
// executor a deadline is negative, which in an event means that there is none.
func shown(deadline int64) time.Duration { return max(0, asDuration(deadline)) }

// trace completes ev and passes it to the tracer. Callers test e.cfg.tracer first.
func (s *setup) trace(ev Event) {
	defer func() {
		if v := recover(); v != nil {
			s.log(slog.LevelError, "panic in the tracer", "event", ev.Kind.String(), "panic", v)
		}
	}()
	ev.Goroutine = goid.Get()
	s.cfg.tracer.Trace(ev)
}
