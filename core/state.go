package core

import (
	"fmt"

	"eventide/internal/vocabulary"
)

// State is the life-cycle state of an executor. States are ordered so that
// "at least this far" is a comparison:
//
//	if ex.State() >= core.StateShutdown { ... } // no further task is accepted
//
// States only move forward (G1). Netty's isShuttingDown, isShutdown and
// isTerminated are such comparisons.
type State = vocabulary.State

const (
	// StateNotStarted: no goroutine exists. The first accepted call that needs the loop,
	// or a shutdown call, ends this state.
	StateNotStarted = vocabulary.NotStarted

	// StateStarted: the spawner has accepted the loop; tasks are accepted and run.
	StateStarted = vocabulary.Started

	// StateShuttingDown: a graceful shutdown was requested. Tasks are still
	// accepted; hooks run; the quiet period runs.
	StateShuttingDown = vocabulary.ShuttingDown

	// StateShutdown: admission is closed. Accepted work still runs.
	StateShutdown = vocabulary.Shutdown

	// StateTerminated: Termination().Done() is closed. Final.
	StateTerminated = vocabulary.Terminated
)

// legalMoves is the table of legal moves (G1). The row is the current state, the column the next
// one. The table is that of package model, and permits more than core needs: only discard moves
// NotStarted to Terminated, and no code moves ShuttingDown to Terminated. The model makes these
// moves if a start fails in a shutdown. Core makes several moves instead: the shutdown call moves
// the state before the start is attempted, and decide closes admission before it moves to
// Terminated.
var legalMoves = [...][5]bool{
	/*                   NotSt  Start  ShDn   Shut   Term */
	StateNotStarted:   {false, true, true, true, true},
	StateStarted:      {false, false, true, true, false},
	StateShuttingDown: {false, false, false, true, true},
	StateShutdown:     {false, false, false, false, true},
	StateTerminated:   {},
}

// State returns the current state; any goroutine may call it, at any time. It
// does not start the loop.
//
// While the stored state is Terminated but Done is not closed, State returns the state
// before. So State and Done never disagree (in Netty isTerminated is true before the
// future is done, R133; G15).
func (e *Executor) State() State {
	s := State(e.state.Load())
	if s == StateTerminated && !e.term.isDone() {
		return State(e.lastState.Load())
	}
	return s
}

// moveTo changes the state; no other code does. Requires e.mu.
func (e *Executor) moveTo(to State) {
	from := State(e.state.Load())
	if !legalMoves[from][to] {
		panic(fmt.Sprintf("core: illegal move of state from %v to %v", from, to))
	}
	if to == StateTerminated {
		// State reports it until Done is closed; traceEnd traces the move.
		e.lastState.Store(int32(from))
		e.meterEnd()
	} else if e.cfg.tracer != nil {
		// The event comes first: a goroutine that reads the new state without mu acts after it.
		e.trace(Event{Kind: EventState, From: from, To: to, Reason: e.shutdown.cause})
	}
	e.state.Store(int32(to))
	e.stopBatch.Store(true) // the batch ends after the running body, and the loop sees the state
	e.announceNews()
}
