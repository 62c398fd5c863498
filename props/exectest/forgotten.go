package exectest

import (
	"fmt"
	"time"

	"eventide/props/history"
)

// noTimerForgotten checks G7 for timers that never ran: it is a violation if the loop was
// free for some time between the deadline and the first shutdown call. The predicates judge
// only timers that began, because a shutdown may cancel the others. In real time a busy
// machine delays any timer, so nothing is judged.
func noTimerForgotten(r run) []history.Violation {
	if !r.history.Rules.Virtual {
		return nil
	}
	stop := firstStop(r.history.Events)
	for id, due := range waiting(r.history.Events) {
		free := stop - due - busyTime(r.history.Events, due, stop)
		if free > 0 {
			return []history.Violation{{
				Guarantee: "G7", Sentence: "a timer runs when it is due",
				Text: fmt.Sprintf("timer %d, due at %v, had not begun at %v, when the shutdown was called, with the loop free for %v in between", id, due, stop, free),
			}}
		}
	}
	return nil
}

// firstStop returns when the first shutdown was called.
func firstStop(events []history.Event) time.Duration {
	for i := range events {
		if events[i].Kind == history.Invoke && events[i].Op.Shuts() {
			return events[i].At
		}
	}
	return 0 // nothing is judged: no deadline is earlier
}

// waiting returns the deadlines, by label, of the accepted timers that never began and were
// not cancelled.
func waiting(events []history.Event) map[int]time.Duration {
	due := map[int]time.Duration{}
	calls := map[int]history.Event{}
	for _, e := range events {
		switch {
		case e.Kind == history.Invoke:
			calls[e.N] = e
		case e.Kind == history.Return && (e.Op == history.OpSchedule && e.Outcome == history.Accepted || e.Op == history.OpReset && e.Outcome == history.True):
			due[e.ID] = max(due[e.ID], e.At+max(0, calls[e.Call].Delay))
		}
	}
	for _, e := range events {
		if e.Kind == history.Begin && e.Body == history.BodyTimer || e.Kind == history.Return && e.Op == history.OpCancel && e.Outcome == history.True {
			delete(due, e.ID)
		}
	}
	return due
}

// busyTime returns for how long bodies ran between two instants.
func busyTime(events []history.Event, from, to time.Duration) (busy time.Duration) {
	begun := map[int]time.Duration{}
	for _, e := range events {
		switch e.Kind {
		case history.Begin:
			begun[e.ID] = e.At
		case history.End:
			busy += max(0, min(e.At, to)-max(begun[e.ID], from))
			delete(begun, e.ID)
		}
	}
	for _, at := range begun {
		busy += max(0, to-max(at, from)) // it had not ended
	}
	return busy
}
