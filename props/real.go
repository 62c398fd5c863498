package props

import (
	"time"

	"eventide/core"
	"eventide/props/history"
)

// realSlack is the lateness that is not held against an executor in real time:
// more than a machine that is busy with everything else takes to run a goroutine.
const realSlack = 10 * time.Second

// realPatience is how long a program may take to terminate in real time.
const realPatience = 30 * time.Second

// RunReal runs the program on an event loop of its own epoll instance, in real
// time, with socket pairs as descriptors: what the scripted poller cannot show. Its
// goroutines run at the same time as those of others, so an Outcome says nothing
// about what is left of alarms; see the real lane for goroutines and descriptors.
func RunReal(p Program) (Outcome, error) {
	kernel, err := newSockets()
	if err != nil {
		return Outcome{}, err
	}
	defer kernel.close()
	h := emptyHarness(p, nil)
	h.real = true
	loop, err := core.NewEventLoop(append(h.options(p), core.WithDrain(p.Drain))...)
	if err != nil {
		return Outcome{}, err
	}
	h.fds.loop, h.fds.kernel, h.ex = loop, kernel, &loop.Executor
	return h.run(p), nil
}

// realOp replaces a call that would take too long in real time.
func realOp(op history.Op) history.Op {
	if op == history.OpClose { // waits for a channel that never drains as long as its default timeout
		return history.OpShutdown
	}
	return op
}
