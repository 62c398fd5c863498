package core_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"

	"pgregory.net/rapid"
)

// fragileSource is a source of jitter that panics while it is broken.
type fragileSource struct{ broken bool }

func (s *fragileSource) Uint64() uint64 {
	if s.broken {
		panic(errClock)
	}
	return 0
}

// TestPropG11RunningBesideAFailure: if the clock or the source of jitter panics at the end of a body, that body has ended:
// Running and a meter name no body as the loop logs its failure, and later the bodies that still run, one at a time. Once
// the executor has terminated, they name none (G15).
func TestPropG11RunningBesideAFailure(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom([]string{"task", "tail", "rate", "delay", "once"}).Draw(rt, "the last body")
		breaks := rapid.SampledFrom([]string{"clock", "jitter"}).Draw(rt, "what breaks")
		behind := rapid.SliceOfN(rapid.SampledFrom([]string{"task", "tail", "hook"}), 0, 4).Draw(rt, "bodies behind it")
		open := rapid.Bool().Draw(rt, "a channel is open")
		checkInBubble(t, rt, func(t *testing.T) (wrong string) {
			clock, source := newStopped(), &fragileSource{}
			var l *core.EventLoop
			var m *core.Meter
			check := func(where, want string) {
				text, _, _ := strings.Cut(l.Running(), "\n")
				kinds := ""
				for _, r := range m.Read().Running {
					kinds += r.Kind.String()
				}
				first := ""
				if want != "" {
					first = "bakery: a " + strings.Replace(want, "tail", "tail task", 1) + " is running:"
				}
				if (text != first || kinds != want) && wrong == "" {
					wrong = fmt.Sprintf("G11: %s: Running is %q and the meter has %q, want %q", where, text, kinds, want)
				}
			}
			logged := 0
			logger := slog.New(recordsHandler{func(message string) {
				logged++
				check("at the line "+message, "")
			}})
			model := pollertest.NewModel(clock)
			l = loopOn(t, model, core.WithName("bakery"), core.WithClock(clock), core.WithLogger(logger), core.WithTimerJitter(time.Second, source))
			m = l.NewMeter()
			var reg *core.Registration
			if open {
				reg = mustRegisterChannel(t, l, model.Open().FD(), &fakeChannel{})
			}
			last := func() {
				for _, k := range behind {
					body := func() { check("in a body behind the failure", k) }
					switch k {
					case "task":
						coretest.MustExecute(t, l, body)
					case "tail":
						mustTail(t, &l.Executor, body)
					case "hook":
						mustHook(t, &l.Executor, body)
					}
				}
				clock.broken.Store(breaks == "clock")
				source.broken = breaks == "jitter"
			}
			var err error
			coretest.OnLoop(t, l, func() {
				switch kind {
				case "task":
					err = l.Execute(last)
				case "tail":
					err = l.ExecuteAfterIteration(last)
				case "rate":
					_, err = l.ScheduleAtFixedRate(0, time.Minute, last)
				case "delay":
					_, err = l.ScheduleWithFixedDelay(0, time.Minute, last)
				case "once":
					_, err = l.Schedule(0, last)
				}
			})
			coretest.Must(t, err)
			untilIdle()
			check("behind the last body", "")
			clock.broken.Store(false)
			l.Shutdown()
			untilIdle()
			if reg != nil {
				reg.End(core.ChannelEnd{Kind: core.EndAborted})
			}
			coretest.AwaitDone(t, l)
			check("after Done", "")
			if fails := l.Termination().Err() != nil; fails != (logged > 0) && wrong == "" {
				wrong = fmt.Sprintf("G15: the executor has failed: %v, and has logged %d lines", fails, logged)
			}
			return wrong
		})
	})
}
