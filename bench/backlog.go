package bench

import (
	"fmt"
	"time"

	"eventide/core"
)

// Shutdown is measured by the number of queued tasks, of hooks, or of pending timers
// (which are cancelled, the default) at the call.

// backlogCases end executors that have n tasks queued. The rival is a channel with
// room for all of them.
func backlogCases(n int) Group {
	g := Group{{
		Workload: fmt.Sprintf("Shutdown/tasks=%d", n), Impl: "channel", Against: "channel", Unit: "stop",
		Open: runFunc(func(ops int) (Slice, error) { return stops(ops, func() (stopper, error) { return loadedChannel(n) }) }).open,
	}}
	for _, x := range coreAndLoop {
		g = append(g, stopCase(fmt.Sprintf("Shutdown/tasks=%d", n), "channel", x, func(ex stoppable) error {
			nothing := func() {}
			for range n {
				if err := ex.Execute(nothing); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	return g
}

func hookCases(n int) Group {
	var g Group
	for _, x := range coreAndLoop {
		g = append(g, stopCase(fmt.Sprintf("Shutdown/hooks=%d", n), "", x, func(ex stoppable) error {
			nothing := func() {}
			for range n {
				if _, err := ex.AddShutdownHook(nothing); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	return g
}

func pendingTimerCases(n int) Group {
	var g Group
	for _, x := range coreAndLoop {
		g = append(g, stopCase(fmt.Sprintf("Shutdown/timers=%d", n), "", x, func(ex stoppable) error {
			for range n {
				if _, err := ex.Schedule(time.Hour, neverDue); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	return g
}

// stoppable is what core.Executor and core.EventLoop have in common.
type stoppable interface {
	core.EventExecutor
	AddShutdownHook(func()) (func() bool, error)
}

// coreAndLoop are the executors whose end is measured.
var coreAndLoop = append([]implementation{{"core", NewCore}, {"pool", newPool}}, bareLoops...)

// newPool returns a pool of one worker, so that one task keeps it busy.
func newPool() (Executor, error) {
	p, err := core.NewPool(1)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// A stopper is ready to be stopped: release lets its one running task end.
type stopper struct {
	release func()
	stop    func() error // returns at the end
	after   func()       // cleanup after the end, which is not timed; or nil
}

func stopCase(workload, against string, x implementation, load func(stoppable) error) Case {
	prepare := func() (stopper, error) { return loadedCore(x.open, load) }
	return Case{
		Workload: workload, Impl: x.impl, Against: against, Unit: "stop",
		Open: runFunc(func(ops int) (Slice, error) { return stops(ops, prepare) }).open,
	}
}

// loadedCore returns an executor that a task keeps busy while it is loaded: no part of
// the load runs before the measurement begins.
func loadedCore(open func() (Executor, error), load func(stoppable) error) (stopper, error) {
	x, err := open()
	if err != nil {
		return stopper{}, err
	}
	ex := x.(stoppable)
	held, running := make(chan struct{}), make(chan struct{})
	err = ex.Execute(func() {
		close(running)
		<-held
	})
	if err == nil {
		<-running
		err = load(ex)
	}
	if err != nil {
		close(held)
		_ = x.Close()
		return stopper{}, err
	}
	return stopper{
		release: func() { close(held) },
		stop:    x.Close,
	}, nil
}

func loadedChannel(n int) (stopper, error) {
	c := &channelExecutor{tasks: make(chan func(), n+1), done: make(chan struct{})}
	go c.run()
	held, running := make(chan struct{}), make(chan struct{})
	c.tasks <- func() {
		close(running)
		<-held
	}
	<-running
	nothing := func() {}
	for range n {
		c.tasks <- nothing
	}
	return stopper{release: func() { close(held) }, stop: c.Close}, nil
}

// stops measures n ends, each from the release of the running task, just before the
// call of stop, until stop returns.
func stops(n int, prepare func() (stopper, error)) (Slice, error) {
	samples := newLatencies()
	for range n {
		s, err := prepare()
		if err != nil {
			return Slice{}, err
		}
		settle()
		began := time.Now()
		s.release()
		err = s.stop()
		took := time.Since(began)
		if s.after != nil {
			s.after()
		}
		if err != nil {
			return Slice{}, err
		}
		if err := samples.add(took); err != nil {
			return Slice{}, err
		}
	}
	return samples.slice(0), nil
}
