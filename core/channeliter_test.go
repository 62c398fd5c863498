package core_test

import (
	"maps"
	"slices"
	"sync"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// A channel that stays is seen exactly once by each iteration, though others come and go,
// and a plain registration is none.
func TestChannelsAreSeenOnce(t *testing.T) {
	l, m := modelLoop(t)
	const stay = 3*256 + 7
	register := func() (*fakeChannel, *core.Registration) {
		ch := &fakeChannel{}
		var r *core.Registration
		ch.abort = func(error) { r.End(core.ChannelEnd{}) }
		r = mustRegisterChannel(t, l, m.Open().FD(), ch)
		return ch, r
	}
	want := map[core.Channel]int{}
	var others []*core.Registration
	for i := range stay {
		ch, _ := register()
		want[ch] = 1
		if i%3 == 0 {
			_, other := register()
			others = append(others, other)
		}
	}
	mustRegister(t, l, m.Open().FD(), core.Readable, ignore)
	for _, r := range others[:len(others)/2] { // their slots are free
		r.End(core.ChannelEnd{})
	}
	others = others[len(others)/2:]
	stop := make(chan struct{})
	var churn sync.WaitGroup
	churn.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				for _, r := range others {
					r.End(core.ChannelEnd{})
				}
				return
			default:
				others[i%len(others)].End(core.ChannelEnd{})
				_, others[i%len(others)] = register()
			}
		}
	})
	defer func() { close(stop); churn.Wait() }()
	for range 50 {
		seen := map[core.Channel]int{}
		for ch := range l.Channels() {
			if want[ch] > 0 {
				seen[ch]++
			}
		}
		if !maps.Equal(seen, want) {
			t.Fatalf("%d channels were seen, want each of %d once", len(seen), len(want))
		}
	}
	n := 0
	for range l.Channels() {
		if n++; n == 5 {
			break
		}
	}
	coretest.Want(t, "channels of an iteration with a break", n, 5)
}

// An iteration is legal from a body of the loop, and on a loop that has ended.
func TestG18ChannelsOnTheLoop(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		ch := &fakeChannel{}
		r := mustRegisterChannel(t, l, m.Open().FD(), ch)
		ch.abort = func(error) { r.End(core.ChannelEnd{}) }
		coretest.OnLoop(t, l, func() {
			var got []core.Channel
			for ch := range l.Channels() {
				got = append(got, ch)
			}
			if !slices.Equal(got, []core.Channel{ch}) {
				t.Errorf("got %v, want the one channel", got)
			}
		})
		l.Shutdown()
		coretest.AwaitDone(t, l)
		for range l.Channels() {
			t.Error("a loop that has ended has a channel")
		}
	})
}
