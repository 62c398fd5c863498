package epoll

import (
	"flag"
	"slices"
	"testing"

	"eventide/core/internal/poll"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// mostEvents is the most events that one poll collects.
const mostEvents = 1024

// TestPropBatches compares how many events a poll asks for with a specification, and which it reports. The first poll asks for
// 16, or for the number of SetFirstBatch. A poll that gets as many as it asked for makes the next one ask for four times
// as many, until 1024. All events of registrations are reported in order, and those of the poller's own
// descriptors are not (R204).
func TestPropBatches(t *testing.T) {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		var ready []uint64 // the tokens of the next poll, as many as it asks for
		asked := 0
		calls := System()
		calls.Poll = func(_ int, events []unix.EpollEvent) (int, error) {
			asked = len(events)
			n := min(len(ready), len(events))
			for i, token := range ready[:n] {
				events[i] = unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(token), Pad: int32(token >> 32)}
			}
			return n, nil
		}
		var p interface {
			Poll() error
			Ready() []poll.Event
			SetFirstBatch(int)
			Close() error
		}
		var err error
		if rapid.Bool().Draw(t, "blocking") {
			p, err = NewBlocking(nil, calls)
		} else {
			p, err = NewNetpoll(nil, 0, calls)
		}
		noError(t, err)
		defer p.Close()
		size := 16
		if first := rapid.SampledFrom([]int{0, 1, 4, 64, mostEvents / 4, mostEvents}).Draw(t, "first batch"); first > 0 {
			size = first
			p.SetFirstBatch(first)
		}
		for range rapid.IntRange(1, 8).Draw(t, "polls") {
			n := rapid.SampledFrom([]int{0, 1, size - 1, size, size + 1, 2 * mostEvents}).Draw(t, "ready")
			own, at := rapid.SampledFrom([]uint64{ownToken, timerToken}).Draw(t, "own descriptor"), rapid.IntRange(-1, n).Draw(t, "its place")
			ready = ready[:0]
			var want []uint64
			for i := range n {
				token := uint64(i+1) << 32
				if i == at {
					token = own
				}
				ready = append(ready, token)
				if i < size && token > timerToken {
					want = append(want, token)
				}
			}
			noError(t, p.Poll())
			var got []uint64
			for _, e := range p.Ready() {
				got = append(got, e.Token)
			}
			if asked != size || !slices.Equal(got, want) {
				t.Fatalf("a poll asked for %d events, want %d, and reported %d of %d, want %d, or they differ", asked, size, len(got), n, len(want))
			}
			if n >= size && size < mostEvents {
				size *= 4
			}
		}
	})
}
