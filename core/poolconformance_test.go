package core_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/props/exectest"
	"eventide/props/history"
)

// poolSubject is a pool as the conformance kit drives one.
type poolSubject struct{ *core.Pool }

func (s poolSubject) Shutdown(quiet, timeout time.Duration) error {
	_, err := s.ShutdownGracefully(quiet, timeout)
	return err
}

func (s poolSubject) ShutdownNow()          { s.Pool.Shutdown() }
func (s poolSubject) Done() <-chan struct{} { return s.Termination().Done() }
func (s poolSubject) State() history.State  { return history.State(s.Pool.State()) }

func (s poolSubject) ScheduleTimer(delay time.Duration, task func()) (exectest.Timer, error) {
	return s.Pool.Schedule(delay, task)
}

func (s poolSubject) Schedule(delay time.Duration, task func()) (func() bool, error) {
	t, err := s.Pool.Schedule(delay, task)
	if err != nil {
		return nil, err
	}
	return t.Cancel, nil
}

func (s poolSubject) Submit(task func() error) exectest.Future {
	return poolFuture{core.Submit(s.Pool, func() (struct{}, error) { return struct{}{}, task() })}
}

func (s poolSubject) Stats() history.Stats {
	c := s.Pool.Stats()
	return history.Stats{Accepted: int(c.Accepted), Ran: int(c.Ran), Cancelled: int(c.Cancelled), Pending: int(c.Pending)}
}

type poolFuture struct{ *core.Future[struct{}] }

func (f poolFuture) Err() error {
	select {
	case <-f.Done():
		_, err := f.Wait(context.Background())
		return err
	default:
		return nil
	}
}

func (f poolFuture) Refused() bool { return errors.Is(f.Err(), core.ErrRejected) }

// TestPoolConforms runs the kit against pools. A pool of size 1 keeps the guarantees of an
// executor; for a larger one the kit reports which it does not keep.
func TestPoolConforms(t *testing.T) {
	overlap := []exectest.Option{
		exectest.Without("G2", "bodies overlap"),
		exectest.Without("G4", "tasks that two workers take begin at the same time"),
	}
	for _, c := range []struct {
		name string
		size int
		core []core.Option
		kit  []exectest.Option
	}{
		{name: "one", size: 1},
		{name: "one, bounded", size: 1, core: []core.Option{core.WithMaxPendingTasks(16)}, kit: []exectest.Option{exectest.QueueBound(16)}},
		{name: "one, timers run when due", size: 1, core: []core.Option{core.WithTimersAtShutdown(core.RunDueTimers)}, kit: []exectest.Option{exectest.Timers(history.RunDueTimers)}},
		{name: "one, timers run until the timeout", size: 1, core: []core.Option{core.WithTimersAtShutdown(core.RunTimersUntilTimeout)}, kit: []exectest.Option{exectest.Timers(history.RunTimersUntilTimeout)}},
		{name: "three", size: 3, kit: overlap},
		{name: "three, bounded", size: 3, core: []core.Option{core.WithMaxPendingTasks(16)}, kit: append([]exectest.Option{exectest.QueueBound(16)}, overlap...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			opts := append([]core.Option{core.WithLogger(slog.New(slog.DiscardHandler))}, c.core...)
			r := exectest.Run(t, func() exectest.Subject {
				p, err := core.NewPool(c.size, opts...)
				coretest.Must(t, err)
				return poolSubject{p}
			}, c.kit...)
			t.Log("\n" + r.String())
		})
	}
}
