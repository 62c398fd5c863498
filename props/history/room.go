package history

import "sync"

// room is the memory of a History, which a later one can use: lanes judge many short runs.
type room struct {
	calls   []call
	entries []entry
	spans   []span

	byNumber  []*call // calls by N of the Invoke, and in order
	inOrder   []*call
	submitted []*entry
	bodies    []*span
	moves     []*Event
	byID      map[int]*entry
	open      map[int64][]*span
}

// rooms are those of histories that nobody uses any more.
var rooms sync.Pool

// mostKept bounds the events of a history whose memory is kept: clearing the maps of a long one may
// cost more than making those of a short one.
const mostKept = 4096

// takeRoom returns the room of an old history, or a new one.
func takeRoom() *room {
	if r, _ := rooms.Get().(*room); r != nil {
		return r
	}
	return &room{byID: map[int]*entry{}, open: map[int64][]*span{}}
}

// Recycle gives the memory of h to a later call of Of. Afterwards nobody may use h; violations that were
// found in it, and the events, stay valid. To recycle nothing is always right.
func (h *History) Recycle() {
	if r := h.room; r != nil && len(h.Events) <= mostKept {
		r.inOrder, r.submitted, r.bodies, r.moves = h.calls, h.entries, h.spans, h.moves
		clear(r.byID)
		clear(r.open)
		rooms.Put(r)
	}
	*h = History{}
}

// sized returns a slice with n elements of any value, in the memory of s if that is large enough.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// reset makes an entry that was used before the entry of a submission. It keeps the memory of the slices
// that most entries need.
func (e *entry) reset(id int, submit *call) {
	*e = entry{id: id, submit: submit, runs: e.runs[:0], listeners: e.listeners[:0], complete: e.complete[:0]}
}
