package tasks

// Shared is a FIFO of tasks with many producers and many consumers: the queue of a pool.
// Every call requires the owner's lock. A consumer takes one task at a time, so the tasks
// behind one that blocks are left to the other consumers. The zero value is an empty
// queue.
//
// It keeps the same counters as Queue (G20): accepted is incremented when a task is pushed,
// ran or cancelled when it ends; pending is the number of queued and running tasks.
type Shared struct {
	head, tail *segment
	pos        int // of the next task in head
	size       int // queued tasks
	free       *segment
	nfree      int

	accepted, begun, ran, cancelled int64
	running                         int
}

// Push appends an accepted task.
func (q *Shared) Push(task func()) {
	s := q.tail
	if s == nil || s.n == SegmentSize {
		s = q.grow()
	}
	s.tasks[s.n] = task
	s.n++
	q.size++
	q.accepted++
}

func (q *Shared) grow() *segment {
	s := q.free
	if s != nil {
		q.free, s.next = s.next, nil
		q.nfree--
	} else {
		s = new(segment)
	}
	if q.tail == nil {
		q.head = s
	} else {
		q.tail.next = s
	}
	q.tail = s
	return s
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
	if q.pos == s.n {
		q.next()
	}
	return task, q.begun
}

// next releases the spent segment at the head. If it is the only one, it is reused in place.
func (q *Shared) next() {
	s := q.head
	q.pos, s.n = 0, 0
	if s.next == nil {
		return
	}
	q.head = s.next
	s.next = nil
	if q.nfree < maxFreeSegments {
		s.next, q.free = q.free, s
		q.nfree++
	}
}

// End counts how a running task has ended.
func (q *Shared) End(how Ending) {
	q.running--
	if how == Cancelled {
		q.cancelled++
	} else {
		q.ran++
	}
}

// Size returns the number of queued tasks.
func (q *Shared) Size() int { return q.size }

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
func (q *Shared) Release() { q.head, q.tail, q.pos, q.free, q.nfree = nil, nil, 0, nil, 0 }
