package props

import (
	"time"

	"eventide/core"
	"eventide/props/faults"
	"eventide/props/history"
)

// realSlack is the lateness that is not a violation in real time: more than a busy machine
// takes to run a goroutine.
const realSlack = 10 * time.Second

// realPatience is how long a program may take to terminate in real time.
const realPatience = 30 * time.Second

// RunReal runs the program in real time on an event loop with an epoll instance of its own
// and socket pairs as descriptors, which shows what the scripted poller cannot. System calls of
// the poller may fail (package faults). The Recording does not count alarms. The real lane counts
// goroutines and descriptors.
func RunReal(p Program) (Recording, error) {
	kernel, err := newSockets()
	if err != nil {
		return Recording{}, err
	}
	defer kernel.close()
	h := emptyHarness(p, nil)
	h.real = true
	opts := append(h.options(p), core.WithDrain(p.Drain), core.WithIORatio(p.ratio()))
	if p.Spin != 0 {
		opts = append(opts, core.WithSpin(max(0, p.Spin)))
	}
	var loop *core.EventLoop
	// The rebuild after an injected fault loses no registration.
	faults.Own(&faults.Owner{Polled: func() { h.rec.fault(0) }}, func() { loop, err = core.NewEventLoop(opts...) })
	if err != nil {
		return Recording{}, err
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
