package tcp_test

import (
	"context"
	"errors"
	"net/netip"
	"syscall"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestDialAsyncOnALoop: the call returns there, and its listener runs on the loop of the channel.
func TestDialAsyncOnALoop(t *testing.T) {
	coretest.CheckLeaks(t)
	g := coretest.NewGroup(t, 1)
	l, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho)
	coretest.Must(t, err)
	inLoop := make(chan bool, 1)
	coretest.OnLoop(t, g, func() {
		f := tcp.DialAsync(t.Context(), g, l.Addr().String(), tcp.HandlerBase{})
		f.OnDone(func(ch *tcp.Channel, err error) { inLoop <- err == nil && ch.EventLoop().InEventLoop() })
	})
	coretest.Want(t, "the listener has a channel, and is on its loop", <-inLoop, true)
}

// TestDialIsCompleteOnceActive: not before Handler.Active is called.
func TestDialIsCompleteOnceActive(t *testing.T) {
	coretest.CheckLeaks(t)
	l, err := listenForPeers()
	coretest.Must(t, err)
	defer l.Close()
	futures, early := make(chan *core.Future[*tcp.Channel], 1), make(chan bool, 1)
	f := tcp.DialAsync(t.Context(), coretest.NewGroup(t, 1), l.Addr().String(), &recorder{then: func(at string, _ *tcp.Channel, _ []byte) {
		if at == "Active" {
			select {
			case <-(<-futures).Done():
				early <- true
			default:
				early <- false
			}
		}
	}})
	futures <- f
	coretest.Must(t, coretest.AwaitErr(t, "the dial", f))
	coretest.Want(t, "complete before Active", <-early, false)
}

// TestDialTriesEachAddress in turn: the first that answers is used, and the error has those of all.
func TestDialTriesEachAddress(t *testing.T) {
	coretest.CheckLeaks(t)
	g := coretest.NewGroup(t, 1)
	l, err := listenForPeers()
	coretest.Must(t, err)
	defer l.Close()
	dead, other := netip.MustParseAddrPort(closedAddr(t)), netip.MustParseAddrPort(closedAddr(t))
	ch, err := tcp.DialEach(t.Context(), g, tcp.HandlerBase{}, []netip.AddrPort{dead, netip.MustParseAddrPort(l.Addr().String())})
	coretest.Must(t, err)
	coretest.Want(t, "the peer", ch.RemoteAddr().String(), l.Addr().String())
	_, err = tcp.DialEach(t.Context(), g, tcp.HandlerBase{}, []netip.AddrPort{dead, other})
	coretest.WantErr(t, "no address answers", err, syscall.ECONNREFUSED)
	if all, ok := err.(interface{ Unwrap() []error }); !ok || len(all.Unwrap()) != 2 {
		t.Errorf("the error is %#v, want those of two addresses", err)
	}
}

// TestDialOnALoopHasNoEffect: it is refused, and no connection is made.
func TestDialOnALoopHasNoEffect(t *testing.T) {
	coretest.CheckLeaks(t)
	g := coretest.NewGroup(t, 1)
	l, err := listenForPeers()
	coretest.Must(t, err)
	defer l.Close()
	coretest.OnLoop(t, g, func() {
		_, err := tcp.Dial(t.Context(), g, l.Addr().String(), tcp.HandlerBase{})
		coretest.WantErr(t, "G18: Dial on the loop", err, core.ErrInEventLoop)
	})
	coretest.OnLoop(t, g, func() {})
	coretest.Want(t, "registrations", g.Stats().Registrations, 0)
}

// TestDialWhoseContextEndsAsItConnects returns the cause. The handler gets its first and its last
// calls, and the connection is closed.
func TestDialWhoseContextEndsAsItConnects(t *testing.T) {
	coretest.CheckLeaks(t)
	g := coretest.NewGroup(t, 1)
	l, err := listenForPeers()
	coretest.Must(t, err)
	defer l.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	result, returned := make(chan error, 1), make(chan struct{})
	h := &recorder{}
	go func() {
		defer close(returned)
		_, err := tcp.Dial(ctx, g, l.Addr().String(), h, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
			if op == "connect" {
				cancel(cause)
				<-returned
			}
			return n, 0
		}))
		result <- err
	}()
	coretest.WantErr(t, "Dial", <-result, cause)
	coretest.Until(t, "the handler to be called", func() bool { return h.String() != "" })
	for range 10 {
		coretest.OnLoop(t, g, func() {})
	}
	h.Want(t, "events", "Active Inactive Unregistered")
}
