package tcp_test

import (
	"sync"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestHandlerRunsOnItsLoop: every method, and the listener of a write.
func TestHandlerRunsOnItsLoop(t *testing.T) {
	coretest.CheckLeaks(t)
	var outside sync.Map
	p := newPair(t, func(at string, ch *tcp.Channel, _ []byte) {
		if !ch.EventLoop().InEventLoop() {
			outside.Store(at, true)
		}
	}, tcp.WithHalfClosure(true), tcp.WithWriteBufferWaterMarks(1, 1))
	p.ch.WriteAndFlush([]byte("abc")).OnDone(func(int, error) {
		if !p.ch.EventLoop().InEventLoop() {
			outside.Store("listener", true)
		}
	})
	_, _ = p.peer.Write([]byte("x"))
	_ = p.peer.CloseWrite()
	p.Await(t, 2, "ReadComplete")
	p.ch.Close()
	p.Await(t, 1, "Unregistered")
	outside.Range(func(at, _ any) bool { t.Errorf("%v ran outside the loop", at); return true })
}

// TestUnregisteredIsTheLastCall: the registration ends when it has returned.
func TestUnregisteredIsTheLastCall(t *testing.T) {
	coretest.CheckLeaks(t)
	var during int64
	p := newPair(t, func(at string, ch *tcp.Channel, _ []byte) {
		if at == "Unregistered" {
			during = ch.EventLoop().Stats().Registrations
		}
	})
	coretest.AwaitErr(t, "the close", p.ch.Close())
	p.Await(t, 1, "Unregistered")
	var after int64
	coretest.OnLoop(t, p.group, func() { after = loopOf(p.group).Stats().Registrations })
	coretest.Want(t, "registrations during and after Unregistered", [2]int64{during, after}, [2]int64{1, 0})
}

// TestNoErrorAfterAnAbort: a send fails, and a shutdown aborts the channel before Handler.Error can
// be called. It is not called then.
func TestNoErrorAfterAnAbort(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil, tcp.WithFaults(sendsFail))
	shutdown := core.NewPromise[int](p.ch.EventLoop())
	shutdown.Future().OnDone(func(int, error) { p.group.Shutdown() })
	coretest.OnLoop(t, p.group, func() {
		shutdown.TrySuccess(1)
		p.ch.WriteAndFlush([]byte("x"))
	})
	coretest.AwaitDone(t, p.group)
	p.Want(t, "events", "Active Inactive Unregistered")
	coretest.WantErr(t, "the cause", p.ch.CloseCause(), core.ErrShutdown)
}
