package tcp_test

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"testing"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"pgregory.net/rapid"
)

// TestPropG9ListenersOfWrites: the listeners of writes and flushes are called in the order of the bytes, whatever the order
// in which they were added. Of the calls that end at one byte the write comes first; the empty writes and flushes behind it
// complete together, and their listeners are called in the order in which they were added, as are those of one future. Done of
// a pending write returns the same channel at each call.
func TestPropG9ListenersOfWrites(t *testing.T) {
	checkOnPair(t, func(r *rapid.T, p *pair) {
		sizes := rapid.SliceOfN(rapid.IntRange(0, 2), 1, 6).Draw(r, "sizes of writes")
		listeners := rapid.SliceOfN(rapid.IntRange(0, len(sizes)-1), 1, 12).Draw(r, "the writes that listeners are added to")
		called, written := listenToWrites(t, p.ch, sizes, listeners)
		if want := orderOf(sizes, listeners); !slices.Equal(called, want) {
			r.Fatalf("G9: the calls are %q, want %q", called, want)
		}
		_, err := io.CopyN(io.Discard, p.peer, int64(written))
		coretest.Must(t, err)
	})
}

// listenToWrites writes pieces of the sizes, adds the listeners, and flushes. It returns the calls of the listeners.
func listenToWrites(t *testing.T, ch *tcp.Channel, sizes, listeners []int) (called []string, written int) {
	over := make(chan struct{})
	coretest.OnLoop(t, ch.EventLoop(), func() {
		var futures []tcp.WriteFuture
		for _, n := range sizes {
			futures = append(futures, ch.Write(make([]byte, n)))
			written += n
		}
		for i, at := range listeners {
			futures[at].OnDone(func(n int, err error) {
				called = append(called, callOf(i, at, n, err))
				if len(called) == len(listeners) {
					close(over)
				}
			})
		}
		end := 0
		for i, f := range futures {
			first, second := f.Done(), f.Done()
			if end += sizes[i]; end > 0 && first != second { // otherwise the write is complete already
				t.Errorf("Done of write %d returns two channels, want one", i)
			}
		}
		ch.Flush()
	})
	coretest.Await(t, "the listeners", over)
	return called, written
}

func callOf(listener, write, n int, err error) string {
	return fmt.Sprintf("listener %d of write %d: %d, %v", listener, write, n, err)
}

// orderOf returns the calls of listeners in the order in which they must come.
func orderOf(sizes, listeners []int) (calls []string) {
	ends, end := make([]int, len(sizes)), 0
	for i, n := range sizes {
		end += n
		ends[i] = end
	}
	order := make([]int, len(listeners))
	for i := range order {
		order[i] = i
	}
	empty := func(i int) int {
		if sizes[listeners[i]] == 0 {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(ends[listeners[a]], ends[listeners[b]]), cmp.Compare(empty(a), empty(b)))
	})
	for _, i := range order {
		calls = append(calls, callOf(i, listeners[i], sizes[listeners[i]], nil))
	}
	return calls
}
