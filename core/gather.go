package core

import "eventide/core/internal/tasks"

// A loop that is as fast as its producers finds a few tasks each time it looks, and for these few tasks
// the cache lines of the mutex and of the queue move from the producers' processor to the loop's and back.
// So after a batch that other goroutines submitted and that did not fill its segment, the loop gathers: it
// waits for about a microsecond before it takes the mutex again, and finds a larger batch. With two
// and four producers a task then takes 0.6 to 0.9 of the time (BenchmarkExecute of package bench). A task waits longer
// by the microsecond at most, and only under such load.
//
// Do not gather after each batch: a body that submits to its own loop has nobody to wait for, and a task
// that comes alone would be late.

const (
	// gatherFrom is the shortest backlog of other goroutines after which the loop gathers.
	gatherFrom = 16

	// gatherSteps is how many steps gather computes: 1 to 2 microseconds. 300 steps gain half as much, and
	// 2000 cost a quick producer more than they gain.
	gatherSteps = 800
)

// checkBacklog is called at the backlogs of checksAt, and reports whether the caller of Execute must
// yield. Requires mu.
func (e *Executor) checkBacklog() (late bool) {
	e.markOutside()
	return e.watch.mustYield(e.queued, e.tasks.Progress())
}

// markOutside records a backlog that a goroutine other than the loop lets grow. Requires mu.
func (e *Executor) markOutside() {
	if !e.outside && e.queued >= gatherFrom {
		e.outside = !e.InEventLoop()
	}
}

// takeBatch makes the oldest segment the batch in hand, which must be spent. Requires mu; loop only.
func (e *Executor) takeBatch() {
	n := e.tasks.Take()
	e.queued -= n
	e.gathers, e.outside = e.outside && n < tasks.SegmentSize, false
}

// gather waits for producers, unless there is something else to do. It computes instead of reading
// a clock, which stands still in virtual time, and instead of yielding, which takes longer. Loop only.
func (e *Executor) gather() {
	e.gathers = false
	if e.seen < StateShuttingDown && !e.news.Load() {
		compute(gatherSteps)
	}
}

// compute takes time in proportion to steps, and touches no memory.
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
