package props

import (
	"fmt"
	"slices"
	"time"

	"eventide/props/history"
)

// retryPause is the pause before each retry of a program with a rejected-handler.
const retryPause = time.Millisecond

// checkRetries compares the calls on a full queue with the rejected-handler of the program: a call
// that was refused because the queue was full was tried again as often as the handler wants, after a
// pause each, and no call was tried more often. A TryExecute and a call inside a body are tried once. So is
// a call inside the spawner, which the log does not show.
func checkRetries(events []history.Event, asides []Aside, rules history.Rules, p Program) *history.Violation {
	if p.Limit == 0 {
		return nil
	}
	once := map[int]bool{}
	p.AnyStep(func(s *Step) bool {
		if s.Try {
			once[s.ID] = true
		}
		return false
	})
	inside := map[int64][]bool{} // by goroutine: whether its open bodies run on the loop
	refused := map[int]int{}     // attempts by Invoke
	retries := map[int]int{}     // likewise: how many the handler wants
	for i := range events {
		e := &events[i]
		bodies := inside[e.G]
		switch {
		case e.Kind == history.Begin:
			inside[e.G] = append(bodies, e.InLoop)
		case e.Kind == history.End && len(bodies) > 0:
			inside[e.G] = bodies[:len(bodies)-1]
		case e.Kind == history.Invoke && !once[e.ID] && !spawnerCalls(asides, e) && (len(bodies) == 0 || !bodies[len(bodies)-1]):
			retries[e.N] = p.Retries
		case e.Kind == history.Admit && e.Outcome == history.Refused:
			refused[e.Call]++
		case e.Kind == history.Return && (e.Op.Tasks() || e.Op == history.OpAfterIteration):
			inv, want := &events[e.Call-1], retries[e.Call]
			full := e.Outcome == history.RefusedQueueFull
			pauses := time.Duration(want) * retryPause
			switch n := refused[e.Call]; {
			case full && n != 1+want, e.Outcome == history.Accepted && n > want:
				return wrongRetries(e, "was tried %d times on a full queue, and may be tried again %d times", n, want)
			case full && rules.Virtual && e.At-inv.At < pauses:
				return wrongRetries(e, "was refused after %v, and its pauses are %v", e.At-inv.At, pauses)
			}
		}
	}
	return nil
}

// spawnerCalls reports whether the spawner makes the call.
func spawnerCalls(asides []Aside, inv *history.Event) bool {
	return slices.ContainsFunc(asides, func(a Aside) bool { return a.Context == inSpawner && a.has(inv) })
}

func wrongRetries(e *history.Event, format string, args ...any) *history.Violation {
	return &history.Violation{
		Guarantee: "G19", Predicate: "Retries", Sentence: "a call on a full queue is tried again as the rejected-handler wants", At: []int{e.Call, e.N},
		Text: fmt.Sprintf("the call at #%d ", e.Call) + fmt.Sprintf(format, args...),
	}
}
