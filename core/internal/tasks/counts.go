package tasks

// progress is the state of the batch in hand in one word, so that the end of a task changes
// all of its counts at one instant:
//
//	 48..        32..47     16..31  0..15
//	+---------+-----------+-------+------+
//	| running | cancelled |  ran  | left |
//	+---------+-----------+-------+------+
//
// left counts the tasks of the batch that have not ended; running is 1 while the first of
// these has begun.
type progress uint64

const (
	oneLeft      progress = 1
	running      progress = 1 << 48
	progressMask progress = 1<<16 - 1
)

// Ending says how a task ended: it is one unit of the count to increment.
type Ending progress

// The endings of a task.
const (
	Ran       Ending = 1 << 16
	Cancelled Ending = 1 << 32 // skipped because its future was cancelled
)

func (p progress) left() int        { return int(p & progressMask) }
func (p progress) ran() int64       { return int64(p >> 16 & progressMask) }
func (p progress) cancelled() int64 { return int64(p >> 32 & progressMask) }

// notBegun is left without the running task.
func (p progress) notBegun() int { return p.left() - int(p>>48) }

// Counts are the terms of the invariant Accepted = Ran + Cancelled + Pending.
type Counts struct {
	Accepted, Ran, Cancelled int64
	Pending                  int // including the running task
	NotBegun                 int // Pending without the running task
	Running                  bool
}

// Counts returns a consistent snapshot. The lock must be held: otherwise the loop could take a new
// batch between the read of progress and that of ran and cancelled.
func (q *Queue) Counts() Counts {
	p := progress(q.progress.Load())
	return Counts{
		Accepted:  q.accepted,
		Ran:       q.ran + p.ran(),
		Cancelled: q.cancelled + p.cancelled(),
		Pending:   q.size + p.left(),
		NotBegun:  q.size + p.notBegun(),
		Running:   p&running != 0,
	}
}

// Begun returns how many tasks have begun, the running one included: of a running task, its number.
func (c Counts) Begun() int64 { return c.Accepted - int64(c.NotBegun) }

// Add adds the counts of another queue. Running stays that of c.
func (c *Counts) Add(d Counts) {
	c.Accepted += d.Accepted
	c.Ran += d.Ran
	c.Cancelled += d.Cancelled
	c.Pending += d.Pending
	c.NotBegun += d.NotBegun
}
