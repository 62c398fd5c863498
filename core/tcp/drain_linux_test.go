package tcp_test

import (
	"context"
	"io"
	"net"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"golang.org/x/sys/unix"
)

// TestG23Drain shuts a loop down whose channel has accepted more than the kernel
// takes, with peers of all kinds. A drained channel: sent = received. An aborted one:
// received <= sent - discarded. Both are counted, and nothing outlives the deadline.
func TestG23Drain(t *testing.T) {
	const sent = 16 << 20
	const endedBefore = "reader that had ended its side"
	const soon = 300 * time.Millisecond // deadline of the shutdowns that must fail
	reader := func(c *net.TCPConn) int64 { n, _ := readAll(c); _ = c.Close(); return n }
	cases := []struct {
		name    string
		timeout time.Duration
		peer    func(c *net.TCPConn) int64 // from the shutdown call on; returns what it received
		drained bool
	}{
		{"reader", coretest.HangGuard, reader, true},
		{endedBefore, coretest.HangGuard, reader, true},
		{"slow reader", coretest.HangGuard, func(c *net.TCPConn) int64 { n := readSlowly(c); _ = c.Close(); return n }, true},
		{"reader that ends its side first", coretest.HangGuard, func(c *net.TCPConn) int64 {
			_ = c.CloseWrite()
			n, _ := readAll(c)
			_ = c.Close()
			return n
		}, true},
		{"reader that keeps sending until it has all", coretest.HangGuard, func(c *net.TCPConn) int64 {
			stop := flood(c)
			n, _ := readAll(c)
			stop()
			_ = c.Close()
			return n
		}, true},
		{"peer that sends first and then reads", coretest.HangGuard, func(c *net.TCPConn) int64 {
			_, _ = c.Write(make([]byte, 32<<20)) // more than the kernels hold: it must be read
			_ = c.CloseWrite()
			n, _ := readAll(c)
			_ = c.Close()
			return n
		}, true},
		{"half a message", coretest.HangGuard, func(c *net.TCPConn) int64 {
			_, _ = c.Write([]byte("half a mess"))
			n, _ := readAll(c)
			_, _ = c.Write([]byte("age"))
			_ = c.Close()
			return n
		}, true},
		{"dead reader", soon, nil, false},
		{"reader that never ends its side", soon, func(c *net.TCPConn) int64 { n, _ := readAll(c); return n }, false},
		{"reader that keeps sending", soon, func(c *net.TCPConn) int64 {
			stop := flood(c)
			n, _ := readAll(c)
			stop()
			return n
		}, false},
		{"reset", coretest.HangGuard, func(c *net.TCPConn) int64 {
			n, _ := io.CopyN(io.Discard, c, 1<<20)
			_ = c.SetLinger(0)
			_ = c.Close()
			return n
		}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			p := newPair(t, nil, tcp.WithHalfClosure(c.name == endedBefore))
			p.kernelHolds(t)
			setBuffer(t, fdOf(t, p.peer), unix.SO_SNDBUF, pinnedBuffer)
			write := p.ch.WriteAndFlush(make([]byte, sent))
			if c.name == endedBefore { // without half closure that would be the end of the channel
				_ = p.peer.CloseWrite()
				p.Await(t, 1, "InputShutdown")
			}
			if _, err := p.group.ShutdownGracefully(0, c.timeout); err != nil {
				t.Fatal(err)
			}
			coretest.WantErr(t, "G22: write after the shutdown call", p.ch.Write([]byte("x")).Err(), tcp.ErrChannelClosing)
			coretest.WantErr(t, "G22: flush after the shutdown call", p.ch.Flush().Err(), tcp.ErrChannelClosing)
			received := make(chan int64, 1)
			if c.peer != nil {
				go func() { received <- c.peer(p.peer) }()
			}
			began := time.Now()
			r := coretest.AwaitDone(t, p.group)
			if took := time.Since(began); !c.drained && c.timeout == soon && took > soon+coretest.HangGuard/2 {
				t.Errorf("G23: the shutdown took %v, its deadline was %v", took, soon)
			}
			if c.peer == nil {
				go func() { n, _ := readAll(p.peer); received <- n }()
			}
			got := <-received
			n, err := write.Wait(context.Background())
			if c.drained {
				if r.ChannelsDrained != 1 || r.ChannelsAborted != 0 || r.BytesDiscarded != 0 || got != sent || err != nil || r.TimedOut {
					t.Errorf("G23: drained: sent %d, received %d, write error %v, report %+v", int64(sent), got, err, r)
				}
				return
			}
			if r.ChannelsDrained != 0 || r.ChannelsAborted != 1 || got > sent-r.BytesDiscarded || int64(n) != sent-r.BytesDiscarded {
				t.Errorf("G23: aborted: sent %d, received %d, the kernel took %d, report %+v", int64(sent), got, n, r)
			}
			coretest.WantErr(t, "G22: a write after everything", p.ch.Write([]byte("x")).Err(), tcp.ErrChannelClosing, tcp.ErrChannelClosed)
		})
	}
}

func readSlowly(c net.Conn) (n int64) {
	b := make([]byte, 128<<10)
	for {
		m, err := c.Read(b)
		n += int64(m)
		if err != nil {
			return n
		}
		if n&(1<<20) != 0 {
			time.Sleep(time.Millisecond) // slow, not synchronised with anything
		}
	}
}

// flood writes to c until it fails or stop is called.
func flood(c *net.TCPConn) (stop func()) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		b := make([]byte, 64<<10)
		for {
			if _, err := c.Write(b); err != nil {
				return
			}
		}
	}()
	return func() {
		_ = c.SetWriteDeadline(time.Unix(1, 0))
		<-over
	}
}

