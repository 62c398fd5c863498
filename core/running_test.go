package core_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tracked"
)

// Running is about this moment: Report.Running stays with the timeout.
func TestG11RunningNamesTheBodyThatRunsNow(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t, core.WithName("bakery"))
		if got := ex.Running(); got != "" {
			t.Errorf("G11: Running before the first use is %q, want nothing", got)
		}
		coretest.MustExecute(t, ex, func() { waitsForContext(ex) })
		coretest.MustExecute(t, ex, func() { sleepsThroughTheDeadline(ex) })
		synctest.Wait()
		wantRunning(t, ex.Running(), "waitsForContext")
		coretest.MustShutdownGracefully(t, ex, 0, time.Second)
		time.Sleep(2 * time.Second)
		wantRunning(t, ex.Running(), "sleepsThroughTheDeadline")
		wantRunning(t, ex.Termination().Report().Running, "waitsForContext")
		coretest.AwaitDone(t, ex)
		if got := ex.Running(); got != "" {
			t.Errorf("G11: Running after done is %q, want nothing", got)
		}
	})
}

func wantRunning(t *testing.T, got, function string) {
	t.Helper()
	for _, part := range []string{"bakery: a task", function} {
		if !strings.Contains(got, part) {
			t.Errorf("G11: Running is %q, want %q in it", got, part)
		}
	}
}

// Running may be called on the loop, and names the body that calls it (G18).
func TestG18RunningOnTheLoop(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t, core.WithName("bakery"))
		got := ""
		coretest.MustExecute(t, ex, func() { got = ex.Running() })
		ex.Shutdown()
		coretest.AwaitDone(t, ex)
		wantRunning(t, got, "TestG18RunningOnTheLoop")
	})
}

// amongThousands starts goroutines that wait, and returns what ends them. Call it in a bubble.
func amongThousands() (leave func()) {
	gate := make(chan struct{})
	var others sync.WaitGroup
	for range 2000 {
		others.Go(func() { <-gate })
	}
	synctest.Wait()
	return func() { close(gate); others.Wait() }
}

// The dump of all stacks begins with those of older goroutines: it is read again, with more room, until
// it has the one that is asked for.
func TestG11RunningIsFoundAmongThousandsOfGoroutines(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		leave := amongThousands()
		ex := coretest.NewExecutor(t, core.WithName("bakery"))
		coretest.MustExecute(t, ex, func() { waitsForContext(ex) })
		synctest.Wait()
		wantRunning(t, ex.Running(), "waitsForContext")
		leave()
		coretest.MustShutdownGracefully(t, ex, 0, time.Second)
		coretest.AwaitDone(t, ex)
	})
}

// A body that asks for its own stack stops no other goroutine for it: the text has the stack of its
// goroutine, and the stacks of the others are not read.
func TestRunningOfItsCallerReadsOneStack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		leave := amongThousands()
		ex := coretest.NewExecutor(t, core.WithName("bakery"))
		coretest.OnLoop(t, ex, func() {
			text := ""
			n := coretest.Allocated(func() { text = ex.Running() })
			wantRunning(t, text, "TestRunningOfItsCallerReadsOneStack")
			if n > 32<<10 {
				t.Errorf("Running has allocated %d bytes, want no dump of all stacks", n)
			}
		})
		leave()
	})
}

// To read stacks stops all goroutines, so Running reads none if nothing runs.
func TestRunningOfNothingReadsNoStack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex, pool, group := coretest.NewExecutor(t), coretest.NewPool(t, 1), tracked.NewGroup()
		coretest.OnLoop(t, ex, func() {})
		coretest.OnLoop(t, pool, func() {})
		synctest.Wait()
		for name, running := range map[string]func() string{"executor": ex.Running, "pool": pool.Running, "tracked group": group.Running} {
			text := ""
			if n := coretest.Allocated(func() { text = running() }); n > 32<<10 || text != "" {
				t.Errorf("Running of a %s that runs nothing has allocated %d bytes for %q, want no dump of all stacks", name, n, text)
			}
		}
		group.Shutdown()
	})
}
