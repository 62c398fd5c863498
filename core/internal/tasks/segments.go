package tasks

// SegmentSize is the number of tasks in one segment of a queue: large enough that taking
// a segment costs little per task, small enough that its counts fit the fields of progress. The
// slots take the space of 32 cache lines.
const SegmentSize = 256

// maxFreeSegments is how many spent segments a queue keeps for reuse. Other segments of a
// burst go back to the garbage collector (G24).
const maxFreeSegments = 4

// A segment has no length: every segment but the last of its queue is full. A length would
// be one more cache line that producers take from each other.
type segment struct {
	next  *segment
	tasks [SegmentSize]func()
}

// segments is a FIFO of the tasks that wait. Its owner's lock is held for every call. The
// fields that Push writes come first: in an executor they share the cache line of the mutex.
type segments struct {
	tail     *segment
	room     int   // slots of tail that are not written; 0 if there is no tail
	size     int   // tasks that wait
	accepted int64 // tasks pushed since the queue was made

	head  *segment
	free  *segment
	nfree int
}

// Push appends an accepted task. It is small enough to be inlined into Executor.Execute.
func (q *segments) Push(task func()) {
	if q.room == 0 {
		q.grow()
	}
	q.tail.tasks[(SegmentSize-q.room)&(SegmentSize-1)] = task // the mask only saves a check of the bounds
	q.room--
	q.size++
	q.accepted++
}

// grow appends a segment, whose slots are clear.
func (q *segments) grow() {
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
	q.tail, q.room = s, SegmentSize
}

// length returns how many tasks are written in the segment at the head. There must be a
// segment.
func (q *segments) length() int {
	if q.head == q.tail {
		return SegmentSize - q.room
	}
	return SegmentSize
}

// removeHead takes the segment at the head out of the queue. There must be a segment.
func (q *segments) removeHead() *segment {
	s := q.head
	q.head, s.next = s.next, nil
	if q.head == nil {
		q.tail, q.room = nil, 0
	}
	return s
}

// recycle keeps a spent segment, whose slots are clear, for reuse, or drops it.
func (q *segments) recycle(s *segment) {
	if q.nfree == maxFreeSegments {
		return
	}
	s.next, q.free = q.free, s
	q.nfree++
}

// Size returns how many tasks wait; of a Queue, without the batch in hand.
func (q *segments) Size() int { return q.size }

// Accepted returns how many tasks have been pushed.
func (q *segments) Accepted() int64 { return q.accepted }
