package history

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// Linearizable searches for one moment inside each call such that a sequential executor,
// called at these moments, gives the same answers. Illegal means that there is no such
// choice. Unknown means that the limit passed first; it is never a pass. A limit of 0 is
// no limit. Do not call Linearizable in a testing/synctest bubble, whose clock would
// measure the limit.
//
// The order in which the log shows the decisions is tried first, because it nearly always is
// such a choice and takes no search.
func (h *History) Linearizable(limit time.Duration) porcupine.CheckResult {
	calls := h.timedCalls()
	if h.explains(calls) {
		return porcupine.Ok
	}
	return porcupine.CheckOperationsTimeout(h.CallModel(), operations(calls), limit)
}

// Operations returns the calls that admission answers, and the observations of the state
// and of Done, as operations of porcupine. A call that did not return ends after all
// others, with an unknown answer. An instant is twice a position, so that there is an
// instant between any two positions.
func (h *History) Operations() []porcupine.Operation { return operations(h.timedCalls()) }

// timedCall is an operation with the instants between which it took effect.
type timedCall struct {
	operation
	from, to int64
	shown    int64 // the instant in between at which the log shows the decision, or else to
}

func operations(calls []timedCall) []porcupine.Operation {
	var ops []porcupine.Operation
	clients := map[int64]int{}
	for _, c := range calls {
		client, known := clients[c.event.G]
		if !known {
			client = len(clients)
			clients[c.event.G] = client
		}
		ops = append(ops, porcupine.Operation{ClientId: client, Input: c.operation, Call: c.from, Output: c.answer, Return: c.to})
	}
	return ops
}

// timedCalls returns the operations of the log, see Operations.
func (h *History) timedCalls() []timedCall {
	all := make([]timedCall, 0, len(h.calls))
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == Invoke && h.ordered(e.Op):
			c := h.callAt(e.N)
			if c.ret == nil && e.Op == OpState {
				continue // it saw nothing and changes nothing
			}
			o := timedCall{
				operation: operation{op: e.Op, event: e, inHook: c.within != nil && c.within.entry.hook()},
				from:      2 * int64(e.N), to: math.MaxInt64,
			}
			if c.ret != nil {
				o.answer, o.state, o.to = c.ret.Outcome, c.ret.To, 2*int64(c.ret.N)
			}
			o.shown = o.to
			if c.admit != nil {
				o.shown = 2 * int64(c.admit.N)
			}
			all = append(all, o)
		case e.Kind == Observe && (e.Op == OpDone || e.Op == OpState):
			all = append(all, timedCall{
				operation: operation{op: e.Op, event: e, answer: e.Outcome, state: e.To},
				from:      2*h.before(i) + 1, to: 2 * int64(e.N), shown: 2 * int64(e.N),
			})
		}
	}
	return all
}

// before returns the position of the event before Events[i] on the same goroutine, or 0. An
// observation was made after that event.
func (h *History) before(i int) int64 {
	for k := i - 1; k >= 0; k-- {
		if h.Events[k].G == h.Events[i].G {
			return int64(h.Events[k].N)
		}
	}
	return 0
}

// explains reports whether the sequential executor gives the same answers if it is called in the
// order in which the log shows the decisions.
func (h *History) explains(calls []timedCall) bool {
	byShown := make([]int32, len(calls))
	for i := range byShown {
		byShown[i] = int32(i)
	}
	slices.SortFunc(byShown, func(a, b int32) int { return cmp.Compare(calls[a].shown, calls[b].shown) })
	state := only(NotStarted)
	for _, i := range byShown {
		if state = h.step(h.settle(state), &calls[i].operation); state == 0 {
			return false
		}
	}
	return true
}

// ordered reports whether the sequential executor models the call.
func (h *History) ordered(o Op) bool {
	return o.Submits() || o.Shuts() || o == OpState
}

// operation is one call with its answer; 0 means that the answer is unknown, or that the
// call has none.
type operation struct {
	op     Op
	event  *Event // the Invoke or the Observe
	inHook bool
	answer Outcome
	state  State // answer of OpState
}

// text returns the operation in words.
func (o *operation) text() string {
	if o.event.Kind == Observe {
		return "saw " + o.op.String()
	}
	return o.event.callText()
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
			op := input.(operation)
			next := h.step(h.settle(state.(phases)), &op)
			return next != 0, next
		},
		DescribeOperation: func(input, _ any) string {
			op := input.(operation)
			if op.op == OpState {
				return fmt.Sprintf("%s -> %v", op.text(), op.state)
			}
			return fmt.Sprintf("%s -> %v", op.text(), op.answer)
		},
		DescribeState: func(state any) string { return state.(phases).String() },
	}
}

// step returns the states after the operation, and none if the answer is wrong in every
// state.
func (h *History) step(from phases, op *operation) phases {
	var next phases
	for s := NotStarted; s <= Terminated; s++ {
		if from.has(s) {
			next |= h.after(s, op)
		}
	}
	return next
}

func (h *History) after(s State, op *operation) phases {
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
func (h *History) submitted(s State, op *operation) phases {
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
