package blocking_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// future is a WriteFuture of a Write or a Flush, with its place in the output.
type future struct {
	f      blocking.WriteFuture
	number int // of the last write before it, or of itself
	end    int // offset after the last byte of the write
	size   int // 0: of a Flush
}

// futures are the futures of a channel whose executor runs a task, so that nothing is sent meanwhile.
type futures struct {
	t        *rapid.T
	ch       *blocking.Channel
	all      []future
	accepted int
	marked   int // Flush sends up to here, and Close too
	writes   int

	calls     []string // of the listeners; loop only, or after its end
	listeners []future // of each listener
}

// outcome returns the result of a future at the end of the channel.
func (w *futures) outcome(f future) (n int, err error) {
	if f.end <= w.marked {
		return f.size, nil
	}
	return 0, blocking.ErrChannelClosed
}

// step makes a call, or adds a listener.
func (w *futures) step(call string) {
	switch call {
	case "Write":
		size := rapid.SampledFrom([]int{0, 0, 1, 100, 64 << 10, 70_000}).Draw(w.t, "size")
		w.accepted += size
		w.writes++
		w.all = append(w.all, future{w.ch.Write(make([]byte, size)), w.writes, w.accepted, size})
	case "Flush":
		w.marked = w.accepted
		w.all = append(w.all, future{w.ch.Flush(), w.writes, w.accepted, 0})
	case "OnDone":
		if len(w.all) > 0 {
			w.listen(rapid.IntRange(0, len(w.all)-1).Draw(w.t, "future"))
		}
	}
	if got := w.ch.PendingBytes(); got != int64(w.accepted) {
		w.t.Fatalf("%d pending bytes, want %d", got, w.accepted)
	}
}

// listen adds a listener, or none.
func (w *futures) listen(i int) {
	f := w.all[i]
	if rapid.Bool().Draw(w.t, "nil") {
		f.f.OnDone(nil)
		return
	}
	id := len(w.listeners)
	w.listeners = append(w.listeners, f)
	f.f.OnDone(func(n int, err error) {
		w.calls = append(w.calls, callText(id, n, err, w.ch.EventLoop().InEventLoop()))
	})
}

func callText(id, n int, err error, onLoop bool) string {
	return fmt.Sprintf("listener %d got %d, closed %v, on the loop %v", id, n, errors.Is(err, blocking.ErrChannelClosed), onLoop)
}

// wanted returns the calls of the listeners. First come those of futures that were complete: nothing
// precedes their writes. The others follow in the order of the writes, of one write in the order added.
func (w *futures) wanted() (want []string) {
	ids := make([]int, len(w.listeners))
	for id := range ids {
		ids[id] = id
	}
	number := func(id int) int {
		if w.listeners[id].end == 0 {
			return 0
		}
		return w.listeners[id].number
	}
	slices.SortStableFunc(ids, func(a, b int) int { return cmp.Compare(number(a), number(b)) })
	for _, id := range ids {
		n, err := w.outcome(w.listeners[id])
		want = append(want, callText(id, n, err, true))
	}
	return want
}

// TestPropWriteFutures: a write has all its bytes if it was flushed before Close, and none otherwise. Its
// future says so to Wait, Err, Done and to each listener, once, on the executor and in the order of the
// writes; a nil listener is ignored (G22).
func TestPropWriteFutures(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g, err := blocking.NewGroup(0)
		coretest.Must(t, err)
		defer func() { <-g.Shutdown().Done() }()
		ours, theirs := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, theirs) }() // until the channel closes
		w := &futures{t: rt, ch: mustRegister(t, g, ours, &handler{})}
		closes, onLoop := rapid.Bool().Draw(rt, "Close comes before the bytes are sent"), rapid.Bool().Draw(rt, "on the executor")
		held, gate := make(chan struct{}), make(chan struct{})
		coretest.MustExecute(t, w.ch.EventLoop(), func() {
			close(held)
			<-gate
			w.onTheLoop(t)
			if closes && onLoop {
				w.ch.Close()
			}
		})
		coretest.Await(t, "the task", held)
		func() {
			defer close(gate)
			for range rapid.IntRange(0, 8).Draw(rt, "calls") {
				w.step(rapid.SampledFrom([]string{"Write", "Write", "Flush", "OnDone"}).Draw(rt, "call"))
			}
			if closes && !onLoop {
				w.ch.Close()
			}
		}()
		for _, f := range w.all {
			if closes || f.end <= w.marked {
				w.check(t, f)
			}
		}
		w.ch.Close()
		for _, f := range w.all {
			w.check(t, f)
		}
		g.Shutdown()
		coretest.AwaitDone(t, g)
		if want := w.wanted(); !slices.Equal(w.calls, want) {
			rt.Fatalf("G22: the listeners got %q, want %q", w.calls, want)
		}
		for _, f := range w.all {
			w.afterTheEnd(f)
		}
		if n := w.ch.EventLoop().Stats().Panicked; n != 0 {
			rt.Fatalf("%d panics, want none", n)
		}
	})
}

// onTheLoop calls Wait on the executor, which must not wait (G18).
func (w *futures) onTheLoop(t *testing.T) {
	for _, f := range w.all {
		want := core.ErrInEventLoop
		if f.end == 0 {
			want = nil
		}
		if n, err := f.f.Wait(t.Context()); n != 0 || err != want || f.f.Err() != nil {
			t.Errorf("G18: Wait on the executor: %d, %v, want 0, %v", n, err, want)
		}
	}
}

// check compares the result of a future with its outcome.
func (w *futures) check(t *testing.T, f future) {
	n, err := w.outcome(f)
	got, gotErr := f.f.Wait(t.Context())
	if got != n || !errors.Is(gotErr, err) || (gotErr == nil) != (err == nil) || f.f.Err() != gotErr {
		w.t.Fatalf("the future of %d bytes up to %d of %d: %d, %v, Err %v; want %d, %v", f.size, f.end, w.marked, got, gotErr, f.f.Err(), n, err)
	}
	<-f.f.Done()
	var none context.Context
	if n, err := f.f.Wait(none); n != 0 || err == nil || err.Error() != "blocking: Wait: ctx is nil, want a context" {
		w.t.Fatalf("Wait without a context: %d, %v", n, err)
	}
}

// afterTheEnd adds a listener after the end of the executor: it has run when OnDone returns.
func (w *futures) afterTheEnd(f future) {
	n, err := w.outcome(f)
	f.f.OnDone(nil)
	called := false
	f.f.OnDone(func(got int, gotErr error) { called = got == n && errors.Is(gotErr, err) })
	if !called {
		w.t.Fatalf("OnDone after the end of the executor has not called with %d, %v", n, err)
	}
}
