// Package core stands in for the real one in the gate's own test.
package core

// Cost is what an operation takes, in nanoseconds of a clock that is never late.
const Cost = 100

// Allocs is how many times it allocates.
const Allocs = 0

// Poller stands in for what a loop sleeps on.
type Poller struct{}

// Wake does nothing.
func (Poller) Wake() {}

// Executor stands in for the executor.
type Executor struct {
	wakes  int64
	poller Poller
	sink   []*int64
}

// Execute runs task at once.
func (e *Executor) Execute(task func()) {
	e.sink = e.sink[:0]
	for range Allocs {
		e.sink = append(e.sink, new(int64))
	}
	task()
	e.claimWake()
}

func (e *Executor) claimWake() { e.wakes++ }

// Wakes counts the calls of claimWake.
func (e *Executor) Wakes() int64 { return e.wakes }
