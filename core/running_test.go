package core_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
)

// Running is about this moment: Report.Running stays with the timeout.
func TestG11RunningNamesTheBodyThatRunsNow(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := newExecutor(t, core.WithName("bakery"))
		if got := ex.Running(); got != "" {
			t.Errorf("G11: Running before the first use is %q, want nothing", got)
		}
		mustExecute(t, ex, func() { waitsForContext(ex) })
		mustExecute(t, ex, func() { sleepsThroughTheDeadline(ex) })
		synctest.Wait()
		wantRunning(t, ex.Running(), "waitsForContext")
		mustShutdownGracefully(t, ex, 0, time.Second)
		time.Sleep(2 * time.Second)
		wantRunning(t, ex.Running(), "sleepsThroughTheDeadline")
		wantRunning(t, ex.Termination().Report().Running, "waitsForContext")
		awaitDone(t, ex)
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
		ex := newExecutor(t, core.WithName("bakery"))
		got := ""
		mustExecute(t, ex, func() { got = ex.Running() })
		ex.Shutdown()
		awaitDone(t, ex)
		wantRunning(t, got, "TestG18RunningOnTheLoop")
	})
}
