package props

import (
	"errors"
	"fmt"
	"slices"

	"eventide/core"
	"eventide/props/history"

	"github.com/petermattis/goid"
)

// fault records a failure of the environment.
func (r *recorder) fault(outcome history.Outcome) {
	r.log.Add(history.Event{Kind: history.Fault, Outcome: outcome})
}

// watches records that the registration of a token now has the descriptor number. A new token
// belongs to the registration that this goroutine makes, or whose interest it changes.
func (r *recorder) watches(fd int, token uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id, known := r.token[token]
	if !known {
		c := r.calls[goid.Get()]
		id = c.id
		r.token[token], r.chans[id] = id, c.op == history.OpRegisterChannel
	}
	if r.last[fd] != id {
		r.older[id], r.last[fd] = r.last[fd], id
	}
}

// registered returns the registration of a token that is or was watched.
func (r *recorder) registered(token uint64) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.token[token]
}

// isChannel reports whether a registration is a channel that was watched from the beginning.
func (r *recorder) isChannel(id int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.chans[id]
}

// isOver reports whether a channel has ended.
func (r *recorder) isOver(id int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over[id]
}

// cannotMove records that the rebuilt poller cannot watch a registration of the executor, and returns
// the registration; 0: there is none.
func (r *recorder) cannotMove(token uint64) int {
	r.mu.Lock()
	id, known := r.token[token]
	_, called := r.calls[goid.Get()] // a call returns the error itself
	r.mu.Unlock()
	if !known || called {
		return 0
	}
	r.log.Add(history.Event{Kind: history.Fault, ID: id, Outcome: history.RefusedByPoller})
	return id
}

// ended records the end of a registration. The event of core does not name the registration.
// Inside a call that ends a registration, it is the registration of the call. If a descriptor
// number was used again, it is the previous registration of that number. NameEnds finds the
// registrations that the loop ended by itself.
func (r *recorder) ended(ev core.Event) {
	r.mu.Lock()
	c := r.calls[ev.Goroutine]
	id := 0
	switch {
	case errors.Is(ev.Reason, core.ErrDescriptorReused):
		id = r.older[c.id]
	case c.op == history.OpEnd && ev.Reason == nil:
		id = c.id
	}
	r.over[id] = true
	r.mu.Unlock()
	e := history.Event{Kind: history.Ended, ID: id, Outcome: history.Normal, Cause: cause(ev.Reason), Note: text(ev.Reason)}
	if ev.Reason != nil {
		e.Outcome = history.Errored
	}
	r.log.Add(e)
}

// NameEnds sets the ID of each Ended event that the loop wrote by itself. All of them are
// of plain registrations: the earlier registration whose owner is the next to be notified,
// or is never notified. An event that is left over is a violation, because more
// registrations ended than were open, so one ended twice (G22). Such a history cannot be
// judged further.
func NameEnds(events []history.Event) *history.Violation {
	candidates := endedByLoop(events)
	for i := range events {
		e := &events[i]
		if e.Kind != history.Ended || e.ID != 0 {
			continue
		}
		best := -1
		for k, c := range candidates {
			fits := c.admitted < e.N && c.notified > e.N
			if fits && (best < 0 || c.notified < candidates[best].notified) {
				best = k
			}
		}
		if best < 0 {
			g, _ := Lookup("G22")
			return &history.Violation{
				Guarantee: g.ID, Predicate: "ends", Sentence: g.Sentence, At: []int{e.N},
				Text: fmt.Sprintf("the end at #%d is that of no registration that was open", e.N),
			}
		}
		e.ID = candidates[best].id
		candidates = slices.Delete(candidates, best, best+1)
	}
	return nil
}

// ending is a plain registration that no call ended.
type ending struct{ id, admitted, notified int }

func endedByLoop(events []history.Event) (list []ending) {
	known, notified := map[int]bool{}, map[int]int{}
	for i := range events {
		switch e := &events[i]; {
		case e.Kind == history.Ended:
			known[e.ID] = true
		case e.Kind == history.Begin && e.Body == history.BodyListener && notified[e.ID] == 0:
			notified[e.ID] = e.N
		}
	}
	for i := range events {
		e := &events[i]
		if e.Kind == history.Admit && e.Op == history.OpRegister && e.Outcome == history.Accepted && !known[e.ID] {
			c := ending{e.ID, e.N, notified[e.ID]}
			if c.notified == 0 {
				c.notified = len(events) + 1
			}
			list = append(list, c)
		}
	}
	return list
}
