package tcp_test

import (
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// sendsFail makes every send fail.
func sendsFail(op string, n int) (int, syscall.Errno) {
	if op == "send" {
		return n, syscall.EPIPE
	}
	return n, 0
}

// TestG22ErrorIsReportedThoughCloseFollows: a send fails, and before its body has ended another
// goroutine closes the channel. The error is the cause of the close, and the handler
// gets it: once, after that body, and before the close.
func TestG22ErrorIsReportedThoughCloseFollows(t *testing.T) {
	for name, opts := range map[string][]tcp.Option{"": nil, " with linger": {tcp.WithLinger(coretest.HangGuard)}, " with linger 0": {tcp.WithLinger(0)}} {
		closes := func(p *pair, ch *tcp.Channel) {
			ch.WriteAndFlush([]byte("x"))
			ch.Close().OnDone(func(struct{}, error) { p.Add("close") })
			ch.Close()
			p.Add("body")
		}
		check := func(t *testing.T, p *pair, want string) {
			t.Helper()
			p.Await(t, 1, "Unregistered")
			p.Want(t, "G22: events", want)
			coretest.WantErr(t, "G22: the cause", p.ch.CloseCause(), syscall.EPIPE)
		}
		opts = append(opts, tcp.WithFaults(sendsFail))
		t.Run("in a task"+name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			p := newPair(t, nil, opts...)
			write := p.ch.Write([]byte("never sent"))
			coretest.OnLoop(t, p.ch.EventLoop(), func() { closes(p, p.ch) })
			check(t, p, "Active body Error close Inactive Unregistered")
			coretest.WantErr(t, "G22: the write", awaitWrite(t, write), tcp.ErrChannelClosed, syscall.EPIPE)
		})
		t.Run("in Read"+name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			p := newPair(t, nil, opts...)
			p.on(t, "Read", func() { closes(p, p.ch) })
			_, _ = p.peer.Write([]byte("x"))
			p.Await(t, 1, "Unregistered")
			check(t, p, "Active Read body ReadComplete Error close Inactive Unregistered")
		})
		t.Run("from outside"+name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			p := newPair(t, nil, opts...)
			coretest.OnLoop(t, p.ch.EventLoop(), func() {
				asked := make(chan struct{})
				go func() { defer close(asked); p.ch.Close() }()
				coretest.Await(t, "the call of Close", asked)
				p.ch.WriteAndFlush([]byte("x"))
			})
			check(t, p, "Active Error Inactive Unregistered")
		})
		t.Run("by a deadline"+name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			p := newPair(t, nil, opts...)
			coretest.OnLoop(t, p.ch.EventLoop(), func() {
				p.ch.Write([]byte("x"))
				p.ch.CloseGracefully(time.Now().Add(time.Hour)) // sends it
				p.ch.CloseGracefully(time.Now().Add(-time.Hour))
				p.ch.FireGraceTimer()
				p.Add("body")
			})
			check(t, p, "Active body Error Inactive Unregistered")
		})
	}
}

// TestG22ErrorIsReportedThoughTheInputEnds: a send fails in the ReadComplete that comes
// between the last input and its end. The handler gets the error all the same.
func TestG22ErrorIsReportedThoughTheInputEnds(t *testing.T) {
	for name, opts := range map[string][]tcp.Option{"": nil, " with half closure": {tcp.WithHalfClosure(true)}} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			var ended atomic.Bool // the end of the input was read
			p := newPair(t, nil, append(opts, tcp.WithReadBuffer(1), tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
				if op == "read" && ended.Load() {
					return 0, 0 // read(2) of nothing brings nothing, as at the end
				}
				return sendsFail(op, n)
			}))...)
			coretest.OnLoop(t, p.ch.EventLoop(), func() {
				p.then = func(at string, ch *tcp.Channel, b []byte) {
					switch at {
					case "Read":
						ended.Store(true)
					case "ReadComplete":
						ch.WriteAndFlush([]byte("x"))
					}
				}
			})
			_, _ = p.peer.Write([]byte("xx")) // more than the buffer has room for: it reads on
			p.Await(t, 1, "Unregistered")
			p.Want(t, "G22: events", "Active Read ReadComplete Error Inactive Unregistered")
			coretest.WantErr(t, "G22: the cause", p.ch.CloseCause(), syscall.EPIPE)
		})
	}
}
