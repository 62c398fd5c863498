package core_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

func wantEnded(t *testing.T, what string, ctx context.Context, ended bool) {
	t.Helper()
	coretest.Want(t, what, ctx.Err() != nil, ended)
	if ended {
		coretest.WantErr(t, what+": cause", context.Cause(ctx), core.ErrShutdown)
	}
}

// A body that repeats something until the shutdown begins returns then, so that the
// executor ends long before its timeout. Context is still open: tasks are accepted.
func TestG11ShutdownContextEndsWhenTheShutdownBegins(t *testing.T) {
	onBoth(t, func(t *testing.T, ex core.EventExecutor) {
		ctx := ex.ShutdownContext()
		coretest.MustExecute(t, ex, func() {
			<-ctx.Done()
			wantEnded(t, "Context in the body", ex.Context(), false)
			coretest.Must(t, ex.Execute(func() {}))
		})
		synctest.Wait()
		wantEnded(t, "before the call", ctx, false)
		coretest.MustShutdownGracefully(t, ex, 0, time.Hour)
		wantEnded(t, "after the call", ctx, true)
		coretest.Want(t, "Ran", coretest.AwaitDone(t, ex).Ran, 2)
		coretest.Want(t, "the context is always the same", ex.ShutdownContext() == ctx, true)
	})
}

// A context that is asked for after the begin has ended.
func TestG11ShutdownContextAskedForLate(t *testing.T) {
	for name, begin := range map[string]func(ex core.EventExecutor){
		"graceful": func(ex core.EventExecutor) { _, _ = ex.ShutdownGracefully(0, time.Hour) },
		"at once":  func(ex core.EventExecutor) { ex.Shutdown() },
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, ex core.EventExecutor) {
				coretest.MustExecute(t, ex, func() { time.Sleep(time.Second) })
				begin(ex)
				wantEnded(t, "during the shutdown", ex.ShutdownContext(), true)
				coretest.AwaitDone(t, ex)
				wantEnded(t, "after Done", ex.ShutdownContext(), true)
			})
		})
	}
}

func TestG11ShutdownContextOfALoopThatFails(t *testing.T) {
	ex, err := core.NewExecutor(core.WithPoller(&failingPoller{}))
	coretest.Must(t, err)
	ctx := ex.ShutdownContext()
	_ = ex.Execute(func() {}) // starts the loop, which may fail before it accepts
	<-ex.Termination().Done()
	wantEnded(t, "after the failure", ctx, true)
}

// failingPoller fails at the first wait.
type failingPoller struct{}

func (*failingPoller) Wait(core.Deadline) error { return errors.New("broken on purpose") }
func (*failingPoller) Wake()                    {}
func (*failingPoller) Close() error             { return nil }

// ShutdownContext races with the begin of a shutdown: the later of the two ends the context.
func TestG11ShutdownContextRacesTheCall(t *testing.T) {
	for range 200 {
		ex, err := core.NewExecutor()
		coretest.Must(t, err)
		var both sync.WaitGroup
		both.Go(func() { ex.Shutdown() })
		ctx := ex.ShutdownContext()
		both.Wait()
		wantEnded(t, "after the call", ctx, true)
		<-ex.Termination().Done()
	}
}

// The context of a group ends with the begin of the last child's shutdown.
func TestG21ShutdownContextOfAGroup(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := coretest.NewExecutorGroup(t, 2)
		ctx := g.ShutdownContext()
		first := true
		for child := range g.All() {
			coretest.MustExecute(t, child, func() { <-child.ShutdownContext().Done() })
			coretest.MustShutdownGracefully(t, child, 0, time.Hour)
			wantEnded(t, "of the group", ctx, !first)
			first = false
		}
		coretest.AwaitDone(t, g)
		wantEnded(t, "asked for late", g.ShutdownContext(), true)
	})
}
