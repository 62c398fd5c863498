package tracked_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/tracked"
	"eventide/props/exectest"
	"eventide/props/history"
)

// subject is a group as the conformance kit drives one.
type subject struct{ *tracked.Group }

func (s subject) Shutdown(quiet, timeout time.Duration) error {
	_, err := s.ShutdownGracefully(quiet, timeout)
	return err
}

func (s subject) Done() <-chan struct{} { return s.Termination().Done() }
func (s subject) ShutdownNow()          { s.Group.Shutdown() }
func (s subject) State() history.State  { return history.State(s.Group.State()) }

// TestConformance runs the kit against a group: it keeps every guarantee that a number of
// goroutines without an order can keep.
func TestConformance(t *testing.T) {
	r := exectest.Run(t, func() exectest.Subject {
		return subject{tracked.NewGroup(tracked.WithLogger(slog.New(slog.DiscardHandler)))}
	}, exectest.Without("G2", "functions overlap"), exectest.Without("G4", "functions begin in any order"))
	t.Log("\n" + r.String())
}

// TestStepOfAPlan: a group is what a process.Plan shuts down.
var _ interface {
	ShutdownGracefully(quiet, timeout time.Duration) (*core.Termination, error)
	Shutdown() *core.Termination
	Termination() *core.Termination
	Running() string
} = (*tracked.Group)(nil)

func ExampleGroup() {
	var g tracked.Group
	letters := make(chan string)
	err := g.Go("mailer", func(ctx context.Context) error {
		for {
			select {
			case <-letters: // send it
			case <-g.ShutdownContext().Done():
				return nil
			}
		}
	})
	if err != nil {
		panic(err)
	}
	letters <- "hello"
	if err := g.Close(); err != nil {
		panic(err)
	}
	// Output:
}
