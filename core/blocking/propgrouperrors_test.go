package blocking_test

import (
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

var errClock = errors.New("the clock is broken")

// breakableClock panics in Now once it is broken.
type breakableClock struct{ broken atomic.Bool }

func (c *breakableClock) Now() time.Time {
	if c.broken.Load() {
		panic(errClock)
	}
	return time.Now()
}

func (c *breakableClock) AfterFunc(d time.Duration, f func()) core.Alarm { return time.AfterFunc(d, f) }

// TestPropG15ErrorsOfExecutors: executors that fail at the same time each leave their error, with their
// name, in the error of the group (G15). With the race detector it also checks that the group collects
// the errors with its lock held: one that is added later is lost if another executor ends the group.
func TestPropG15ErrorsOfExecutors(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		clock := &breakableClock{}
		g, err := blocking.NewGroup(0, core.WithClock(clock), core.WithLogger(slog.New(slog.DiscardHandler)))
		coretest.Must(t, err)
		for range rapid.IntRange(1, 6).Draw(rt, "executors") {
			ours, theirs := net.Pipe()
			defer func() { _ = theirs.Close() }()
			_, err := g.Register(ours, echo())
			coretest.Must(t, err)
		}
		var executors []*core.EventLoop
		for ex := range g.All() {
			executors = append(executors, ex.(*core.EventLoop))
		}
		begin := make(chan struct{})
		for _, ex := range executors {
			coretest.MustExecute(t, ex, func() {
				_, _ = ex.Schedule(time.Hour, func() {}) // so the loop reads the clock behind this body
				<-begin
				clock.broken.Store(true)
			})
		}
		if rapid.Bool().Draw(rt, "shutdown before the failures") {
			_, err := g.ShutdownGracefully(time.Hour, time.Hour)
			coretest.Must(t, err)
		}
		close(begin)
		for _, ex := range executors {
			coretest.Await(t, "the end of an executor", ex.Termination().Done())
		}
		coretest.Await(t, "the end of the group", g.Shutdown().Done())
		all, _ := g.Termination().Err().(interface{ Unwrap() []error })
		if all == nil || len(all.Unwrap()) != len(executors) || !errors.Is(g.Termination().Err(), errClock) {
			rt.Fatalf("G15: the error of the group is %v, want one of each of %d executors", g.Termination().Err(), len(executors))
		}
		for i, ex := range executors {
			if !slices.ContainsFunc(all.Unwrap(), func(err error) bool { return strings.HasPrefix(err.Error(), ex.Name()+": ") }) {
				rt.Errorf("G15: no error of executor %d, %s, in %v", i, ex.Name(), all)
			}
		}
	})
}
