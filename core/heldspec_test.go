package core_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// TestPropG23HeldChannels: a shutdown ends channels in any order, held since any time or not held. The report
// counts those that were held, and names the ten that were held longest, in that order; of two held since the
// same time the one that ended first comes first.
func TestPropG23HeldChannels(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.SampledFrom([]int{0, 1, 2, 3, 9, 10, 11, 12, 20, 30}).Draw(rt, "channels")
		held := rapid.SliceOfN(rapid.IntRange(-1, 20), n, n).Draw(rt, "seconds for which each channel is held, -1: it is not")
		checkInBubble(t, rt, func(t *testing.T) string {
			l, m := modelLoop(t)
			now := time.Now()
			var all []int // the channels that were held
			for i, seconds := range held {
				var r *core.Registration
				r = mustRegisterChannel(t, l, m.Open().FD(), &fakeChannel{abort: func(error) {
					end := core.ChannelEnd{Kind: core.EndAborted}
					if seconds >= 0 {
						end.Held, end.HeldSince = fmt.Sprintf("channel %d", i), now.Add(-time.Duration(seconds)*time.Second)
					}
					r.End(end)
				}})
				if seconds >= 0 {
					all = append(all, i)
				}
			}
			l.Shutdown()
			report := coretest.AwaitDone(t, l)
			slices.SortStableFunc(all, func(a, b int) int { return held[b] - held[a] })
			var lines []string
			for _, i := range all[:min(len(all), 10)] {
				since := now.Add(-time.Duration(held[i]) * time.Second)
				lines = append(lines, fmt.Sprintf("channel %d, held since %s", i, since.Format("2006-01-02T15:04:05.000Z07:00")))
			}
			if more := len(all) - len(lines); more > 0 {
				lines = append(lines, fmt.Sprintf("and %d more", more))
			}
			want := strings.Join(lines, "\n")
			if report.ChannelsHeld != int64(len(all)) || report.Held != want || report.ChannelsAborted != int64(len(held)) {
				return fmt.Sprintf("G23: of channels held for %v seconds, %d of %d aborted ones were held:\n%s\nwant %d of %d:\n%s", held,
					report.ChannelsHeld, report.ChannelsAborted, report.Held, len(all), len(held), want)
			}
			return ""
		})
	})
}
