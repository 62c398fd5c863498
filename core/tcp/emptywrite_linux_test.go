package tcp_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestG22EmptyWritesKeepTheirPlace: writes, empty writes and flushes, in every sequence
// of five that begins with a write, with listeners added in every order. The futures
// complete in the order of the calls. Empty ones with no write between them end in the
// same moment, and their listeners run in the order in which they were added.
func TestG22EmptyWritesKeepTheirPlace(t *testing.T) {
	coretest.CheckLeaks(t)
	var full atomic.Bool // the kernel has no room
	p := newPair(t, nil, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
		if op == "send" && full.Load() {
			return n, syscall.EAGAIN
		}
		return n, 0
	}), tcp.WithSocketBuffers(0, pinnedBuffer))
	go func() { _, _ = readAll(p.peer) }()
	orders := permutations(5)
	for sequence := range 3 * 3 * 3 * 3 {
		calls := "w" + string("wef"[sequence%3]) + string("wef"[sequence/3%3]) + string("wef"[sequence/9%3]) + string("wef"[sequence/27])
		for _, order := range orders {
			var got, want []int
			all := make(chan struct{}) // the kernel may need several turns
			coretest.OnLoop(t, p.ch.EventLoop(), func() {
				full.Store(true)
				futures, place := emptyAndOther(p.ch, calls)
				for _, i := range order {
					futures[i].OnDone(func(int, error) {
						if got = append(got, i); len(got) == len(order) {
							close(all)
						}
					})
				}
				full.Store(false)
				p.ch.Flush()
				p.ch.ContinueFlush()
				want = slices.Clone(order)
				slices.SortStableFunc(want, func(a, b int) int { return place[a] - place[b] })
			})
			coretest.Await(t, "the listeners", all)
			if !slices.Equal(got, want) {
				t.Fatalf("G22: of the calls %q (write, empty write, flush), listened to as %v, the futures completed as %v, want %v", calls, order, got, want)
			}
		}
	}
}

// emptyAndOther makes the calls, and returns their futures and which place each has:
// those that end in the same moment have the same.
func emptyAndOther(ch *tcp.Channel, calls string) (futures []tcp.WriteFuture, place []int) {
	at := 0
	for i, call := range calls {
		if call == 'w' || i > 0 && calls[i-1] == 'w' {
			at++
		}
		switch call {
		case 'w':
			futures = append(futures, ch.Write([]byte("x")))
		case 'e':
			futures = append(futures, ch.Write(nil))
		case 'f':
			futures = append(futures, ch.Flush())
		}
		place = append(place, at)
	}
	return futures, place
}

// permutations of the numbers below n.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for at := range n {
			all = append(all, slices.Insert(slices.Clone(p), at, n-1))
		}
	}
	return all
}

// TestG22EmptyWritesOfAClose is the same when the channel is closed: they fail, in order.
func TestG22EmptyWritesOfAClose(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil)
	coretest.OnLoop(t, p.ch.EventLoop(), func() {
		futures := make(map[string]tcp.WriteFuture)
		for _, name := range []string{"w1", "e1", "w2", "e2"} {
			futures[name] = p.ch.Write(make([]byte, strings.Count(name, "w")))
		}
		for _, name := range []string{"e2", "w2", "e1", "w1"} {
			futures[name].OnDone(func(_ int, err error) {
				coretest.WantErr(t, "G22: "+name, err, tcp.ErrChannelClosed)
				p.Add(name)
			})
		}
		p.ch.Close()
	})
	p.Await(t, 1, "Unregistered")
	p.Want(t, "G22: order", "Active w1 e1 w2 e2 Inactive Unregistered")
}
