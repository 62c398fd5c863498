package core

// timerHeap is a 4-ary heap of the waiting timers. Its order is by deadline, then by id, which
// is the order of scheduling (G7): without the second key, timers with equal deadlines would
// run in any order (netty #9599, #15492). The entries hold the keys, so a comparison reads
// no Timer. In an Executor it is used on the loop only; in a Pool it is guarded by Pool.mu.
type timerHeap struct {
	entries []timerEntry
}

type timerEntry struct {
	at int64
	id uint64
	t  *Timer
}

const heapArity = 4

func (a timerEntry) before(b timerEntry) bool {
	return a.at < b.at || a.at == b.at && a.id < b.id
}

func (h *timerHeap) len() int { return len(h.entries) }

// first returns the earliest deadline. The heap must not be empty.
func (h *timerHeap) first() int64 { return h.entries[0].at }

// push adds t to the heap, and returns the number of timers in it.
func (h *timerHeap) push(t *Timer) (n int) {
	h.entries = append(h.entries, timerEntry{})
	h.up(len(h.entries)-1, timerEntry{t.at, t.id, t})
	return len(h.entries)
}

// pop removes and returns the earliest timer.
func (h *timerHeap) pop() *Timer {
	t := h.entries[0].t
	h.remove(t)
	return t
}

// remove removes t from the heap, and returns the number of timers that are left. It has no other
// effect if t is not in the heap.
func (h *timerHeap) remove(t *Timer) (n int) {
	i := int(t.index)
	if i < 0 {
		return len(h.entries)
	}
	t.index = -1
	last := len(h.entries) - 1
	moved := h.entries[last]
	h.entries[last] = timerEntry{}
	h.entries = h.entries[:last]
	if i < last {
		if i > 0 && moved.before(h.entries[(i-1)/heapArity]) {
			h.up(i, moved)
		} else {
			h.down(i, moved)
		}
	}
	h.shrink()
	return len(h.entries)
}

// removeAfter removes and returns all timers whose deadline is after at, in one pass.
func (h *timerHeap) removeAfter(at int64) []*Timer {
	var out []*Timer
	kept := h.entries[:0]
	for _, entry := range h.entries {
		if entry.at > at {
			entry.t.index = -1
			out = append(out, entry.t)
		} else {
			kept = append(kept, entry)
		}
	}
	clear(h.entries[len(kept):])
	h.entries = kept
	for i := len(kept) - 1; i >= 0; i-- {
		h.down(i, kept[i])
	}
	h.shrink()
	return out
}

// shrink releases the memory of a burst (G24).
func (h *timerHeap) shrink() {
	if c := cap(h.entries); c > 1024 && len(h.entries) < c/8 {
		h.entries = append(make([]timerEntry, 0, 2*len(h.entries)), h.entries...)
	}
}

// up puts entry at i or nearer to the root.
func (h *timerHeap) up(i int, entry timerEntry) {
	for i > 0 {
		parent := (i - 1) / heapArity
		if !entry.before(h.entries[parent]) {
			break
		}
		h.place(i, h.entries[parent])
		i = parent
	}
	h.place(i, entry)
}

// down puts entry at i or farther from the root.
func (h *timerHeap) down(i int, entry timerEntry) {
	for {
		least := h.leastChild(i)
		if least < 0 || !h.entries[least].before(entry) {
			break
		}
		h.place(i, h.entries[least])
		i = least
	}
	h.place(i, entry)
}

func (h *timerHeap) leastChild(i int) int {
	begin := i*heapArity + 1
	end := min(begin+heapArity, len(h.entries))
	if begin >= end {
		return -1
	}
	least := begin
	for c := begin + 1; c < end; c++ {
		if h.entries[c].before(h.entries[least]) {
			least = c
		}
	}
	return least
}

func (h *timerHeap) place(i int, entry timerEntry) {
	h.entries[i] = entry
	entry.t.index = int32(i)
}
