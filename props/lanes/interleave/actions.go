package interleave

import (
	"slices"
	"strings"

	"eventide/props/history"
)

// Actions counts the distinct histories in which an action happened in a state:
// "ShuttingDown/execute". A call counts in the state in which the executor decided it,
// or, if the history has no decision, in the state in which the call began.
type Actions map[string]int

// The actions: calls, and bodies of the loop. impossible has, by state, the actions that
// cannot happen in it. A listener may run in any state, and is not counted.
var (
	actionCalls = []history.Op{
		history.OpExecute, history.OpExecuteLazy, history.OpSubmit, history.OpAfterIteration,
		history.OpSchedule, history.OpFixedRate, history.OpFixedDelay, history.OpCancel, history.OpReset, history.OpAddHook, history.OpRemoveHook,
		history.OpShutdownGracefully, history.OpShutdown, history.OpClose, history.OpAwait, history.OpState,
		history.OpRegister, history.OpRegisterChannel, history.OpModify, history.OpEnd, history.OpListen,
	}
	actionBodies = []history.Body{
		history.BodyTask, history.BodyTail, history.BodyTimer, history.BodyHook, history.BodyReadiness, history.BodyDrain, history.BodyAbort,
	}
	impossible = map[history.State][]string{
		// These need an accepted call, which has started the loop.
		history.NotStarted: {"cancel", "reset", "unhook", "modify", "end", "ready"},
		// Hooks run, and channels drain, only in a shutdown (G6, G23).
		history.Started: {"hook begins", "drain begins"},
		// The poller is closed.
		history.Terminated: {"ready"},
	}
)

// possibleActions are the keys of Actions that a history may have, in order.
func possibleActions() (cells []string) {
	names := []string{"ready", "fault"}
	for _, op := range actionCalls {
		names = append(names, op.String())
	}
	for _, b := range actionBodies {
		names = append(names, b.String()+" begins")
	}
	for s := history.NotStarted; s <= history.Terminated; s++ {
		for _, name := range names {
			runs := s != history.NotStarted && s != history.Terminated // whether bodies run in s
			if slices.Contains(impossible[s], name) || !runs && strings.HasSuffix(name, " begins") {
				continue
			}
			cells = append(cells, s.String()+"/"+name)
		}
	}
	slices.Sort(cells)
	return cells
}

// action is a key of Actions as numbers.
type action struct {
	state history.State
	kind  history.LogKind
	op    history.Op
	body  history.Body
}

// actionNames has the keys of the actions so far.
var actionNames = map[action]string{}

// name returns the key of Actions.
func (a action) name() string {
	name, known := actionNames[a]
	if !known {
		switch name = a.state.String() + "/"; a.kind {
		case history.Return:
			name += a.op.String()
		case history.Begin:
			name += a.body.String() + " begins"
		case history.Fault:
			name += "fault"
		case history.Readied:
			name += "ready"
		}
		actionNames[a] = name
	}
	return name
}

// add counts the actions of a history.
func (a Actions) add(events []history.Event) {
	seen := make(map[action]bool)
	at := make([]history.State, len(events)+1) // by the number of the call
	state := history.NotStarted
	for i := range events {
		switch e := &events[i]; e.Kind {
		case history.Transit:
			state = e.To
		case history.Invoke:
			at[e.N] = state
		case history.Admit:
			at[e.Call] = state
		case history.Return:
			seen[action{state: at[e.Call], kind: e.Kind, op: e.Op}] = true
		case history.Begin:
			if e.Body != history.BodyListener {
				seen[action{state: state, kind: e.Kind, body: e.Body}] = true
			}
		case history.Fault, history.Readied:
			seen[action{state: state, kind: e.Kind}] = true
		}
	}
	for cell := range seen {
		a[cell.name()]++
	}
}
