package core_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// endingChannel ends as soon as it is asked to drain or to abort.
type endingChannel struct {
	reg    *core.Registration
	events []string
}

func (c *endingChannel) Ready(core.Readiness) {}

func (c *endingChannel) Drain(core.Deadline) {
	c.events = append(c.events, "drain")
	c.reg.End(core.ChannelEnd{Kind: core.EndDrained})
}

func (c *endingChannel) Abort(error) {
	c.events = append(c.events, "abort")
	c.reg.End(core.ChannelEnd{Kind: core.EndAborted, Discarded: 7})
}

// A graceful shutdown without any time is the deadline's close if something was
// pending, and an orderly one if nothing was; a channel has something to lose.
func TestG11NoTimeToDrainIsATimeout(t *testing.T) {
	for name, tc := range map[string]struct {
		channel bool
		want    core.Report
	}{
		"nothing is open":   {false, core.Report{}},
		"a channel is open": {true, core.Report{TimedOut: true, ChannelsAborted: 1, BytesDiscarded: 7}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				l, m := modelLoop(t)
				ch := &endingChannel{}
				coretest.OnLoop(t, l, func() { // so that the loop cannot call before reg is set
					if tc.channel {
						ch.reg = mustRegisterChannel(t, l, m.Open().FD(), ch)
					}
				})
				synctest.Wait() // a body that still runs is something that is pending
				coretest.MustShutdownGracefully(t, l, 0, 0)
				report := coretest.AwaitDone(t, l)
				got := core.Report{TimedOut: report.TimedOut, ChannelsAborted: report.ChannelsAborted, BytesDiscarded: report.BytesDiscarded}
				coretest.Want(t, "G11, G23: report", got, tc.want)
				if tc.channel {
					if !slices.Equal(ch.events, []string{"abort"}) {
						t.Errorf("G23: the channel got the notices %q, want abort alone: there was no time to drain", ch.events)
					}
				}
			})
		})
	}
}

// An end of an unknown Kind counts as aborted, and a negative number as 0. Held is used only if
// the channel was aborted.
func TestG23AnEndOutOfRange(t *testing.T) {
	for name, tc := range map[string]struct {
		end  core.ChannelEnd
		want [5]int64 // drained, aborted, discarded, refused, held
	}{
		"unknown kind":       {core.ChannelEnd{Kind: core.EndAborted + 1, Discarded: 3}, [5]int64{0, 1, 3, 0, 0}},
		"the last kind":      {core.ChannelEnd{Kind: 255}, [5]int64{0, 1, 0, 0, 0}},
		"negative discarded": {core.ChannelEnd{Kind: core.EndDrained, Discarded: -5}, [5]int64{1, 0, 0, 0, 0}},
		"uncounted":          {core.ChannelEnd{Kind: core.EndUncounted, Discarded: -1}, [5]int64{0, 0, 0, 0, 0}},
		"refused":            {core.ChannelEnd{Kind: core.EndDrained, Refused: 4}, [5]int64{1, 0, 0, 4, 0}},
		"negative refused":   {core.ChannelEnd{Kind: core.EndAborted, Refused: -4}, [5]int64{0, 1, 0, 0, 0}},
		"held":               {core.ChannelEnd{Kind: core.EndAborted, Held: "x"}, [5]int64{0, 1, 0, 0, 1}},
		"held, but drained":  {core.ChannelEnd{Kind: core.EndDrained, Held: "x"}, [5]int64{1, 0, 0, 0, 0}},
		"held, uncounted":    {core.ChannelEnd{Held: "x"}, [5]int64{0, 0, 0, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				l, m := modelLoop(t)
				ch := &fakeChannel{}
				r := mustRegisterChannel(t, l, m.Open().FD(), ch)
				ch.drain = func(core.Deadline) { r.End(tc.end) }
				coretest.MustShutdownGracefully(t, l, 0, time.Hour)
				report := coretest.AwaitDone(t, l)
				got := [5]int64{report.ChannelsDrained, report.ChannelsAborted, report.BytesDiscarded, report.WritesRefused, report.ChannelsHeld}
				coretest.Want(t, fmt.Sprintf("G23: drained, aborted, discarded, refused, held after End(%+v)", tc.end), got, tc.want)
			})
		})
	}
}

