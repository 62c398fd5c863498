package props

import "eventide/props/history"

// asModelled returns the events with some of them adjusted to the model, where a history
// shows an event later than the moment that counts.
//
// Callers may learn of a start that failed before a shutdown call after the call. To the
// model such a refusal would be the end of the executor, so it is dropped. The refused
// body still may not run.
//
// The rest is for early, the lanes of chosen schedules. With free goroutines hardly anything
// comes between such an event and its moment.
//
// If the timeout passes while the shutdown call is being made, the call closes
// admission itself: to the model that is a call without a timeout.
//
// A Cancel or a Reset that came too late, because the loop had already dequeued the body,
// may precede the Begin. A refusal for a full queue may follow bodies that have begun and made room.
// S11 and S4 judge these two; the model does not see them.
//
// Cancel of a periodic timer may return true after the loop has dequeued a run, which is
// then the last. The model has no step for that, so asModelled returns false.
func asModelled(events []history.Event, early bool) (_ []history.Event, ok bool) {
	e := editor{events: events, early: early, open: map[int64]int{}}
	for i := range events {
		e.look(i)
	}
	return e.events, !e.beyond
}

type editor struct {
	events []history.Event
	copied bool
	early  bool
	open   map[int64]int // goroutine -> Invoke of its graceful shutdown
	asked  int           // the number of the event with which a shutdown or a failure has come
	up     bool          // the loop has run
	failed bool          // a failed start has ended the executor
	beyond bool          // the model has no step for some event
}

func (e *editor) look(i int) {
	ev := &e.events[i]
	switch {
	case ev.Kind == history.Admit && ev.Outcome == history.Refused && e.asked != 0 && !e.failed && (e.early || ev.Call < e.asked) && e.startFailed(ev.Call):
		e.drop(ev.Call)
	case !e.early:
	case ev.Kind == history.Admit && (ev.Op == history.OpShutdownGracefully || ev.Op == history.OpClose) && ev.Outcome == history.True:
		e.open[ev.G] = ev.Call
	case ev.Kind == history.Return && ev.Call == e.open[ev.G]:
		delete(e.open, ev.G)
	case ev.Kind == history.Transit && ev.To == history.Shutdown && e.open[ev.G] != 0:
		e.edit()
		call := &e.events[e.open[ev.G]-1]
		call.Quiet, call.Timeout = 0, 0
	case ev.Kind == history.Admit && ev.Outcome == history.False && (ev.Op == history.OpCancel || ev.Op == history.OpReset) && e.begins(i, ev.ID):
		e.drop(ev.Call)
	case ev.Kind == history.Admit && ev.Outcome == history.True && ev.Op == history.OpCancel && e.begins(i, ev.ID):
		e.beyond = true
	case ev.Kind == history.Return && ev.Outcome == history.RefusedQueueFull && e.begunSince(ev.Call, i):
		e.drop(ev.Call)
	}
	e.up = e.up || ev.Kind == history.Park || ev.Kind == history.Transit && ev.To == history.Started
	if ev.Kind == history.Transit && ev.To >= history.ShuttingDown {
		if e.asked == 0 {
			e.asked = ev.N
		}
		// If the loop has run, the poller has failed.
		e.failed = e.failed || !e.up && ev.Cause.Failure()
	}
}

// drop removes a call from the steps of the model.
func (e *editor) drop(call int) {
	e.edit()
	e.events[call-1].Op = history.OpStats
}

// begins reports whether the body begins after the i-th event.
func (e *editor) begins(i, id int) bool {
	return contains(e.events[i:], func(ev *history.Event) bool { return ev.Kind == history.Begin && ev.ID == id })
}

// begunSince reports whether a body has begun during a call.
func (e *editor) begunSince(call, i int) bool {
	return contains(e.events[call:i], func(ev *history.Event) bool { return ev.Kind == history.Begin })
}

func (e *editor) edit() {
	if !e.copied {
		e.events, e.copied = append([]history.Event(nil), e.events...), true
	}
}

func (e *editor) startFailed(call int) bool {
	for i := call; i < len(e.events); i++ {
		if ev := &e.events[i]; ev.Kind == history.Return && ev.Call == call {
			return ev.Outcome == history.RefusedStartFailed
		}
	}
	return false
}

// contains is slices.ContainsFunc without copies: an event is large.
func contains(events []history.Event, is func(*history.Event) bool) bool {
	for i := range events {
		if is(&events[i]) {
			return true
		}
	}
	return false
}
