package core_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// In a shutdown each registration is closed, however many there are, and none of
// their handlers is called from then on.
func TestG22AShutdownClosesEveryRegistration(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		const n = 300
		var ends [n]ending
		for i := range n {
			d := m.Open()
			r := mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) {
				if l.State() >= core.StateShuttingDown {
					t.Error("G22: a handler was called after its registration was closed")
				}
			})
			r.OnClose(func(err error) { ends[i].hear(err); coretest.Must(t, d.Input()) })
		}
		if got := l.Stats().Registrations; got != n {
			t.Errorf("Stats.Registrations is %d, want %d", got, n)
		}
		coretest.MustShutdownGracefully(t, l, 20*time.Second, time.Hour)
		start := time.Now()
		coretest.AwaitDone(t, l)
		for i := range ends {
			ends[i].want(t, "G22", core.ErrShutdown)
		}
		if got := time.Since(start); got != 20*time.Second {
			t.Errorf("G10: the end came %v after the call, want the quiet period of 20s: to close registrations is no work", got)
		}
	})
}

// While the executor is ShuttingDown a registration is accepted, and closed in the
// next turn; that is no work in the sense of the quiet period (G10).
func TestG22RegisteredWhileShuttingDown(t *testing.T) {
	for _, policy := range []core.DrainPolicy{core.DrainChannels, core.CloseChannels} {
		inBubble(t, func(t *testing.T) {
			l, m := modelLoop(t, core.WithDrain(policy))
			first := m.Open()
			mustRegister(t, l, first.FD(), core.Readable, ignore)
			coretest.MustShutdownGracefully(t, l, 20*time.Second, time.Hour)
			start := time.Now()
			for range 3 {
				synctest.Wait()
				var e ending
				d := m.Open()
				coretest.Must(t, d.Input())
				mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) { coretest.Must(t, d.Drain()) }).OnClose(e.hear)
				synctest.Wait()
				e.want(t, "G22: registered while ShuttingDown", core.ErrShutdown)
			}
			// From inside a hook or task, too.
			var e ending
			d := m.Open()
			coretest.OnLoop(t, l, func() { mustRegister(t, l, d.FD(), core.Readable, ignore).OnClose(e.hear) })
			synctest.Wait()
			e.want(t, "G22: registered by a task while ShuttingDown", core.ErrShutdown)
			coretest.AwaitDone(t, l)
			if got := time.Since(start); got != 20*time.Second {
				t.Errorf("G10: the end came after %v, want 20s", got)
			}
		})
	}
}

// fakeChannel is a Channel of functions; nil ones do nothing.
type fakeChannel struct {
	ready func(core.Readiness)
	drain func(core.Deadline)
	abort func(error)
}

func (c *fakeChannel) Ready(r core.Readiness) {
	if c.ready != nil {
		c.ready(r)
	}
}

func (c *fakeChannel) Drain(until core.Deadline) {
	if c.drain != nil {
		c.drain(until)
	}
}

func (c *fakeChannel) Abort(cause error) {
	if c.abort != nil {
		c.abort(cause)
	}
}

func mustRegisterChannel(t testing.TB, l *core.EventLoop, fd int, c core.Channel) *core.Registration {
	t.Helper()
	r, err := l.RegisterChannel(fd, core.Readable, c)
	if err != nil {
		t.Fatalf("RegisterChannel(%d): %v", fd, err)
	}
	return r
}

// After the close a channel that has not ended keeps the loop: Post works, and the
// executor ends with it.
func TestPostAfterTheClose(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		var j coretest.Journal
		r := mustRegisterChannel(t, l, m.Open().FD(), &fakeChannel{abort: func(cause error) { j.Add(fmt.Sprint(cause == core.ErrShutdown)) }})
		l.Shutdown()
		synctest.Wait()
		if s := l.State(); s != core.StateShutdown {
			t.Fatalf("G22: the state is %v with an open channel, want Shutdown", s)
		}
		if err := l.Execute(func() {}); !errors.Is(err, core.ErrRejected) {
			t.Errorf("G5: Execute after the close: %v", err)
		}
		time.Sleep(time.Hour)
		if !r.Post(j.Adds("posted")) {
			t.Error("Post after the close: false, want true")
		}
		r.End(core.ChannelEnd{Kind: core.EndAborted, Discarded: 5})
		report := coretest.AwaitDone(t, l)
		j.Want(t, "G22", "true posted")
		if report.ChannelsAborted != 1 || report.BytesDiscarded != 5 || report.ChannelsDrained != 0 {
			t.Errorf("G23: Report: %d aborted, %d bytes discarded, %d drained; want 1, 5, 0", report.ChannelsAborted, report.BytesDiscarded, report.ChannelsDrained)
		}
	})
}

