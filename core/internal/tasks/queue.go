// Package tasks has the task queues of executors and pools. Each also counts how its accepted
// tasks have ended.
package tasks

import "sync/atomic"

// Queue is a FIFO of tasks. Producers push under the owner's lock. The consumer, which is
// the loop, takes one segment at a time under the same lock, and runs it without the
// lock: that segment is the batch in hand. The zero value is an empty queue.
//
// The queue also keeps the counters of G20. accepted is incremented when a task is
// pushed, ran and cancelled when it ends; pending is computed from the segments. A
// snapshot of the four under the lock satisfies the invariant at any instant.
type Queue struct {
	// Guarded by the owner's lock.
	segments        // not yet taken
	ran       int64 // in the batches before the one in hand
	cancelled int64 // likewise

	_ [64]byte // producers write the fields above, the loop those below, for each task

	// Loop only.
	batch         *segment
	pos           int
	first         int64 // number of tasks taken before batch
	batchProgress progress

	// Atomic: a copy of batchProgress, stored after each task.
	progress atomic.Uint64

	// Ordered makes that store a locked instruction. Set it before the first push if the queue has a bound:
	// a load in a task may have missed a store of a goroutine that then finds the queue full, and this
	// goroutine must see that the task has begun (G19). Otherwise a release store is enough: a snapshot
	// misses no end that has effects which the caller can see.
	Ordered bool

	_ [64]byte
}

// Take replaces the batch in hand, which must be spent, by the oldest segment, or by none, and
// returns the number of its tasks. The lock is held; loop only.
func (q *Queue) Take() int {
	spent := q.batch
	q.ran += q.batchProgress.ran()
	q.cancelled += q.batchProgress.cancelled()
	q.first += int64(q.pos)
	q.pos, q.batch, q.batchProgress = 0, nil, 0
	if q.head != nil {
		n := q.length()
		q.batchProgress, q.size, q.batch = progress(n), q.size-n, q.removeHead()
	}
	q.progress.Store(uint64(q.batchProgress))
	if spent != nil {
		q.recycle(spent)
	}
	return q.batchProgress.left()
}

// Left returns how many tasks of the batch in hand have not ended. Loop only.
func (q *Queue) Left() int { return q.batchProgress.left() }

// Ran returns how many tasks of the batch in hand have run. Loop only.
func (q *Queue) Ran() int64 { return q.batchProgress.ran() }

// Begun returns how many tasks have begun since the queue was made. Loop only.
func (q *Queue) Begun() int64 { return q.first + int64(q.pos) }

// Progress returns a number that changes when a task of the batch in hand begins or ends. It is 0 before
// the first batch, as in a new backlogWatch of package core. It may be called from any goroutine.
func (q *Queue) Progress() int64 { return int64(q.progress.Load()) }

// Resume publishes that the next task begins now. Loop only.
func (q *Queue) Resume() { q.publish(q.batchProgress | running) }

func (q *Queue) publish(p progress) {
	q.batchProgress = p
	store(&q.progress, uint64(p), q.Ordered)
}

// Next returns the next task of the batch, and clears its slot. The batch must have one
// left. Loop only.
func (q *Queue) Next() func() {
	slot := &q.batch.tasks[q.pos]
	task := *slot
	*slot = nil
	q.pos++
	return task
}

// EndAndBegin publishes that the task that Next returned has run, and that the next task, of which there
// must be one, begins in the same instant. Loop only.
func (q *Queue) EndAndBegin() { q.publish(q.batchProgress + progress(Ran) - oneLeft) }

// End publishes how the task that Next returned has ended. nextBegins says that the next task
// begins in the same instant; otherwise, or if no task is left, none is running. Loop
// only.
func (q *Queue) End(how Ending, nextBegins bool) {
	p := q.batchProgress + progress(how) - oneLeft
	if !nextBegins || p&progressMask == 0 {
		p &^= running
	}
	q.publish(p)
}

// Release drops the segments of an empty queue. The lock is held.
func (q *Queue) Release() {
	q.Take()
	q.free, q.nfree = nil, 0
}
