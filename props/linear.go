package props

import (
	"slices"
	"time"

	"eventide/props/history"

	"github.com/anishathalye/porcupine"
)

// undecidedAfter bounds the time of the search for an order of the calls.
const undecidedAfter = time.Second

// linearizable searches for an order of the calls that explains their answers. A
// submission that starts the loop takes effect twice: it starts the loop, and if a
// shutdown comes before its admission it is refused (G17). In the sequential executor a
// call takes effect once. If there is no order, such a call is tried as accepted too, in every
// lane: another goroutine may shut the executor down between its two effects, or the loop
// itself if its poller is broken. S4 judges that its refusal came after the close.
func linearizable(h *history.History, events []history.Event, t terms) porcupine.CheckResult {
	result := h.Linearizable(undecidedAfter)
	if result != porcupine.Illegal {
		return result
	}
	again := slices.Clone(events)
	if !acceptStarters(again) {
		return result
	}
	relaxed, err := history.Of(again, t.observed)
	if err != nil {
		return result
	}
	return relaxed.Linearizable(undecidedAfter)
}

// acceptStarters changes the answer of each submission that started the loop and was refused
// after the close into an acceptance, and reports whether there was one.
func acceptStarters(events []history.Event) (found bool) {
	open := map[int64][]int{} // goroutine -> Invokes of its submissions that have not returned
	started := map[int]bool{}
	for i := range events {
		e := &events[i]
		switch {
		case e.Kind == history.Invoke && e.Op.Submits():
			open[e.G] = append(open[e.G], e.N)
		case e.Kind == history.Transit && e.From == history.NotStarted && e.To == history.Started:
			if in := open[e.G]; len(in) > 0 { // more than one if a spawner calls the executor
				started[in[len(in)-1]] = true
			}
		case e.Kind == history.Return && e.Op.Submits():
			open[e.G] = open[e.G][:len(open[e.G])-1]
			if started[e.Call] && e.Outcome == history.RefusedClosed {
				e.Outcome, found = history.Accepted, true
			}
		}
	}
	return found
}
