package blocking

import (
	"cmp"
	"slices"

	"eventide/core"
)

// outbound holds the written bytes that the connection has not taken.
// Offsets count bytes from the beginning of the stream: flushed <= marked <= accepted.
// Guarded by Channel.mu.
type outbound struct {
	accepted int64 // bytes accepted by Write
	writes   int64 // calls of Write that were accepted
	marked   int64 // the next flush sends up to here
	flushed  int64 // the connection has taken up to here

	queue   []byte // ends with the byte at accepted
	head    int    // queue[head] is the byte at flushed
	waiters []waiter
}

// waiter is a write future with a promise to complete. Waiters are in the order of the
// writes, by number, because an empty write has the same offset as its predecessor.
type waiter struct {
	f       WriteFuture
	promise *core.Promise[struct{}]
}

const (
	// mostAtOnce bounds one Write of the connection, so that the progress of a long flush
	// is visible.
	mostAtOnce = 64 << 10

	// mostKept is the largest capacity of an empty queue that is kept: the memory of a
	// burst is released.
	mostKept = 64 << 10
)

// push appends a copy of p.
func (o *outbound) push(p []byte) {
	if o.head > 0 && len(o.queue)+len(p) > cap(o.queue) {
		// Into new memory, as a flush may be reading the old.
		waiting := o.queue[o.head:]
		queue := make([]byte, 0, max(2*len(waiting), len(waiting)+len(p)))
		o.queue, o.head = append(queue, waiting...), 0
	}
	o.queue = append(o.queue, p...)
	o.accepted += int64(len(p))
	o.writes++
}

// next returns the bytes that a flush up to the offset upTo sends next. They are valid
// until the call of sent.
func (o *outbound) next(upTo int64) []byte {
	n := min(upTo-o.flushed, mostAtOnce)
	return o.queue[o.head : o.head+int(n)]
}

// sent records that the connection has taken n more bytes.
func (o *outbound) sent(n int) {
	o.flushed += int64(n)
	o.head += n
	if o.head < len(o.queue) {
		return
	}
	o.head = 0
	if cap(o.queue) > mostKept {
		o.queue = nil
	} else {
		o.queue = o.queue[:0]
	}
}

// pending returns how many bytes were accepted and not taken.
func (o *outbound) pending() int64 { return o.accepted - o.flushed }

// add inserts w in the order of the writes.
func (o *outbound) add(w waiter) {
	i, _ := slices.BinarySearchFunc(o.waiters, w.f.number+1, func(x waiter, number int64) int { return cmp.Compare(x.f.number, number) })
	o.waiters = slices.Insert(o.waiters, i, w)
}

// completed removes and returns the waiters whose bytes the connection has taken.
func (o *outbound) completed() []waiter {
	n := 0
	for n < len(o.waiters) && o.waiters[n].f.end <= o.flushed {
		n++
	}
	done := slices.Clone(o.waiters[:n])
	clear(o.waiters[:n])
	o.waiters = o.waiters[n:] // slices.Delete would move all that are left, for each write
	return done
}
