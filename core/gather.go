package core

import "eventide/core/internal/tasks"

// A loop that is as fast as its producers finds a few tasks each time it looks, and for these few tasks
// the cache lines of the mutex and of the queue move from the producers' processor to the loop's and back.
// So while other goroutines submit, the loop gathers: before it takes a further batch it waits, for
// gatherSteps at most, so that it finds a larger one. With two and four producers a task then takes 0.6 to 0.9 of
// the time (BenchmarkExecute of package bench).
//
// Do not gather after each batch: a body that submits to its own loop has nobody to wait for, a task that
// comes alone would be late, and so would the goroutine that waits for the end of a burst. A bounded queue
// would refuse tasks while the loop waits.

const (
	// gatherFrom is the shortest batch that counts.
	gatherFrom = 16

	// gatherAfter is how many such batches of other goroutines the loop must have taken since its last sleep.
	// A burst that wakes the loop is over by then.
	gatherAfter = 3

	// gatherSteps is how many steps gather computes at most: 1 to 2 microseconds on processors of today.
	// 300 steps gain less, and 2000 cost a quick producer more than they gain. After a short batch it computes taskSteps for each task
	// of the batch, so that no task pays for more: the producers may be waiting for the loop.
	gatherSteps = 800
	taskSteps   = 16

	// gatherTurns is what a gathering counts of the busyTurns after which an event loop polls.
	gatherTurns = busyTurns / 4
)

// checkBacklog is called at the backlogs of checksAt, and reports whether the caller of Execute must
// yield. Requires mu.
func (e *Executor) checkBacklog() (late bool) {
	e.markOutside()
	return e.watch.mustYield(e.queued, e.tasks.Progress())
}

// markOutside records a backlog that a goroutine other than the loop lets grow. Requires mu.
func (e *Executor) markOutside() {
	if !e.outside && e.tasks.Size() >= gatherFrom {
		e.outside = !e.InEventLoop()
	}
}

// takeBatch makes the oldest segment, if there is one, the batch in hand, which must be spent. Requires mu; loop only.
func (e *Executor) takeBatch() {
	n := e.tasks.Take()
	e.queued -= n
	if !e.outside {
		return
	}
	e.outside = false
	e.batches++
	if e.batches >= gatherAfter && n < tasks.SegmentSize && e.cfg.limit == unbounded && !e.alone {
		e.gathers = min(gatherSteps, n*taskSteps)
	}
}

// gather waits for producers, unless something else than tasks was posted. It computes instead of reading
// a clock, which stands still in virtual time, and instead of yielding, which takes longer. Loop only.
func (e *Executor) gather() {
	steps := e.gathers
	e.gathers = 0
	if e.seen >= StateShuttingDown || e.news.Load() || e.tails.Left() > 0 {
		return
	}
	e.noise = compute(steps)
	if e.io != nil {
		e.io.turns += gatherTurns
	}
}

// compute takes time in proportion to steps, and touches no memory. The caller keeps the result, so that no
// compiler may leave the call out.
//
//go:noinline
func compute(steps int) (noise uint64) {
	noise = 1
	for range steps { // the numbers of Marsaglia's xorshift generator: each step needs the result of the last
		noise ^= noise << 13
		noise ^= noise >> 7
		noise ^= noise << 17
	}
	return noise
}
