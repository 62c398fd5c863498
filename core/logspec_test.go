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

// TestPropG14PanicsAreLogged: each panic of a body, and of a listener before the start and after the end, is logged once, at Error and with the name of the executor, to
// the logger of the executor or else to slog.Default; but if there is a panic handler, that gets the panic, and
// only its own panics are logged.
func TestPropG14PanicsAreLogged(t *testing.T) {
	fallback := coretest.DefaultLog(t)
	rapid.Check(t, func(rt *rapid.T) {
		kinds := rapid.SliceOfN(rapid.SampledFrom([]string{"task", "tail", "timer", "listener"}), 0, 6).Draw(rt, "panics")
		handler := rapid.SampledFrom([]string{"none", "returns", "panics"}).Draw(rt, "handler")
		own := rapid.Bool().Draw(rt, "logger")
		early, late := rapid.IntRange(0, 2).Draw(rt, "panics before the start"), rapid.IntRange(0, 2).Draw(rt, "panics after the end")
		checkInBubble(t, rt, func(t *testing.T) string {
			logger, log := textLogger()
			opts, handled := []core.Option{core.WithName("bakery")}, 0
			if own {
				opts = append(opts, core.WithLogger(logger))
			} else {
				log = fallback
			}
			if handler != "none" {
				opts = append(opts, core.WithPanicHandler(func(*core.PanicError) {
					handled++
					if handler == "panics" {
						panic("a handler")
					}
				}))
			}
			before, all := len(log.String()), len(log.String())+len(fallback.String())
			ex := coretest.NewExecutor(t, opts...)
			offLoop := func(n int) {
				for range n {
					p := core.NewPromise[int](ex)
					p.Future().OnDone(func(int, error) { panic("a body") })
					p.TrySuccess(1)
				}
			}
			offLoop(early)
			coretest.OnLoop(t, ex, func() {})
			for _, kind := range kinds {
				postBody(t, ex, kind, func() { panic("a body") })
			}
			synctest.Wait()
			ex.Shutdown()
			report := coretest.AwaitDone(t, ex)
			offLoop(late)
			text, panics := log.String()[before:], early+len(kinds)+late
			want, wantHandled := map[string]string{"none": "panic in a body", "panics": "panic in the panic handler"}[handler], panics
			if handler == "none" {
				wantHandled = 0
			}
			lines := 0
			for line := range strings.Lines(text) {
				if strings.Contains(line, fmt.Sprintf("level=ERROR msg=%q executor=bakery panic=", want)) {
					lines++
				}
			}
			wantLines := panics
			if handler == "returns" {
				wantLines = 0
			}
			if lines != wantLines || strings.Count(text, "\n") != lines || handled != wantHandled ||
				report.Panicked != int64(panics-late) || ex.Stats().Panicked != int64(panics) {
				return fmt.Sprintf("G14: of the panics of %v, %d before the start and %d after the end a handler that %s gets %d, %d and %d are counted, and the log is %q",
					kinds, early, late, handler, handled, report.Panicked, ex.Stats().Panicked, text)
			}
			if grown := len(log.String()) + len(fallback.String()) - all; own && grown != len(text) {
				return fmt.Sprintf("G14: slog.Default has %d more bytes, want none beside a logger", grown-len(text))
			}
			return ""
		})
	})
}

// TestPropG11TheTimeoutNamesWhatIsLeft: if work is left when the timeout of a graceful shutdown passes, one record at
// Warn has the number of tasks, those of open channels, and the body that runs, and the Report has that body
// too. If nothing is left, the shutdown has not timed out.
func TestPropG11TheTimeoutNamesWhatIsLeft(t *testing.T) {
	names := map[string]string{"task": "task", "tail": "tail task", "timer": "timer", "listener": "listener"}
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom([]string{"none", "task", "tail", "timer", "listener"}).Draw(rt, "body that runs")
		channels, ended, plain := rapid.IntRange(0, 3).Draw(rt, "channels"), rapid.IntRange(0, 3).Draw(rt, "ended channels"), rapid.IntRange(0, 2).Draw(rt, "plain registrations")
		queued := rapid.IntRange(0, 3).Draw(rt, "queued tasks")
		timeout := time.Duration(rapid.IntRange(0, 1).Draw(rt, "timeout")) * time.Second
		checkInBubble(t, rt, func(t *testing.T) string {
			logger, log := textLogger()
			l, m := modelLoop(t, core.WithLogger(logger), core.WithName("bakery"))
			var open []*core.Registration
			for i := range channels + ended {
				if r := mustRegisterChannel(t, l, m.Open().FD(), &fakeChannel{}); i < ended {
					r.End(core.ChannelEnd{Kind: core.EndDrained})
				} else {
					open = append(open, r)
				}
			}
			for range plain {
				mustRegister(t, l, m.Open().FD(), core.Readable, func(core.Readiness) {})
			}
			coretest.OnLoop(t, l, func() {})
			synctest.Wait()
			gate, pending, running := make(chan struct{}), 0, ""
			if kind != "none" {
				postBody(t, &l.Executor, kind, func() { <-gate })
				synctest.Wait()
				running = fmt.Sprintf("bakery: a %s was running when the timeout passed:\ngoroutine ", names[kind])
				pending = queued
				if kind == "task" || kind == "tail" {
					pending++
				}
				for range queued {
					coretest.MustExecute(t, l, func() {})
				}
			}
			coretest.MustShutdownGracefully(t, l, 0, timeout)
			time.Sleep(2 * time.Second)
			close(gate)
			for _, r := range open {
				r.End(core.ChannelEnd{Kind: core.EndAborted})
			}
			report, text, want := coretest.AwaitDone(t, l), log.String(), ""
			left := pending+channels > 0 || running != ""
			if left {
				want = fmt.Sprintf("level=WARN msg=\"timeout of the graceful shutdown passed\" executor=bakery pending=%d channels=%d running=", pending, channels)
			}
			begin, _, _ := strings.Cut(fmt.Sprintf("%q", running), `goroutine "`)
			if strings.Count(text, "\n") != strings.Count(want, "level=") || !strings.Contains(text, want+strings.TrimSuffix(begin, `""`)) {
				return fmt.Sprintf("G11: the log is %q, want %q", text, want+begin)
			}
			if report.TimedOut != left || !strings.HasPrefix(report.Running, running) || (report.Running == "") != (running == "") {
				return fmt.Sprintf("G11: timed out %v, running %q; want %v, %q", report.TimedOut, report.Running, left, running)
			}
			return ""
		})
	})
}
