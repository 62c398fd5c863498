package blocking_test

import (
	"context"
	"io"
	"testing"
	"time"

	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// The caller may change its slice after Write.
func TestWriteCopies(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs := tcpPair(t)
	ch := mustRegister(t, g, ours, echo())
	p := []byte("written")
	ch.Write(p)
	copy(p, "changed")
	ch.Flush()
	got := make([]byte, len(p))
	_, err := io.ReadFull(theirs, got)
	coretest.Must(t, err)
	coretest.Want(t, "bytes at the peer", string(got), "written")
}

// A write that is refused while the executor has still to close has failed when Write returns,
// though an earlier write waits: with the error of the call that came before it.
func TestRefusedWriteHasFailed(t *testing.T) {
	for _, row := range []struct {
		name string
		end  func(*blocking.Channel)
		want error
	}{
		{"Close", func(ch *blocking.Channel) { ch.Close() }, blocking.ErrChannelClosed},
		{"CloseGracefully", func(ch *blocking.Channel) { ch.CloseGracefully(time.Time{}) }, blocking.ErrChannelClosing},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := newGroup(t, 0)
			ours, _ := tcpPair(t)
			ch := mustRegister(t, g, ours, echo())
			begun, gate := make(chan struct{}), make(chan struct{})
			coretest.MustExecute(t, ch.EventLoop(), func() { close(begun); <-gate })
			defer close(gate)
			coretest.Await(t, "the task", begun)
			earlier := ch.Write([]byte("waits"))
			row.end(ch)
			refused := ch.Write([]byte("late"))
			coretest.WantErr(t, "Err of the refused write", refused.Err(), row.want)
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			n, err := refused.Wait(ended)
			coretest.Want(t, "bytes of the refused write", n, 0)
			coretest.WantErr(t, "Wait for the refused write", err, row.want)
			coretest.WantErr(t, "the earlier write", earlier.Err(), nil)
		})
	}
}

// A write allocates no future of core for a caller that asks only for its error.
func TestWriteFutureAllocatesOnlyAsAFuture(t *testing.T) {
	g := newGroup(t, 0)
	ours, _ := tcpPair(t)
	ch := mustRegister(t, g, ours, echo())
	onLoop(t, ch, func() {})
	allocations := testing.AllocsPerRun(100, func() { _ = ch.Write(nil).Err() })
	coretest.Want(t, "allocations of a write", allocations, 0)
}
