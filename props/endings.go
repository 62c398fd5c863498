package props

import (
	"errors"
	"fmt"
	"slices"

	"eventide/core"
	"eventide/props/history"

	"github.com/petermattis/goid"
)

// fault records that the environment fails.
func (r *recorder) fault(outcome history.Outcome) {
	r.log.Add(history.Event{Kind: history.Fault, Outcome: outcome})
}

// watches returns the registration that a token belongs to, and notes that it is
// the one that has the number now. The first time it is the one that this
// goroutine registers, or whose interest it changes.
func (r *recorder) watches(fd int, token uint64) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	id, known := r.token[token]
	if !known {
		id = r.calls[goid.Get()].id
		r.token[token] = id
	}
	if r.last[fd] != id {
		r.older[id], r.last[fd] = r.last[fd], id
	}
	return id
}

// cannotMove records that a registration which the executor has cannot be watched
// by its new poller.
func (r *recorder) cannotMove(token uint64) {
	r.mu.Lock()
	id, known := r.token[token]
	_, called := r.calls[goid.Get()] // then the caller is told
	r.mu.Unlock()
	if known && !called {
		r.log.Add(history.Event{Kind: history.Fault, ID: id, Outcome: history.RefusedByPoller})
	}
}

// ended records the end of a registration. Core does not say which: inside a call
// that ends one it is that one; one whose number is used again is the one before;
// of those that the loop ends by itself see NameEnds.
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
	r.mu.Unlock()
	e := history.Event{Kind: history.Ended, ID: id, Outcome: history.Normal, Cause: cause(ev.Reason), Note: text(ev.Reason)}
	if ev.Reason != nil {
		e.Outcome = history.Errored
	}
	r.log.Add(e)
}

// NameEnds says of the ends that the loop made by itself, all of plain
// registrations, which ones they are: of those that were registered before, the one
// whose owner was told first afterwards; or was never told. An end that is left over is
// a violation: as many have ended as there were, and one has ended twice (G22). There is
// no history then to be judged.
func NameEnds(events []history.Event) *history.Violation {
	candidates := endedByLoop(events)
	for i := range events {
		e := &events[i]
		if e.Kind != history.Ended || e.ID != 0 {
			continue
		}
		best := -1
		for k, c := range candidates {
			fits := c.admitted < e.N && c.told > e.N
			if fits && (best < 0 || c.told < candidates[best].told) {
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

// ending is a plain registration that no call has ended.
type ending struct{ id, admitted, told int }

func endedByLoop(events []history.Event) (list []ending) {
	known, told := map[int]bool{}, map[int]int{}
	for i := range events {
		switch e := &events[i]; {
		case e.Kind == history.Ended:
			known[e.ID] = true
		case e.Kind == history.Begin && e.Body == history.BodyListener && told[e.ID] == 0:
			told[e.ID] = e.N
		}
	}
	for i := range events {
		e := &events[i]
		if e.Kind == history.Admit && e.Op == history.OpRegister && e.Outcome == history.Accepted && !known[e.ID] {
			c := ending{e.ID, e.N, told[e.ID]}
			if c.told == 0 {
				c.told = len(events) + 1
			}
			list = append(list, c)
		}
	}
	return list
}
