package core

import "sync/atomic"

// segmentSize is the number of tasks in one segment of a taskQueue: large enough
// that taking a segment costs little per task, small enough that its counts fit
// the fields of progress.
const segmentSize = 256

// maxFreeSegments is how many spent segments a queue keeps for reuse. The rest
// of a burst goes back to the garbage collector (G24).
const maxFreeSegments = 4

type segment struct {
	next  *segment
	n     int // tasks written
	tasks [segmentSize]func()
}

// taskQueue is a FIFO with many producers and one consumer, which takes a
// segment at a time and runs it without a lock.
//
// It is also the place where conservation lives (G20): accepted is counted when
// a task comes in, ran and cancelled when it ends, and what is pending is read
// off the segments: four counts, each made on its own, and a snapshot of them
// under the executor's lock adds up at any instant.
type taskQueue struct {
	// Guarded by Executor.mu.
	head, tail *segment // not yet taken
	size       int      // tasks in head..tail
	free       *segment
	nfree      int
	accepted   int64
	ran        int64 // of the batches before the one in hand
	cancelled  int64 // likewise

	_ [64]byte // producers write above, the loop below, both for each task

	// Loop only.
	batch *segment
	pos   int
	first int64 // number of tasks taken before batch
	mark  progress

	// Atomic: mark, published after each task.
	progress atomic.Uint64

	_ [64]byte
}

// progress is what has become of the batch in hand, in one word, so that "one
// more ran" and "one less is pending" are the same instant for every reader:
//
//	 48..        32..47     16..31  0..15
//	+---------+-----------+-------+------+
//	| running | cancelled |  ran  | left |
//	+---------+-----------+-------+------+
//
// left counts the tasks of the batch that have not ended; running is 1 while
// the first of them has begun.
type progress uint64

const (
	oneLeft      progress = 1
	oneRan       progress = 1 << 16
	oneCancelled progress = 1 << 32
	running      progress = 1 << 48
	progressMask progress = 1<<16 - 1
)

func (p progress) left() int        { return int(p & progressMask) }
func (p progress) ran() int64       { return int64(p >> 16 & progressMask) }
func (p progress) cancelled() int64 { return int64(p >> 32 & progressMask) }

// notBegun is left without the task that is running.
func (p progress) notBegun() int { return p.left() - int(p>>48) }

// push appends an accepted task. Requires Executor.mu.
func (q *taskQueue) push(task func()) {
	s := q.tail
	if s == nil || s.n == segmentSize {
		s = q.grow()
	}
	s.tasks[s.n] = task
	s.n++
	q.size++
	q.accepted++
}

func (q *taskQueue) grow() *segment {
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

// take replaces the batch in hand, which must be spent, by the oldest segment,
// and returns its number of tasks. Requires Executor.mu; loop only.
func (q *taskQueue) take() int {
	spent := q.batch
	q.ran += q.mark.ran()
	q.cancelled += q.mark.cancelled()
	q.first += int64(q.pos)
	q.pos, q.batch, q.mark = 0, q.head, 0
	if q.batch != nil {
		q.head = q.batch.next
		if q.head == nil {
			q.tail = nil
		}
		q.batch.next = nil
		q.mark = progress(q.batch.n)
		q.size -= q.batch.n
	}
	q.progress.Store(uint64(q.mark))
	if spent != nil {
		q.recycle(spent)
	}
	return q.mark.left()
}

// recycle keeps a spent segment for reuse, or lets it go. Its slots were cleared
// as the tasks began.
func (q *taskQueue) recycle(s *segment) {
	if q.nfree == maxFreeSegments {
		return
	}
	s.n, s.next, q.free = 0, q.free, s
	q.nfree++
}

// left returns the tasks of the batch in hand that have not ended. Loop only.
func (q *taskQueue) left() int { return q.mark.left() }

// begun returns how many tasks have begun since the start. Loop only.
func (q *taskQueue) begun() int64 { return q.first + int64(q.pos) }

// resume publishes that the next task begins now. Loop only.
func (q *taskQueue) resume() { q.set(q.mark | running) }

func (q *taskQueue) set(p progress) {
	q.mark = p
	q.progress.Store(uint64(p))
}

// next returns the next task of the batch and forgets it. Loop only.
func (q *taskQueue) next() func() {
	slot := &q.batch.tasks[q.pos]
	task := *slot
	*slot = nil
	q.pos++
	return task
}

// end publishes that the task which next returned is over: one ran, or one was
// cancelled, and one less is left. goesOn says that the next one begins in the same
// instant; if not, or if there is none left, none is running.
func (q *taskQueue) end(one progress, goesOn bool) {
	p := q.mark + one - oneLeft
	if !goesOn || p&progressMask == 0 {
		p &^= running
	}
	q.mark = p
	q.progress.Store(uint64(p))
}

// release lets go of all memory. Requires Executor.mu, and an empty queue.
func (q *taskQueue) release() {
	q.take()
	q.free, q.nfree = nil, 0
}

// taskCounts are the terms of conservation: accepted = ran + cancelled + pending.
type taskCounts struct {
	accepted, ran, cancelled int64
	pending                  int // a running body included
	notBegun                 int // pending without it
	running                  bool
}

// counts returns a consistent snapshot. Requires Executor.mu, which keeps the
// loop from taking a new batch between the two reads.
func (q *taskQueue) counts() taskCounts {
	p := progress(q.progress.Load())
	return taskCounts{
		accepted:  q.accepted,
		ran:       q.ran + p.ran(),
		cancelled: q.cancelled + p.cancelled(),
		pending:   q.size + p.left(),
		notBegun:  q.size + p.notBegun(),
		running:   p&running != 0,
	}
}

func (c taskCounts) plus(d taskCounts) taskCounts {
	return taskCounts{
		accepted:  c.accepted + d.accepted,
		ran:       c.ran + d.ran,
		cancelled: c.cancelled + d.cancelled,
		pending:   c.pending + d.pending,
		notBegun:  c.notBegun + d.notBegun,
		running:   c.running || d.running,
	}
}
