package watch_test

import (
	"slices"

	"eventide/core"
)

// spiedExecutor and spiedPool keep the meters that the Watcher makes. They embed the type that they
// spy on, so a Watcher accepts them.
type spiedExecutor struct {
	*core.Executor
	of *observed
}

type spiedPool struct {
	*core.Pool
	of *observed
}

func (s spiedExecutor) NewMeter() *core.Meter { return s.of.keep(s.Executor.NewMeter()) }
func (s spiedPool) NewMeter() *core.Meter     { return s.of.keep(s.Pool.NewMeter()) }

func (s *observed) keep(m *core.Meter) *core.Meter {
	s.made = append(s.made, m)
	return m
}

// newMeter returns a meter of our own.
func (s *observed) newMeter() *core.Meter {
	if pool, ok := s.ex.(spiedPool); ok {
		return pool.Pool.NewMeter()
	}
	return s.ex.(spiedExecutor).Executor.NewMeter()
}

// hasOpenMeter reports whether a meter of the Watcher still measures. It is called when none should,
// because a reading takes the samples of an open one.
func (s *observed) hasOpenMeter() bool {
	return slices.ContainsFunc(s.made, func(m *core.Meter) bool { return m.Read().Elapsed > 0 })
}