// TestG23InputIsAnswered: a handler can still answer the input that it got before the loop
// began to drain, and gets no input afterwards.
func TestG23InputIsAnswered(t *testing.T) {
	coretest.CheckLeaks(t)
	var given, answered atomic.Int64
	var draining atomic.Bool
	p := newPair(t, func(at string, ch *tcp.Channel, b []byte) {
		if at != "Read" {
			return
		}
		if draining.Load() {
			t.Error("G23: a draining channel delivered input")
		}
		given.Add(int64(len(b)))
		if f := ch.WriteAndFlush(b); f.Err() == nil {
			answered.Add(int64(len(b)))
		} else if !draining.Load() {
			t.Errorf("G23: a handler could not answer what it was given: %v", f.Err())
		}
	})
	stop := flood(p.peer)
	received := make(chan int64, 1)
	go func() { n, _ := readAll(p.peer); received <- n }()
	p.Await(t, 20, "Read")
	coretest.OnLoop(t, p.ch.EventLoop(), func() {
		p.ch.CloseGracefully(time.Time{})
		draining.Store(true)
	})
	got := <-received
	stop()
	_ = p.peer.Close()
	coretest.AwaitErr(t, "the close", p.ch.CloseFuture())
	if got != given.Load() || got != answered.Load() {
		t.Errorf("G23: given %d bytes, answered %d, the peer received %d", given.Load(), answered.Load(), got)
	}
}

// TestG23AnswerWithinRead: if another goroutine requests the end while a handler is in
// Read, the handler can still answer its input; writes of other goroutines are refused.
func TestG23AnswerWithinRead(t *testing.T) {
	for name, end := range map[string]func(p *pair){
		"CloseGracefully":    func(p *pair) { p.ch.CloseGracefully(time.Time{}) },
		"ShutdownGracefully": func(p *pair) { _, _ = p.group.ShutdownGracefully(0, coretest.HangGuard) },
	} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			reading, asked := make(chan struct{}), make(chan struct{})
			var answer tcp.WriteFuture
			p := newPair(t, func(at string, ch *tcp.Channel, b []byte) {
				if at == "Read" {
					close(reading)
					<-asked
					answer = ch.WriteAndFlush([]byte("answer"))
				}
			})
			_, _ = p.peer.Write([]byte("question"))
			coretest.Await(t, "the read", reading)
			end(p)
			coretest.WantErr(t, "G22: write from outside", p.ch.Write([]byte("x")).Err(), tcp.ErrChannelClosing)
			close(asked)
			got, err := io.ReadAll(p.peer)
			if string(got) != "answer" || err != nil {
				t.Errorf("G23: the peer got %q, %v; want the answer", got, err)
			}
			_ = p.peer.Close()
			p.Await(t, 1, "Unregistered")
			coretest.WantErr(t, "G23: the answer", awaitWrite(t, answer), nil)
		})
	}
}

// TestG23EndOfInputBeforeDrain: the loop reads the peer's end after CloseGracefully was
// called and before it begins the drain. The graceful close decides: the peer gets
// every byte, not only our kernel, and the channel counts as drained.
func TestG23EndOfInputBeforeDrain(t *testing.T) {
	for name, opts := range map[string][]tcp.Option{"": nil, ", linger 0": {tcp.WithLinger(0)}, ", linger": {tcp.WithLinger(coretest.HangGuard)}} {
		for _, more := range []bool{false, true} { // than the peer's kernel acknowledges before the peer reads
			for how, end := range map[string]func(p *pair){
				"CloseGracefully":    func(p *pair) { p.ch.CloseGracefully(time.Time{}) },
				"ShutdownGracefully": func(p *pair) { _, _ = p.group.ShutdownGracefully(0, coretest.HangGuard) },
			} {
				t.Run(how+", more "+strconv.FormatBool(more)+name, func(t *testing.T) {
					coretest.CheckLeaks(t)
					reading, ended := make(chan struct{}), make(chan struct{})
					var left int64 = -1
					size := 10
					p := newPair(t, func(at string, ch *tcp.Channel, _ []byte) {
						if at == "Read" {
							close(reading)
							<-ended
							ch.WriteAndFlush(make([]byte, size))
							left = ch.PendingBytes()
						}
					}, append(opts, tcp.WithReadBuffer(1))...) // the read is full: the next one finds the end
					if more {
						size = p.ourKernelTakes(t)
					}
					_, _ = p.peer.Write([]byte("x"))
					coretest.Await(t, "the read", reading)
					_ = p.peer.CloseWrite()
					end(p)
					close(ended)
					if more {
						coretest.OnLoop(t, p.ch.EventLoop(), func() {}) // the end was read, and the peer has not begun to
						if left != 0 {
							t.Fatalf("the kernel did not take %d of %d bytes: this is no test of what it holds", left, size)
						}
					}
					if n, err := readAll(p.peer); n != int64(size) || err != nil {
						t.Errorf("G23: the peer got %d of %d bytes, %v", n, size, err)
					}
					coretest.AwaitErr(t, "the close", p.ch.CloseFuture())
					coretest.WantErr(t, "G23: CloseGracefully", coretest.AwaitErr(t, "it", p.ch.CloseGracefully(time.Time{})), nil)
					if how == "ShutdownGracefully" {
						if r := coretest.AwaitDone(t, p.group); r.ChannelsDrained != 1 || r.ChannelsAborted != 0 {
							t.Errorf("G23: %d drained, %d aborted; want 1, 0", r.ChannelsDrained, r.ChannelsAborted)
						}
					}
				})
			}
		}
	}
}
