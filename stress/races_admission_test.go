package stress

import (
	"errors"
	"sync/atomic"
	"time"

	"eventide/core"
)

// submission is one task offered while the executor is being shut down.
type submission struct {
	ex   *core.Executor
	ran  atomic.Int32
	err  error
	late bool // a task was accepted after Shutdown had returned
}

func (s *submission) body() { s.ran.Add(1) }

func (s *submission) shutdown() {
	s.ex.Shutdown()
	s.late = s.ex.Execute(s.body) == nil
}

func (s *submission) drain()    { must(s.ex.ShutdownGracefully(0, longTime)) }
func (s *submission) deadline() { must(s.ex.ShutdownGracefully(time.Nanosecond, time.Nanosecond)) }

func (s *submission) outcome() string {
	if !ended(s.ex) {
		return stuck
	}
	if s.late {
		return "accepted after Shutdown returned"
	}
	return answer(s.err) + ", " + times(s.ran.Load())
}

func submissionRows() []Row {
	return []Row{
		{"accepted, ran once", Acceptable, "The enqueue came before the close."},
		{"refused, never ran", Acceptable, "The close came before the enqueue."},
		{"accepted, never ran", Forbidden, "G3: what was accepted runs before done."},
		{"accepted, ran twice", Forbidden, "G3: what was accepted runs exactly once."},
		{"refused, ran once", Forbidden, "G3: what was refused never runs."},
		{"accepted after Shutdown returned", Forbidden, "G5: Shutdown has closed admission when it returns."},
	}
}

func admissionRaces() []contest {
	race := func(name string, setup func() *submission, submit, end func(*submission)) contest {
		return contest{name: name, run: Race[*submission]{
			Setup:   setup,
			Actors:  []func(*submission){submit, end},
			Outcome: (*submission).outcome,
		}.Run, rows: submissionRows()}
	}
	fresh := func() *submission { return &submission{ex: must(core.NewExecutor())} }
	running := func() *submission { return &submission{ex: started()} }
	execute := func(s *submission) { s.err = s.ex.Execute(s.body) }
	lazy := func(s *submission) { s.err = s.ex.ExecuteLazy(s.body) }
	tail := func(s *submission) { s.err = s.ex.ExecuteAfterIteration(s.body) }
	return []contest{
		race("Execute against Shutdown", running, execute, (*submission).shutdown),
		race("Execute against Shutdown, not started", fresh, execute, (*submission).shutdown),
		race("ExecuteLazy against Shutdown", running, lazy, (*submission).shutdown),
		race("ExecuteAfterIteration against Shutdown", running, tail, (*submission).shutdown),
		race("Execute against a graceful shutdown that is drained", running, execute, (*submission).drain),
		race("Execute against the deadline", running, execute, (*submission).deadline),
	}
}

// started returns an executor whose loop runs.
func started(opts ...core.Option) *core.Executor {
	ex := must(core.NewExecutor(opts...))
	if err := ex.Execute(nothing); err != nil {
		panic(err)
	}
	return ex
}

// must is for calls that fail only if the test is wrong.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func answer(err error) string {
	switch {
	case err == nil:
		return "accepted"
	case errors.Is(err, core.ErrRejected):
		return "refused"
	}
	return err.Error()
}

func times(n int32) string {
	switch n {
	case 0:
		return "never ran"
	case 1:
		return "ran once"
	case 2:
		return "ran twice"
	}
	return "ran often"
}
