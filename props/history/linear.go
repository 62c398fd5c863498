package history

import (
	"fmt"
	"math"
	"time"

	"github.com/anishathalye/porcupine"
)

// Linearizable searches for one moment inside each call such that a sequential executor,
// called at these moments, gives the same answers. Illegal means that there is no such
// choice. Unknown means that the limit passed first; it is never a pass. A limit of 0 is
// no limit. Do not call Linearizable in a testing/synctest bubble, whose clock would
// measure the limit.
func (h *History) Linearizable(limit time.Duration) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(h.CallModel(), h.Operations(), limit)
}

// Operations returns the calls that admission answers, and the observations of the state
// and of Done, as operations of porcupine. A call that did not return ends after all
// others, with an unknown answer. An instant is twice a position, so that there is an
// instant between any two positions.
func (h *History) Operations() []porcupine.Operation {
	var ops []porcupine.Operation
	clients := map[int64]int{}
	last := map[int64]int64{} // per goroutine, the position of its last event: its next observation was made after it
	add := func(e *Event, op operation, from, to int64) {
		client, known := clients[e.G]
		if !known {
			client = len(clients)
			clients[e.G] = client
		}
		ops = append(ops, porcupine.Operation{ClientId: client, Input: op, Call: from, Output: op.answer, Return: to})
	}
	for i := range h.Events {
		e := &h.Events[i]
		before := last[e.G]
		last[e.G] = int64(e.N)
		switch {
		case e.Kind == Invoke && h.ordered(e.Op):
			c := h.byN[e.N]
			if c.ret == nil && e.Op == OpState {
				continue // it saw nothing and changes nothing
			}
			op := operation{op: e.Op, text: e.callText(), inHook: c.within != nil && c.within.entry.hook()}
			to := int64(math.MaxInt64)
			if c.ret != nil {
				op.answer, op.state, to = c.ret.Outcome, c.ret.To, 2*int64(c.ret.N)
			}
			add(e, op, 2*int64(e.N), to)
		case e.Kind == Observe && (e.Op == OpDone || e.Op == OpState):
			op := operation{op: e.Op, text: "saw " + e.Op.String(), answer: e.Outcome, state: e.To}
			add(e, op, 2*before+1, 2*int64(e.N))
		}
	}
	return ops
}

// ordered reports whether the sequential executor models the call.
func (h *History) ordered(o Op) bool {
	return o.Submits() || o.Shuts() || o == OpState
}

// operation is one call with its answer; 0 means that the answer is unknown, or that the
// call has none.
type operation struct {
	op     Op
	text   string
	inHook bool
	answer Outcome
	state  State // answer of OpState
}

// phases is the set of states in which the executor may be.
type phases uint8

func only(s State) phases            { return 1 << s }
func (p phases) has(s State) bool    { return p&only(s) != 0 }
func (p phases) with(s State) phases { return p | only(s) }

// String lists the states: { ShuttingDown Shutdown }.
func (p phases) String() (s string) {
	for state := NotStarted; state <= Terminated; state++ {
		if p.has(state) {
			s += " " + state.String()
		}
	}
	return "{" + s + " }"
}

// settle adds the states that the executor may have reached without a call: after a
// shutdown call, or after a failure of its poller, it closes admission and terminates.
func (h *History) settle(p phases) phases {
	if p.has(ShuttingDown) || h.Rules.Breaks && p.has(Started) {
		p = p.with(Shutdown)
	}
	if p.has(Shutdown) {
		p = p.with(Terminated)
	}
	return p
}

// CallModel is the sequential executor: five states, and for each call the states in which
// its answer is right and the states that follow.
func (h *History) CallModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return only(NotStarted) },
		Step: func(state, input, _ any) (bool, any) {
			next := h.step(h.settle(state.(phases)), input.(operation))
			return next != 0, next
		},
		DescribeOperation: func(input, _ any) string {
			op := input.(operation)
			if op.op == OpState {
				return fmt.Sprintf("%s -> %v", op.text, op.state)
			}
			return fmt.Sprintf("%s -> %v", op.text, op.answer)
		},
		DescribeState: func(state any) string { return state.(phases).String() },
	}
}

// step returns the states after the operation, and none if the answer is wrong in every
// state.
func (h *History) step(from phases, op operation) phases {
	var next phases
	for s := NotStarted; s <= Terminated; s++ {
		if from.has(s) {
			next |= h.after(s, op)
		}
	}
	return next
}

func (h *History) after(s State, op operation) phases {
	switch {
	case op.op.Submits():
		return h.submitted(s, op)
	case op.op == OpShutdownGracefully && op.answer.IsRefusal():
		return only(s)
	case op.op == OpShutdownGracefully || op.op == OpClose: // Close in the loop refuses to wait, but begins a shutdown
		return only(max(s, ShuttingDown))
	case op.op == OpShutdown:
		return only(max(s, Shutdown))
	case op.op == OpState && op.state == s:
		return only(s)
	case op.op == OpDone && (op.answer == True) == (s == Terminated):
		return only(s)
	default:
		return 0
	}
}

// submitted is the answer to a submission in state s.
func (h *History) submitted(s State, op operation) phases {
	open := s < Shutdown || op.op == OpAddHook && op.inHook
	switch op.answer {
	case Accepted:
		if !open {
			return 0
		}
		return only(max(s, Started))
	case RefusedClosed:
		if s < Shutdown {
			return 0
		}
		return only(s)
	case RefusedByPoller:
		if s >= Shutdown {
			return 0
		}
		return only(max(s, Started))
	case Refused:
		if s < Shutdown && h.Rules.QueueBound == 0 && !h.Rules.Spawner {
			return 0
		}
		return only(s)
	case 0: // not known: refused, or accepted
		return only(s).with(max(s, Started))
	default:
		return only(s)
	}
}
