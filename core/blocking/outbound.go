package blocking

import (
	"cmp"
	"slices"

	"eventide/core"
)

// outbound is what was written and the connection has not taken. Offsets count
// bytes from the beginning of the stream: flushed <= marked <= accepted. Guarded by
// Channel.mu.
type outbound struct {
	accepted int64 // by Write
	writes   int64 // calls of Write that were accepted
	marked   int64 // to be sent by the next flush
	flushed  int64 // the connection has taken them

	queue   []byte // ends with the byte at accepted
	head    int    // queue[head] is the byte at flushed
	waiters []waiter
}

// waiter is somebody who wants to hear of a write. Waiters are in the order of the
// writes: by number, as offsets are not different for empty ones.
type waiter struct {
	f       WriteFuture
	promise *core.Promise[int]
}

const (
	// mostAtOnce bounds one Write of the connection, so that a long flush shows
	// its progress.
	mostAtOnce = 64 << 10

	// mostKept is the capacity of a queue that is kept when it is empty: the
	// memory of a burst is given back.
	mostKept = 64 << 10
)

// push copies p.
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

// next returns what a flush up to the offset upTo sends next. It stays valid until
// sent.
func (o *outbound) next(upTo int64) []byte {
	n := min(upTo-o.flushed, mostAtOnce)
	return o.queue[o.head : o.head+int(n)]
}

// sent enters that the connection has taken n more bytes.
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

// pending is how many bytes were accepted and not taken.
func (o *outbound) pending() int64 { return o.accepted - o.flushed }

// add keeps the waiters in the order of the writes.
func (o *outbound) add(w waiter) {
	i, _ := slices.BinarySearchFunc(o.waiters, w.f.number+1, func(x waiter, number int64) int { return cmp.Compare(x.f.number, number) })
	o.waiters = slices.Insert(o.waiters, i, w)
}

// completed takes out the waiters whose bytes have gone.
func (o *outbound) completed() []waiter {
	n := 0
	for n < len(o.waiters) && o.waiters[n].f.end <= o.flushed {
		n++
	}
	done := slices.Clone(o.waiters[:n])
	o.waiters = slices.Delete(o.waiters, 0, n)
	return done
}
