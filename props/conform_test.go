package props

import (
	"errors"
	"testing"
	"time"

	"eventide/core"
	"eventide/props/exectest"
	"eventide/props/history"
	"eventide/props/lane"

	"github.com/stretchr/testify/require"
)

// subject puts core under the public kit, with everything that the kit can ask
// for: what a user does with an executor of their own.
type subject struct{ *core.Executor }

func (s subject) Shutdown(quiet, timeout time.Duration) error {
	_, err := s.ShutdownGracefully(quiet, timeout)
	return err
}

func (s subject) ShutdownNow() { s.Executor.Shutdown() }

func (s subject) Done() <-chan struct{} { return s.Termination().Done() }

func (s subject) ScheduleTimer(delay time.Duration, task func()) (exectest.Timer, error) {
	return s.Executor.Schedule(delay, task)
}

func (s subject) Schedule(delay time.Duration, task func()) (func() bool, error) {
	t, err := s.Executor.Schedule(delay, task)
	if err != nil {
		return nil, err
	}
	return t.Cancel, nil
}

func (s subject) Submit(task func() error) exectest.Future {
	return future{core.Submit(s.Executor, func() (struct{}, error) { return struct{}{}, task() })}
}

func (s subject) Stats() history.Stats { return statsWords(s.Executor.Stats()) }

type future struct{ *core.Future[struct{}] }

func (f future) Err() error {
	_, err := f.Wait(expired)
	if !isClosed(f.Done()) {
		return nil
	}
	return err
}

func (f future) Refused() bool { return errors.Is(f.Err(), core.ErrRejected) }

// TestPropCoreConforms: core passes everything in the kit, and leaves nothing
// out.
func TestPropCoreConforms(t *testing.T) {
	for name, opts := range map[string]struct {
		core []core.Option
		kit  []exectest.Option
	}{
		"default": {},
		"bounded": {[]core.Option{core.WithMaxPendingTasks(16)}, []exectest.Option{exectest.QueueBound(16)}},
		"timers run when due": {
			[]core.Option{core.WithTimersAtShutdown(core.RunDueTimers)}, []exectest.Option{exectest.Timers(history.RunDueTimers)},
		},
		"timers run until the timeout": {
			[]core.Option{core.WithTimersAtShutdown(core.RunTimersUntilTimeout)}, []exectest.Option{exectest.Timers(history.RunTimersUntilTimeout)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			kit := append([]exectest.Option{exectest.Classify(answer), exectest.PlainVariable()}, opts.kit...)
			result := exectest.Run(t, func() exectest.Subject {
				ex, err := core.NewExecutor(opts.core...)
				require.NoError(t, err)
				return subject{ex}
			}, kit...)
			for _, row := range result.Rows {
				if row.Status == exectest.Inconclusive {
					t.Errorf("%s%s: %d programs, none of which exercised it: %s", lane.NotExercised, row.Guarantee, row.Programs, row.Text)
					continue
				}
				require.Equal(t, exectest.Pass, row.Status, "%s: %s", row.Guarantee, row.Text)
			}
		})
	}
}

// TestPropCoreConformsInRealTime runs the same kit outside of a bubble, where
// only some guarantees can be told.
func TestPropCoreConformsInRealTime(t *testing.T) {
	rounds := 4
	if testing.Short() {
		rounds = 1
	}
	result := exectest.Run(t, func() exectest.Subject {
		ex, err := core.NewExecutor()
		require.NoError(t, err)
		return subject{ex}
	}, exectest.Classify(answer), exectest.RealTime(), exectest.Rounds(rounds))
	require.Empty(t, result.Failed(), "%v", result)
}