// A registration that comes with an error would be one on which every call panics.
func TestG3RegisterChannelReturnsOneOrTheOther(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		open := m.Open().FD()
		refuse := func(what string, fd int, interest core.Interest, ch core.Channel) {
			t.Helper()
			r, err := l.RegisterChannel(fd, interest, ch)
			if err == nil || r != nil {
				t.Errorf("G3: %s: got a registration %v and error %v, want a refusal alone", what, r, err)
			}
		}
		refuse("no channel", open, core.Readable, nil)
		refuse("negative descriptor", -1, core.Readable, &fakeChannel{})
		refuse("descriptor that is not open", 1<<30, core.Readable, &fakeChannel{})
		refuse("bad interest", open, 0x80, &fakeChannel{})
		mustRegister(t, l, open, core.Readable, ignore)
		refuse("registered descriptor", open, core.Readable, &fakeChannel{})
		l.Shutdown()
		refuse("after the close", m.Open().FD(), core.Readable, &fakeChannel{})
		coretest.AwaitDone(t, l)
	})
}

// Report.Held names the channels that were held longest, in that order, and counts the rest;
// that of a group has those of all children.
func TestG23HeldChannelsAreNamed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		report := func(channels, held int) core.Report {
			l, m := modelLoop(t)
			begin := time.Now()
			for i := range channels {
				var r *core.Registration
				r = mustRegisterChannel(t, l, m.Open().FD(), &fakeChannel{abort: func(error) {
					end := core.ChannelEnd{Kind: core.EndAborted}
					if i < held { // the last one was held first
						end.Held, end.HeldSince = fmt.Sprintf("channel %d", i), begin.Add(-time.Duration(i)*time.Second)
					}
					r.End(end)
				}})
			}
			l.Shutdown()
			return coretest.AwaitDone(t, l)
		}
		line := func(i int) string {
			since := time.Now().Add(-time.Duration(i) * time.Second)
			return fmt.Sprintf("channel %d, held since %s", i, since.Format("2006-01-02T15:04:05.000Z07:00"))
		}
		none, two, many := report(2, 0), report(3, 2), report(14, 13)
		coretest.Want(t, "G23: held of none", none.ChannelsHeld, 0)
		coretest.Want(t, "G23: names of none", none.Held, "")
		coretest.Want(t, "G23: held of two", two.ChannelsHeld, 2)
		coretest.Want(t, "G23: aborted", two.ChannelsAborted, 3)
		coretest.Want(t, "G23: names of two", two.Held, line(1)+"\n"+line(0))
		coretest.Want(t, "G23: held of many", many.ChannelsHeld, 13)
		var lines []string
		for i := 12; i > 2; i-- {
			lines = append(lines, line(i))
		}
		coretest.Want(t, "G23: names of many", many.Held, strings.Join(append(lines, "and 3 more"), "\n"))
		sum := two.Plus(none).Plus(two)
		coretest.Want(t, "G23: held of the sum", sum.ChannelsHeld, 4)
		coretest.Want(t, "G23: names of the sum", sum.Held, two.Held+"\n"+two.Held)
	})
}

// noticedChannel calls its functions in Drain and Abort. Abort ends the registration.
type noticedChannel struct {
	reg          *core.Registration
	drain, abort func()
}

func (c *noticedChannel) Ready(core.Readiness) {}
func (c *noticedChannel) Drain(core.Deadline)  { c.drain() }

func (c *noticedChannel) Abort(error) {
	c.abort()
	c.reg.End(core.ChannelEnd{Kind: core.EndAborted})
}

// The first channel moves the state, and the second completes a promise after that. Its listener runs
// before the other calls of channels and before the hook.
func TestG9AListenerFollowsTheChannelsAfterAMove(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		var j coretest.Journal
		p := core.NewPromise[int](l)
		p.Future().OnDone(func(int, error) { j.Add("listener") })
		first := &noticedChannel{drain: func() { j.Add("first"); l.Shutdown() }, abort: j.Adds("abort")}
		second := &noticedChannel{drain: func() { j.Add("second"); p.TrySuccess(1) }, abort: j.Adds("abort")}
		coretest.OnLoop(t, l, func() {
			first.reg = mustRegisterChannel(t, l, m.Open().FD(), first)
			second.reg = mustRegisterChannel(t, l, m.Open().FD(), second)
			mustHook(t, &l.Executor, j.Adds("hook"))
		})
		synctest.Wait()
		coretest.MustShutdownGracefully(t, l, time.Second, time.Minute)
		coretest.AwaitDone(t, l)
		j.Want(t, "G9", "first second listener abort abort hook")
	})
}
