package history

import (
	"fmt"
	"slices"
)

// indexer adds the events to a History one by one.
type indexer struct {
	h    *History
	open map[int64][]*span // the bodies and listeners running on each goroutine, innermost last

	// What is left of the memory for what the events will make.
	calls   []call
	entries []entry
	spans   []span
}

// newIndexer makes room for the calls, entries and bodies of the events of h.
func newIndexer(h *History) *indexer {
	calls, entries, spans := 0, 0, 0
	for i := range h.Events {
		switch e := &h.Events[i]; e.Kind {
		case Invoke:
			calls++
			entries += one(e.Op.Submits())
		case Begin:
			spans++
		}
	}
	r := takeRoom()
	r.calls, r.entries, r.spans = sized(r.calls, calls), sized(r.entries, entries), sized(r.spans, spans)
	r.byNumber = sized(r.byNumber, len(h.Events)+1)
	clear(r.byNumber)
	h.room, h.byN, h.byID = r, r.byNumber, r.byID
	h.calls, h.entries, h.spans, h.moves = r.inOrder[:0], r.submitted[:0], r.bodies[:0], r.moves[:0]
	return &indexer{h: h, open: r.open, calls: r.calls, entries: r.entries, spans: r.spans}
}

// next returns the first element of room and takes it from there.
func next[T any](room *[]T) *T {
	first := &(*room)[0]
	*room = (*room)[1:]
	return first
}

func (ix *indexer) add(e *Event) error {
	h := ix.h
	switch e.Kind {
	case Invoke:
		return ix.invoke(e)
	case Return, Admit:
		return ix.answer(e)
	case Begin:
		return ix.begin(e)
	case End:
		return ix.end(e)
	case Complete:
		if ent := h.byID[e.ID]; ent != nil {
			ent.complete = append(ent.complete, e)
			return nil
		}
		return fmt.Errorf("complete of %d, which was never submitted", e.ID)
	case Transit:
		h.moves = append(h.moves, e)
	case Park, Unpark:
		h.loops[e.G] = true
	case Ended, Readied:
		return ix.registration(e)
	case Done:
		h.sawDone(e)
	case Observe:
		ix.observe(e)
	}
	return nil
}

func (ix *indexer) observe(e *Event) {
	switch {
	case e.Op == OpDone && e.Outcome == True:
		ix.h.sawDone(e)
	case e.Op == OpInLoop:
		ix.h.looks = append(ix.h.looks, look{event: e, within: ix.running(e.G), listener: ix.listener(e.G)})
	case e.Op == OpListen:
		ix.h.promised = append(ix.h.promised, look{event: e, within: ix.running(e.G), listener: ix.listener(e.G)})
	}
}

// registration records an event of a registration.
func (ix *indexer) registration(e *Event) error {
	ent := ix.h.byID[e.ID]
	switch {
	case ent == nil || !ent.op().Registers():
		return fmt.Errorf("%v of %d, which was never registered", e.Kind, e.ID)
	case e.Kind == Ended:
		ent.ends = append(ent.ends, e)
	default:
		ent.readied = append(ent.readied, e)
	}
	return nil
}

func (h *History) sawDone(e *Event) {
	if h.done == 0 {
		h.done = e.N
	}
}

func (ix *indexer) invoke(e *Event) error {
	h := ix.h
	c := next(&ix.calls)
	*c = call{inv: e, within: ix.running(e.G), inListener: ix.listener(e.G) != nil, number: len(h.calls)}
	h.calls = append(h.calls, c)
	h.byN[e.N] = c
	if e.ID == 0 {
		return nil
	}
	ent := h.byID[e.ID]
	if e.Op.Submits() {
		if ent != nil {
			return fmt.Errorf("label %d submitted twice, first at #%d", e.ID, ent.submit.inv.N)
		}
		ent = next(&ix.entries)
		ent.reset(e.ID, c)
		if e.Op.Timers() {
			ent.jitter = ix.h.Rules.JitterOf(e)
		}
		h.byID[e.ID] = ent
		h.entries = append(h.entries, ent)
	}
	if ent == nil {
		return fmt.Errorf("%v of %d, which was never submitted", e.Op, e.ID)
	}
	c.entry = ent
	switch e.Op {
	case OpCancel:
		ent.cancels = append(ent.cancels, c)
	case OpReset:
		ent.resets = append(ent.resets, c)
	case OpRemoveHook:
		ent.removes = append(ent.removes, c)
	case OpListen:
		ent.listens = append(ent.listens, c)
	case OpEnd:
		ent.closes = append(ent.closes, c)
	}
	return nil
}

// running returns the innermost body on the goroutine that is not a listener.
func (ix *indexer) running(g int64) *span {
	for _, s := range slices.Backward(ix.open[g]) {
		if s.begin.Body != BodyListener {
			return s
		}
	}
	return nil
}

// listener returns the listener that the goroutine runs, which may be on the loop or on any other
// goroutine, or nil.
func (ix *indexer) listener(g int64) *span {
	open := ix.open[g]
	if len(open) > 0 && open[len(open)-1].begin.Body == BodyListener {
		return open[len(open)-1]
	}
	return nil
}

func (ix *indexer) answer(e *Event) error {
	c := ix.h.callAt(e.Call)
	if c == nil || c.inv.Op != e.Op {
		return fmt.Errorf("%v of %v without its invoke (call %d)", e.Kind, e.Op, e.Call)
	}
	if e.Kind == Admit {
		c.admit = e
		return nil
	}
	if c.ret != nil {
		return fmt.Errorf("%v returns twice, first at #%d", e.Op, c.ret.N)
	}
	c.ret = e
	return nil
}

func (ix *indexer) begin(e *Event) error {
	h := ix.h
	s := next(&ix.spans)
	*s = span{begin: e, entry: h.byID[e.ID]}
	if s.entry == nil && e.Body == BodyListener {
		ix.open[e.G] = append(ix.open[e.G], s) // of a promise, which no call in the log submits
		if h.heard[e.ID] == 0 {
			h.heard[e.ID] = e.N
		}
		return nil
	}
	if s.entry == nil {
		return fmt.Errorf("begin of %d, which was never submitted", e.ID)
	}
	ix.open[e.G] = append(ix.open[e.G], s)
	if e.Body == BodyListener {
		s.entry.listeners = append(s.entry.listeners, s)
		return nil
	}
	h.loops[e.G] = true
	h.spans = append(h.spans, s)
	s.entry.runs = append(s.entry.runs, s)
	return nil
}

// end ends the innermost open body of the goroutine, which must be the body of e.
func (ix *indexer) end(e *Event) error {
	open := ix.open[e.G]
	if len(open) == 0 {
		return fmt.Errorf("end of %d, but nothing has begun on this goroutine", e.ID)
	}
	s := open[len(open)-1]
	if s.begin.ID != e.ID || s.begin.Body != e.Body {
		return fmt.Errorf("end of %v %d, but %v %d runs on this goroutine", e.Body, e.ID, s.begin.Body, s.begin.ID)
	}
	s.end = e
	ix.open[e.G] = open[:len(open)-1]
	if e.Body == BodyListener && e.InLoop && len(open) == 1 && e.At > s.begin.At {
		ix.h.slow = append(ix.h.slow, s)
	}
	return nil
}
