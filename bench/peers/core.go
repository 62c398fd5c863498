package peers

import (
	"context"
	"time"

	"eventide/core"
)

// ofCore is what an Executor of core, the one inside an EventLoop, and a Pool have in common.
type ofCore interface {
	core.EventExecutor
	executor
}

// coreExecutor is one of these.
type coreExecutor struct{ ofCore }

func (x coreExecutor) Parks() int64 { return x.Stats().Parks }

func newCore() (ofCore, error) { return core.NewExecutor() }

// newCoreLoop returns the executor of an event loop: all its methods, epoll below.
func newCoreLoop() (ofCore, error) {
	l, err := core.NewEventLoop()
	if err != nil {
		return nil, err
	}
	return &l.Executor, nil
}

func coreImpl() impl {
	im := implOf(newCore)
	im.lacks = map[string]string{"echo": "an Executor has no I/O"}
	return im
}

// corePoolImpl is a pool of one worker, as those of ants and pond are here.
func corePoolImpl() impl {
	im := implOf(func() (ofCore, error) { return core.NewPool(1) })
	im.lacks = map[string]string{"echo": "a pool has no I/O"}
	return im
}

func coreLoopImpl() impl {
	im := implOf(newCoreLoop)
	im.echo = func() (echoServer, error) { return coreEcho() }
	return im
}

// coreBlockingImpl is the echo server on loops that block a thread in epoll_wait, and
// nothing else: what it costs beside the parked ones is measured by package bench.
func coreBlockingImpl() impl {
	none := "not asked: see core-loop, and loop-blocking of package bench"
	return impl{
		version: goVersion() + " this-tree",
		echo:    func() (echoServer, error) { return coreEcho(core.WithBlockingEpoll()) },
		lacks:   map[string]string{"tasks": none, "timers": none, "quiet": none},
	}
}

// coreOwnImpl is core with a caller that schedules each cancelled timer again in its own memory.
func coreOwnImpl() impl {
	im := coreImpl()
	im.timers = func() (timers, error) {
		x, err := core.NewExecutor()
		if err != nil {
			return nil, err
		}
		return &ownTimers{Executor: x}, nil
	}
	return im
}

// ownTimers keeps the timers that were cancelled.
type ownTimers struct {
	*core.Executor
	free []*ownTimer
}

type ownTimer struct {
	core.Timer
	of *ownTimers
}

func (t *ownTimers) schedule(delay time.Duration, f func()) (canceller, error) {
	var own *ownTimer
	if last := len(t.free) - 1; last >= 0 {
		own, t.free = t.free[last], t.free[:last]
	} else {
		own = &ownTimer{of: t}
	}
	return own, t.ScheduleTimer(&own.Timer, delay, f)
}

func (t *ownTimer) Cancel() bool {
	t.of.free = append(t.of.free, t)
	return t.Timer.Cancel()
}

func (t *ownTimers) fence() error { return startOf(t) }
func (t *ownTimers) close() error { return t.Close() }

func implOf(open func() (ofCore, error)) impl {
	return impl{
		version: goVersion() + " this-tree",
		open: func() (executor, error) {
			x, err := open()
			if err != nil {
				return nil, err
			}
			return coreExecutor{x}, nil
		},
		timers: func() (timers, error) {
			x, err := open()
			if err != nil {
				return nil, err
			}
			return coreTimers{coreExecutor{x}}, nil
		},
		quiet: func(quiet time.Duration) (func(), error) {
			x, err := open()
			if err != nil {
				return nil, err
			}
			return func() {
				t, err := x.ShutdownGracefully(quiet, time.Hour)
				if err == nil {
					_, err = t.Wait(context.Background())
				}
				if err != nil {
					panic(err)
				}
			}, startOf(x)
		},
	}
}

// startOf lets x run a task.
func startOf(x executor) error {
	done := make(chan struct{})
	if err := x.Execute(func() { close(done) }); err != nil {
		return err
	}
	<-done
	return nil
}

type coreTimers struct{ coreExecutor }

func (t coreTimers) schedule(delay time.Duration, f func()) (canceller, error) {
	timer, err := t.Schedule(delay, f)
	return timer, err
}

func (t coreTimers) fence() error { return startOf(t) }
func (t coreTimers) close() error { return t.Close() }
