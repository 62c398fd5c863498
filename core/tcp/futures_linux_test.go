package tcp_test

import (
	"context"
	"testing"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestFuturesThatCannotBeCancelled: Cancel returns false and changes nothing.
func TestFuturesThatCannotBeCancelled(t *testing.T) {
	coretest.CheckLeaks(t)
	g := coretest.NewGroup(t, 1)
	p := newPairOn(t, g, nil)
	coretest.Want(t, "Cancel of CloseFuture", p.ch.CloseFuture().Cancel(), false)
	ctx, cancel := context.WithCancel(t.Context())
	f := tcp.DialAsync(ctx, g, silentAddr(t), tcp.HandlerBase{})
	coretest.Want(t, "Cancel of DialAsync", f.Cancel(), false)
	cancel()
	coretest.WantErr(t, "the dial", coretest.AwaitErr(t, "the dial", f), context.Canceled)
	coretest.AwaitErr(t, "the close", p.ch.Close())
	coretest.WantErr(t, "CloseFuture", coretest.AwaitErr(t, "it", p.ch.CloseFuture()), nil)
}

// TestListenerAfterTheLoop: a listener that is added after the end of the loop has run when
// OnDone returns.
func TestListenerAfterTheLoop(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil)
	f := p.ch.WriteAndFlush([]byte("abc"))
	coretest.Must(t, awaitWrite(t, f))
	p.group.Shutdown()
	coretest.AwaitDone(t, p.group)
	got := 0
	f.OnDone(func(n int, err error) { got = n; coretest.WantErr(t, "the write", err, nil) })
	coretest.Want(t, "bytes that the listener was called with", got, 3)
}
