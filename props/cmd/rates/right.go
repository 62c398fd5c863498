package main

import (
	"fmt"
	"log/slog"
	"time"

	"eventide/core"
	"eventide/core/tracked"
	"eventide/props/exectest"
	"eventide/props/exectest/subjects"
)

// allRight returns the correct executors: those of package subjects, and core's.
func allRight() []subjects.Subject {
	quiet := core.WithLogger(slog.New(slog.DiscardHandler))
	overlap := []exectest.Option{
		exectest.Without("G2", "bodies of two workers overlap"), exectest.Without("G4", "tasks of two workers have no order"),
	}
	return append(subjects.Right(),
		subjects.Subject{Name: "core.Executor", New: func() exectest.Subject {
			return ofCore{must(core.NewExecutor(quiet))}
		}},
		subjects.Subject{Name: "core.Pool of three workers", Options: overlap, New: func() exectest.Subject {
			return ofCore{must(core.NewPool(3, quiet))}
		}},
		subjects.Subject{Name: "tracked.Group", Options: overlap, New: func() exectest.Subject {
			return ofCore{tracked.NewGroup(tracked.WithLogger(slog.New(slog.DiscardHandler)))}
		}},
	)
}

// ofCore is an executor or a pool of core.
type ofCore struct{ graceful }

// graceful is what the executors and groups of core have in common.
type graceful interface {
	Execute(task func()) error
	ShutdownGracefully(quiet, timeout time.Duration) (*core.Termination, error)
	Termination() *core.Termination
}

func (s ofCore) Shutdown(quiet, timeout time.Duration) error {
	_, err := s.ShutdownGracefully(quiet, timeout)
	return err
}

func (s ofCore) Done() <-chan struct{} { return s.Termination().Done() }

// must panics for an error of a constructor with valid arguments.
func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("rates: %v", err))
	}
	return v
}
