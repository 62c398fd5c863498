package core_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"

	"pgregory.net/rapid"
)

// watchedEnd is a registration that another goroutine ends.
type watchedEnd struct {
	Channel   bool
	Listeners int // of OnClose
}

// TestPropG12EndsThatWake: the end of a registration on another goroutine wakes a loop that sleeps if the loop has work
// then: listeners, or a shutdown that waits for the end. Without work it wakes nobody: a server that closes many connections
// from other goroutines would pay a system call for each (G12).
func TestPropG12EndsThatWake(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ends := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) watchedEnd {
			return watchedEnd{Channel: rapid.Bool().Draw(t, "a channel"), Listeners: rapid.IntRange(0, 2).Draw(t, "listeners")}
		}), 1, 6).Draw(rt, "ends")
		shutdown := rapid.IntRange(0, 2*len(ends)).Draw(rt, "ends before the shutdown")
		checkInBubble(t, rt, func(t *testing.T) string { return runEndWakes(t, ends, shutdown) })
	})
}

func runEndWakes(t *testing.T, ends []watchedEnd, shutdown int) (wrong string) {
	p := pollertest.NewModel(nil)
	l := loopOn(t, p)
	last := mustRegisterChannel(t, l, p.Open().FD(), &fakeChannel{}) // the shutdown waits for it
	calls, want := 0, 0
	var all []*core.Registration
	for _, e := range ends {
		fd := p.Open().FD()
		var r *core.Registration
		if e.Channel {
			r = mustRegisterChannel(t, l, fd, &fakeChannel{})
		} else {
			r = mustRegister(t, l, fd, core.Readable, ignore)
		}
		for range e.Listeners {
			want++
			r.OnClose(func(error) { calls++ })
		}
		all = append(all, r)
	}
	coretest.OnLoop(t, l, func() {})
	synctest.Wait()
	for i, r := range all {
		if i == shutdown {
			coretest.MustShutdownGracefully(t, l, 0, time.Hour)
			synctest.Wait()
		}
		before := l.Stats().Wakes
		if ends[i].Channel {
			r.End(core.ChannelEnd{Kind: core.EndDrained})
		} else {
			coretest.Must(t, r.Close())
		}
		wakes := ends[i].Listeners > 0 && i < shutdown || i >= shutdown && ends[i].Channel // the shutdown has closed the others
		if woke := l.Stats().Wakes > before; woke != wakes && wrong == "" {
			wrong = fmt.Sprintf("G12: end %d of %+v, shutdown before %d: it has woken the loop: %v, want %v", i, ends, shutdown, woke, wakes)
		}
		synctest.Wait()
	}
	last.End(core.ChannelEnd{Kind: core.EndDrained})
	l.Shutdown()
	coretest.AwaitDone(t, l)
	if calls != want && wrong == "" {
		wrong = fmt.Sprintf("G3: %d listeners were called, want %d", calls, want)
	}
	return wrong
}
