package blocking_test

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// failedWrites are flushed writes on a connection that takes some bytes and then fails.
type failedWrites struct {
	Sizes []int  // of the writes
	Takes int    // bytes; the Write of the connection that takes the last of them fails
	Ends  string // a call that ends the channel before anything is sent: Close, CloseGracefully or none
}

func drawFailedWrites(t *rapid.T) failedWrites {
	w := failedWrites{
		Sizes: rapid.SliceOfN(rapid.SampledFrom([]int{1, 2, 100, 40_000, 70_000}), 1, 5).Draw(t, "sizes"),
		Ends:  rapid.SampledFrom([]string{"", "Close", "CloseGracefully"}).Draw(t, "end"),
	}
	total, bounds := 0, []int{0}
	for _, n := range w.Sizes {
		total += n
		bounds = append(bounds, total)
	}
	w.Takes = rapid.OneOf(rapid.SampledFrom(bounds), rapid.IntRange(0, total)).Draw(t, "takes")
	return w
}

var errTaken = errors.New("the connection takes no more")

// takingConn is a connection that fails once it has taken left bytes.
type takingConn struct {
	net.Conn
	left int
}

func (c *takingConn) Write(p []byte) (int, error) {
	n := min(c.left, len(p))
	if c.left -= n; c.left == 0 {
		return n, errTaken
	}
	return n, nil
}

// wanted returns the calls of the listeners.
func (w failedWrites) wanted() []string {
	var sent, unsent []string
	end := 0
	for i, n := range w.Sizes {
		if end += n; end <= w.Takes {
			sent = append(sent, fmt.Sprintf("write %d: %d, <nil>", i, n))
		} else {
			unsent = append(unsent, fmt.Sprintf("write %d: %d, failed", i, max(0, w.Takes-(end-n))))
		}
	}
	ends := []string{"closed"}
	if w.Ends != "" {
		ends = append(ends, w.Ends)
	}
	return slices.Concat(sent, ends, unsent)
}

// run returns the calls of the listeners, and the cause of the end.
func (w failedWrites) run(t *testing.T) (calls []string, cause error) {
	g, err := blocking.NewGroup(0)
	coretest.Must(t, err)
	ours, theirs := net.Pipe()
	ch := mustRegister(t, g, &takingConn{ours, w.Takes}, &handler{})
	gate := make(chan struct{})
	coretest.MustExecute(t, ch.EventLoop(), func() { <-gate })
	synctest.Wait() // nothing is sent while the executor waits for the gate
	for i, n := range w.Sizes {
		ch.WriteAndFlush(make([]byte, n)).OnDone(func(n int, err error) {
			text := fmt.Sprint(err)
			if err != nil {
				text = "failed"
			}
			calls = append(calls, fmt.Sprintf("write %d: %d, %s", i, n, text))
		})
	}
	listen := func(f *core.Future[struct{}], name string) {
		f.OnDone(func(struct{}, error) { calls = append(calls, name) })
	}
	listen(ch.CloseFuture(), "closed")
	switch w.Ends {
	case "Close":
		listen(ch.Close(), w.Ends)
	case "CloseGracefully":
		listen(ch.CloseGracefully(core.Deadline{}), w.Ends)
	}
	close(gate)
	synctest.Wait()
	cause = ch.CloseCause()
	g.Shutdown()
	coretest.AwaitDone(t, g)
	_ = theirs.Close()
	return calls, cause
}

// TestPropG22WritesOfAConnectionThatFails: the futures of a channel whose connection fails while it sends complete in
// one order: those of the writes that were sent, that of the end, that of the call that asked for it, and those of the other writes.
func TestPropG22WritesOfAConnectionThatFails(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := rapid.Custom(drawFailedWrites).Draw(rt, "writes")
		var calls []string
		var cause error
		synctest.Test(t, func(t *testing.T) { calls, cause = w.run(t) })
		if want := w.wanted(); !slices.Equal(calls, want) {
			rt.Fatalf("G22: the listeners were called in the order %q, want %q", calls, want)
		}
		if !errors.Is(cause, errTaken) {
			rt.Fatalf("G22: the cause is %v, want %v", cause, errTaken)
		}
	})
}
