package core_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// poolTimeout is a graceful shutdown of a pool in which bodies run until a time after the call.
type poolTimeout struct {
	size, queued            int
	running                 []string // kinds of the bodies
	release, quiet, timeout time.Duration
}

// TestPropPoolG11TheTimeoutNamesWhatIsLeft: if work is left when the timeout of a graceful shutdown of a pool passes, one
// record at Warn has the number of tasks and each body that runs, and the Report has these bodies too. If no work is left, but the
// quiet period has not ended, the shutdown has timed out, and nothing is logged.
func TestPropPoolG11TheTimeoutNamesWhatIsLeft(t *testing.T) {
	millis := func(t *rapid.T, label string, of ...int) time.Duration {
		return time.Duration(rapid.SampledFrom(of).Draw(t, label)) * time.Millisecond
	}
	rapid.Check(t, func(rt *rapid.T) {
		p := poolTimeout{size: rapid.IntRange(1, 3).Draw(rt, "size"), release: millis(rt, "release", 300, 900, 2000), timeout: millis(rt, "timeout", 0, 1000)}
		p.running = rapid.SliceOfN(rapid.SampledFrom([]string{"task", "timer", "listener"}), 0, p.size).Draw(rt, "running")
		if len(p.running) == p.size { // else the tasks run
			p.queued = rapid.IntRange(0, 3).Draw(rt, "queued")
		}
		if p.timeout > 0 {
			p.quiet = millis(rt, "quiet", 0, 500)
		}
		checkInBubble(t, rt, func(t *testing.T) string { return p.run(t) })
	})
}

// run returns a description of the first difference, or "".
func (p poolTimeout) run(t *testing.T) string {
	logger, log := textLogger()
	ex := coretest.NewPool(t, p.size, core.WithLogger(logger), core.WithName("bakery"))
	coretest.OnLoop(t, ex, func() {})
	synctest.Wait() // the worker sleeps
	gate, pending := make(chan struct{}), p.queued
	for _, kind := range p.running {
		body := func() { <-gate }
		switch kind {
		case "task":
			pending++
			coretest.MustExecute(t, ex, body)
		case "timer":
			mustSchedule(t, ex, 0, body)
		default:
			promise := core.NewPromise[int](ex)
			promise.Future().OnDone(func(int, error) { body() })
			promise.TrySuccess(1)
		}
		synctest.Wait()
	}
	for range p.queued {
		coretest.MustExecute(t, ex, func() {})
	}
	coretest.MustShutdownGracefully(t, ex, p.quiet, p.timeout)
	time.Sleep(p.release)
	close(gate)
	report := coretest.AwaitDone(t, ex)
	synctest.Wait()
	busy, restarts := len(p.running) > 0, pending > 0 || strings.Contains(strings.Join(p.running, " "), "timer")
	quietEnds := p.quiet // no listener restarts the quiet period, and it does not end beside one
	if restarts {
		quietEnds += p.release
	} else if busy {
		quietEnds = max(p.quiet, p.release)
	}
	timedOut, left := quietEnds > p.timeout, busy && p.release > p.timeout
	want := ""
	if left {
		want = fmt.Sprintf("level=WARN msg=\"timeout of the graceful shutdown passed\" executor=bakery pending=%d running=\"bakery: a %s has been running for %v:", pending, p.running[0], p.timeout)
	}
	text := log.String()
	if strings.Count(text, "\n") != strings.Count(want, "level=") || !strings.Contains(text, want) {
		return fmt.Sprintf("G11: %+v: the log is %q, want %q", p, text, want)
	}
	bodies := 0
	for _, kind := range p.running {
		if left {
			bodies += strings.Count(report.Running, fmt.Sprintf("bakery: a %s has been running for %v:\ngoroutine ", kind, p.timeout))
		}
	}
	if report.TimedOut != timedOut || (report.Running != "") != left || left && bodies < len(p.running) {
		return fmt.Sprintf("G11: %+v: timed out %v, want %v; running %q", p, report.TimedOut, timedOut, report.Running)
	}
	return ""
}