// Drain and Abort of a channel are called once each, with the deadline, by policy.
func TestG23NoticesOfChannels(t *testing.T) {
	const quiet, timeout = time.Second, 30 * time.Second
	for _, tt := range []struct {
		name   string
		policy core.DrainPolicy
		end    func(l *core.EventLoop)
		want   string
	}{
		{"drain, deadline passes", core.DrainChannels, func(l *core.EventLoop) { _, _ = l.ShutdownGracefully(quiet, timeout) }, "drain at 30s; abort at 30s, timeout true"},
		{"drain, then Shutdown", core.DrainChannels, func(l *core.EventLoop) {
			_, _ = l.ShutdownGracefully(quiet, timeout)
			time.Sleep(time.Second)
			l.Shutdown()
		}, "drain at 30s; abort at 1s, timeout false"},
		{"Shutdown", core.DrainChannels, func(l *core.EventLoop) { l.Shutdown() }, "abort at 0s, timeout false"},
		{"close", core.CloseChannels, func(l *core.EventLoop) { _, _ = l.ShutdownGracefully(quiet, timeout) }, "abort at 0s, timeout false"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				l, m := modelLoop(t, core.WithDrain(tt.policy))
				start := time.Now()
				var told []string
				var r *core.Registration
				r = mustRegisterChannel(t, l, m.Open().FD(), &fakeChannel{
					drain: func(until core.Deadline) { told = append(told, fmt.Sprintf("drain at %v", until.Sub(start))) },
					abort: func(cause error) {
						told = append(told, fmt.Sprintf("abort at %v, timeout %v", time.Since(start), cause == core.ErrShutdownTimeout))
						r.End(core.ChannelEnd{Kind: core.EndAborted})
						r.End(core.ChannelEnd{Kind: core.EndDrained}) // no effect
					},
				})
				coretest.OnLoop(t, l, func() {})
				tt.end(l)
				report := coretest.AwaitDone(t, l)
				if got := strings.Join(told, "; "); got != tt.want {
					t.Errorf("G23: the channel got the notices %q, want %q", got, tt.want)
				}
				if report.ChannelsAborted != 1 || report.ChannelsDrained != 0 {
					t.Errorf("G23: %d aborted, %d drained, want 1, 0", report.ChannelsAborted, report.ChannelsDrained)
				}
			})
		})
	}
}

// A panic and a Goexit in Drain or Abort stay inside: all other channels are notified.
func TestG14EveryChannelIsNotified(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		told := 0
		for i := range 9 {
			var r *core.Registration
			r = mustRegisterChannel(t, l, m.Open().FD(), &fakeChannel{drain: func(core.Deadline) {
				told++
				r.End(core.ChannelEnd{Kind: core.EndDrained})
				switch i % 3 {
				case 1:
					panic("drain")
				case 2:
					runtime.Goexit()
				}
			}})
		}
		coretest.MustShutdownGracefully(t, l, 0, time.Hour)
		report := coretest.AwaitDone(t, l)
		if told != 9 || report.ChannelsDrained != 9 || report.Panicked != 3 {
			t.Errorf("G14: %d channels notified, %d drained, %d panicked; want 9, 9, 3", told, report.ChannelsDrained, report.Panicked)
		}
	})
}

// A registration closed by anyone sets the loop free at once: no turn is waited for.
func TestG22TheLastChannelEndsTheShutdown(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		r := mustRegisterChannel(t, l, m.Open().FD(), &fakeChannel{})
		coretest.MustShutdownGracefully(t, l, 0, time.Hour)
		start := time.Now()
		time.Sleep(time.Minute)
		if s := l.State(); s != core.StateShuttingDown {
			t.Fatalf("G23: the state is %v while a channel drains, want ShuttingDown", s)
		}
		r.End(core.ChannelEnd{Kind: core.EndDrained})
		report := coretest.AwaitDone(t, l)
		if got := time.Since(start); got != time.Minute || report.ChannelsDrained != 1 || report.TimedOut {
			t.Errorf("G23: ended after %v, %d drained, timed out %v; want 1m, 1, false", got, report.ChannelsDrained, report.TimedOut)
		}
	})
}
