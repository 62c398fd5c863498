package conform

import (
	"context"
	"errors"
	"time"

	"eventide/core"
	"eventide/props/exectest"
	"eventide/props/history"
)

// coreSubject is core with everything that the kit can ask for.
type coreSubject struct{ *core.Executor }

func (s coreSubject) Shutdown(quiet, timeout time.Duration) error {
	_, err := s.ShutdownGracefully(quiet, timeout)
	return err
}

func (s coreSubject) ShutdownNow()          { s.Executor.Shutdown() }
func (s coreSubject) Done() <-chan struct{} { return s.Termination().Done() }

func (s coreSubject) State() history.State { return stateOf(s.Executor) }
func (s coreSubject) Stats() history.Stats { return statsOf(s.Executor) }

func (s coreSubject) Schedule(delay time.Duration, task func()) (func() bool, error) {
	return schedule(s.Executor, delay, task)
}

func (s coreSubject) Submit(task func() error) exectest.Future { return submit(s.Executor, task) }

func stateOf(ex core.EventExecutor) history.State {
	return map[core.State]history.State{
		core.StateNotStarted: history.NotStarted, core.StateStarted: history.Started,
		core.StateShuttingDown: history.ShuttingDown, core.StateShutdown: history.Shutdown,
		core.StateTerminated: history.Terminated,
	}[ex.State()]
}

func statsOf(ex core.EventExecutor) history.Stats {
	c := ex.Stats()
	return history.Stats{
		Accepted: int(c.Accepted), Ran: int(c.Ran), Cancelled: int(c.Cancelled),
		Pending: int(c.Pending), Rejected: int(c.Rejected), Panicked: int(c.Panicked), Timers: int(c.Timers),
		Parks: int(c.Parks), Wakes: int(c.Wakes),
	}
}

func schedule(ex core.EventExecutor, delay time.Duration, task func()) (func() bool, error) {
	t, err := ex.Schedule(delay, task)
	if err != nil {
		return nil, err
	}
	return t.Cancel, nil
}

func submit(ex core.EventExecutor, task func() error) exectest.Future {
	return coreFuture{core.Submit(ex, func() (struct{}, error) { return struct{}{}, task() })}
}

type coreFuture struct{ *core.Future[struct{}] }

func (f coreFuture) Err() error {
	select {
	case <-f.Done():
		_, err := f.Wait(context.Background())
		return err
	default:
		return nil
	}
}

func (f coreFuture) Refused() bool { return errors.Is(f.Err(), core.ErrRejected) }

// refusal tells the kit why core refused.
func refusal(err error) history.Outcome {
	switch {
	case errors.Is(err, core.ErrInEventLoop):
		return history.RefusedInLoop
	case errors.Is(err, core.ErrStarting):
		return history.RefusedStarting
	case errors.Is(err, core.ErrQueueFull):
		return history.RefusedQueueFull
	case errors.Is(err, core.ErrShutdown), errors.Is(err, core.ErrShutdownTimeout):
		return history.RefusedClosed
	case errors.Is(err, core.ErrRejected):
		return history.RefusedStartFailed
	}
	return history.RefusedBadArgument
}

func coreSpec() Spec {
	return Spec{
		Name:     "core",
		Open:     inProcess(func() exectest.Subject { return coreSubject{must(core.NewExecutor())} }),
		Options:  []exectest.Option{exectest.Classify(refusal)},
		Promises: ofCore(),
	}
}

// coreLoopSpec is the event loop, whose poller needs real time.
func coreLoopSpec() Spec {
	return Spec{
		Name:     "core-loop",
		Open:     inProcess(func() exectest.Subject { return coreSubject{&must(core.NewEventLoop()).Executor} }),
		Options:  append([]exectest.Option{exectest.Classify(refusal)}, realTime...),
		RealTime: true,
		Promises: ofCore(),
	}
}

func ofCore() []Promise {
	var p []Promise
	for _, g := range Guarantees() {
		p = append(p, Promise{g.Guarantee, "package core: " + g.Source})
	}
	return p
}
