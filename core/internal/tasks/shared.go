package tasks

// Shared is a FIFO of tasks with many producers and many consumers: the queue of a pool.
// Every call requires the owner's lock. A consumer takes one task at a time, so the tasks
// behind one that blocks are left to the other consumers. The zero value is an empty
// queue.
//
// It keeps the same counters as Queue (G20): accepted is incremented when a task is pushed,
// ran or cancelled when it ends; pending is the number of queued and running tasks.
type Shared struct {
	segments
	pos int // of the next task in head

	begun, ran, cancelled int64
	running               int
}

// Pop removes the oldest task and returns it with its number, which is 1 for the first task
// ever pushed. The queue must not be empty. The task counts as running until End.
func (q *Shared) Pop() (task func(), number int64) {
	s := q.head
	task, s.tasks[q.pos] = s.tasks[q.pos], nil
	q.pos++
	q.size--
	q.running++
	q.begun++
	if q.pos == q.length() {
		q.next()
	}
	return task, q.begun
}

// next releases the spent segment at the head. If it is the only one, it is reused in place.
func (q *Shared) next() {
	q.pos = 0
	if q.head == q.tail {
		q.room = SegmentSize
		return
	}
	q.recycle(q.removeHead())
}

// Begun returns how many tasks have begun since the queue was made.
func (q *Shared) Begun() int64 { return q.begun }

// End counts how a running task has ended.
func (q *Shared) End(how Ending) {
	q.running--
	if how == Cancelled {
		q.cancelled++
	} else {
		q.ran++
	}
}

// Counts returns a consistent snapshot.
func (q *Shared) Counts() Counts {
	return Counts{
		Accepted:  q.accepted,
		Ran:       q.ran,
		Cancelled: q.cancelled,
		Pending:   q.size + q.running,
		NotBegun:  q.size,
		Running:   q.running > 0,
	}
}

// Release drops all memory of an empty queue.
func (q *Shared) Release() { q.segments = segments{accepted: q.accepted} }
