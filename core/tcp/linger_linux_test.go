package tcp_test

import (
	"errors"
	"io"
	"syscall"
	"testing"
	"time"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestLinger: Close waits for the peer's kernel, off the loop, and no longer than
// allowed or than there is a connection; a shutdown cuts it short.
func TestLinger(t *testing.T) {
	for name, c := range map[string]struct {
		linger time.Duration
		then   func(t *testing.T, p *pair, closed <-chan struct{})
	}{
		"until it is acknowledged": {coretest.HangGuard, func(t *testing.T, p *pair, closed <-chan struct{}) {
			select {
			case <-closed:
				t.Error("closed before the peer had read")
			default:
			}
			_, _ = readAll(p.peer)
		}},
		"until the connection is reset": {time.Hour, func(_ *testing.T, p *pair, _ <-chan struct{}) {
			_ = p.peer.SetLinger(0)
			_ = p.peer.Close()
		}},
		"until the time is over": {50 * time.Millisecond, func(*testing.T, *pair, <-chan struct{}) {}},
		"until a shutdown": {coretest.HangGuard, func(_ *testing.T, p *pair, _ <-chan struct{}) {
			_, _ = p.group.ShutdownGracefully(0, time.Millisecond)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			p := newPair(t, nil, tcp.WithLinger(c.linger))
			p.fill(t)
			f := p.ch.Close()
			coretest.OnLoop(t, p.ch.EventLoop(), func() {}) // the loop is not blocked
			coretest.WantErr(t, "write while it lingers", p.ch.Write([]byte("x")).Err(), tcp.ErrChannelClosed)
			c.then(t, p, f.Done())
			coretest.WantErr(t, "the close", coretest.AwaitErr(t, "the close", f), nil)
			p.Await(t, 1, "Unregistered")
		})
	}
}

// TestG23ResetIsNoEndInOrder: a channel whose close resets the connection has not closed
// gracefully when the peer ends its stream: the peer sees a reset.
func TestG23ResetIsNoEndInOrder(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil, tcp.WithLinger(0))
	if err := p.peer.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	p.Await(t, 1, "Unregistered")
	coretest.WantErr(t, "the peer's read", func() error { _, err := readAll(p.peer); return err }(), syscall.ECONNRESET)
	coretest.WantErr(t, "the graceful close", coretest.AwaitErr(t, "the graceful close", p.ch.CloseGracefully(time.Time{})), io.EOF)
}

// TestCloseCauseWhileItLingers: it is set when writes are first refused, and the socket is still
// open.
func TestCloseCauseWhileItLingers(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil, tcp.WithLinger(coretest.HangGuard))
	coretest.WantErr(t, "the cause before the close", p.ch.CloseCause(), nil)
	n := p.ourKernelTakes(t)
	coretest.Must(t, awaitWrite(t, p.ch.WriteAndFlush(make([]byte, n))))
	coretest.Must(t, p.peer.CloseWrite())
	coretest.Until(t, "writes to be refused", func() bool { return p.ch.Write(nil).Err() != nil })
	coretest.WantErr(t, "the cause while it lingers", p.ch.CloseCause(), io.EOF)
	coretest.Want(t, "writable while it lingers", p.ch.IsWritable(), false)
	select {
	case <-p.ch.CloseFuture().Done():
		t.Error("the socket is closed before the peer has read")
	default:
	}
	_, _ = readAll(p.peer)
	_ = p.peer.Close()
	p.Await(t, 1, "Unregistered")
}

// TestCauseOfALingerThatAShutdownCutsShort: the channel was closed for users before, so its cause and the error of writes stay; the
// report counts the cut.
func TestCauseOfALingerThatAShutdownCutsShort(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil, tcp.WithLinger(time.Hour))
	p.fill(t)
	f := p.ch.Close()
	coretest.OnLoop(t, p.ch.EventLoop(), func() {})
	p.group.Shutdown()
	coretest.WantErr(t, "the close", coretest.AwaitErr(t, "the close", f), nil)
	coretest.WantErr(t, "the cause", p.ch.CloseCause(), nil)
	var closed *tcp.ClosedError
	if err := p.ch.Write([]byte("x")).Err(); !errors.As(err, &closed) || closed.Cause != nil {
		t.Errorf("a write: got %v, want a ClosedError without a cause", err)
	}
	coretest.Want(t, "aborted channels", coretest.AwaitDone(t, p.group).ChannelsAborted, 1)
}
