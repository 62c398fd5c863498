package tcp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestFaultsOfStreams makes system calls short, interrupted, or fail with EAGAIN: the stream
// still arrives whole.
func TestFaultsOfStreams(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, fault := range []string{"short", "EINTR", "EAGAIN", "all"} {
		t.Run(fault, func(t *testing.T) {
			coretest.CheckLeaks(t)
			rng := rand.New(rand.NewPCG(seed, 2)) // used on the loop only
			var ch *tcp.Channel
			var on atomic.Bool
			p := newPair(t, func(at string, c *tcp.Channel, b []byte) {
				switch at {
				case "Active":
					ch = c
					on.Store(true)
				case "Read":
					c.Write(b)
					c.WriteAndFlush(b)
				}
			}, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
				if !on.Load() || op != "read" && op != "send" {
					return n, 0
				}
				switch roll := rng.IntN(9); {
				case roll < 2 && (fault == "EINTR" || fault == "all"):
					return n, syscall.EINTR
				case roll == 2 && (fault == "EAGAIN" || fault == "all"):
					// A real one is followed by an edge.
					go ch.Again()
					return n, syscall.EAGAIN
				case roll < 7 && op == "send" && (fault == "short" || fault == "all"):
					return 1 + rng.IntN(n), 0
				}
				return n, 0
			}), tcp.WithReadBuffer(1000), tcp.WithWriteSpin(2))
			const total = 1 << 20
			sent := make([]byte, total)
			data := rand.New(rand.NewPCG(seed, 3))
			for i := range sent {
				sent[i] = byte(data.Uint32())
			}
			go func() {
				for b := sent; len(b) > 0; b = b[min(777, len(b)):] {
					_, _ = p.peer.Write(b[:min(777, len(b))])
				}
			}()
			got := make([]byte, 2*total)
			if _, err := io.ReadFull(p.peer, got); err != nil {
				t.Fatal(err)
			}
			var counts [2][256]int
			for _, b := range sent {
				counts[0][b] += 2
			}
			for _, b := range got {
				counts[1][b]++
			}
			if counts[0] != counts[1] || got[0] != sent[0] {
				t.Error("the stream is not what was written, twice")
			}
			coretest.AwaitErr(t, "the close", p.ch.CloseOutput())
		})
	}
}

// TestFaultsThatClose makes one system call fail, and checks the calls of the handler and
// the error of a pending write.
func TestFaultsThatClose(t *testing.T) {
	cases := []struct {
		op     string
		errno  syscall.Errno
		act    func(p *pair)
		events string
		cause  error // CloseCause
		err    error // of Close
	}{
		{"read", syscall.ECONNRESET, func(p *pair) { _, _ = p.peer.Write([]byte("x")) }, "Active Error Inactive Unregistered", syscall.ECONNRESET, nil},
		{"read", syscall.ETIMEDOUT, func(p *pair) { _, _ = p.peer.Write([]byte("x")) }, "Active Error Inactive Unregistered", syscall.ETIMEDOUT, nil},
		{"send", syscall.EPIPE, func(p *pair) { p.ch.WriteAndFlush([]byte("x")) }, "Active Error Inactive Unregistered", syscall.EPIPE, nil},
		{"send", syscall.ECONNRESET, func(p *pair) { p.ch.Flush() }, "Active Error Inactive Unregistered", syscall.ECONNRESET, nil},
		{"send", syscall.ENOBUFS, func(p *pair) { p.ch.CloseGracefully(time.Time{}) }, "Active Error Inactive Unregistered", syscall.ENOBUFS, nil},
		{"shutdown", syscall.ENOTCONN, func(p *pair) { p.ch.CloseOutput() }, "Active Error Inactive Unregistered", syscall.ENOTCONN, nil},
		{"shutdown", syscall.ENOTCONN, func(p *pair) { p.ch.CloseGracefully(time.Time{}) }, "Active Error Inactive Unregistered", syscall.ENOTCONN, nil},
		{"close", syscall.EIO, func(p *pair) { p.ch.Close() }, "Active Inactive Unregistered", nil, syscall.EIO},
	}
	for _, c := range cases {
		for _, where := range []string{"outside", "loop"} {
			t.Run(c.op+" "+c.errno.Error()+" "+where, func(t *testing.T) {
				coretest.CheckLeaks(t)
				p := newPair(t, nil, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
					if op == c.op {
						return n, c.errno
					}
					return n, 0
				}))
				var closes atomic.Int32
				p.ch.CloseFuture().OnDone(func(_ struct{}, err error) {
					closes.Add(1)
					coretest.WantErr(t, "R213: CloseFuture", err, nil)
				})
				write := p.ch.Write([]byte("pending"))
				if where == "loop" {
					coretest.OnLoop(t, p.ch.EventLoop(), func() { c.act(p) })
				} else {
					c.act(p)
				}
				p.Await(t, 1, "Unregistered")
				p.Want(t, "events", c.events)
				coretest.WantErr(t, "the cause", p.ch.CloseCause(), c.cause)
				coretest.WantErr(t, "R213: Close", coretest.AwaitErr(t, "the close", p.ch.Close()), c.err)
				if closes.Load() != 1 {
					t.Errorf("CloseFuture completed %d times, want once", closes.Load())
				}
				if c.op != "shutdown" {
					err := awaitWrite(t, write)
					var closed *tcp.ClosedError
					if !errors.As(err, &closed) || !errors.Is(err, tcp.ErrChannelClosed) || !errors.Is(closed.Cause, c.cause) {
						t.Errorf("G22: the pending write: got %v, want ErrChannelClosed with %v", err, c.cause)
					}
				}
			})
		}
	}
}

// TestR216FlushAfterFailure: a send that fails in the middle of a handler's call
// closes the channel after that call, and the writes that the handler makes meanwhile fail
// with it.
func TestR216FlushAfterFailure(t *testing.T) {
	coretest.CheckLeaks(t)
	var later tcp.WriteFuture
	p := newPair(t, func(at string, ch *tcp.Channel, b []byte) {
		if at == "Read" {
			ch.WriteAndFlush(b)
			if !ch.IsOpen() {
				t.Error("R216: closed inside a flush")
			}
			later = ch.WriteAndFlush(b)
		}
	}, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
		if op == "send" {
			return n, syscall.EPIPE
		}
		return n, 0
	}))
	_, _ = p.peer.Write([]byte("x"))
	p.Await(t, 1, "Unregistered")
	p.Want(t, "events", "Active Read ReadComplete Error Inactive Unregistered")
	coretest.WantErr(t, "R216: the second write", awaitWrite(t, later), syscall.EPIPE)
}

// TestFaultsOfAccept: errors of one connection are passed over, those of the listener
// end it.
func TestFaultsOfAccept(t *testing.T) {
	for _, c := range []struct {
		errno syscall.Errno
		ends  bool
	}{
		{syscall.ECONNABORTED, false}, {syscall.EPROTO, false}, {syscall.ENETDOWN, false}, {syscall.EINTR, false},
		{syscall.EMFILE, false}, {syscall.ENFILE, false}, {syscall.ENOBUFS, false}, {syscall.ENOMEM, false},
		{syscall.EINVAL, true}, {syscall.EBADF, true},
	} {
		t.Run(c.errno.Error(), func(t *testing.T) {
			coretest.CheckLeaks(t)
			g := coretest.NewGroup(t, 1)
			var failures atomic.Int32
			l, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
				if op == "accept" && failures.Add(1) <= 3 {
					return n, c.errno
				}
				return n, 0
			}))
			if err != nil {
				t.Fatal(err)
			}
			conn, err := net.Dial("tcp", l.Addr().String())
			switch {
			case err == nil:
				defer conn.Close()
			case !c.ends: // the listener may have ended already
				t.Fatal(err)
			}
			if c.ends {
				coretest.WantErr(t, "the listener", coretest.AwaitErr(t, "the close", l.CloseFuture()), nil)
				coretest.WantErr(t, "the cause", l.CloseCause(), c.errno)
				return
			}
			mustEcho(t, conn)
		})
	}
}

// TestFaultsOfConnect: an error of the handshake is the dial's, and names the call.
func TestFaultsOfConnect(t *testing.T) {
	coretest.CheckLeaks(t)
	g := coretest.NewGroup(t, 1)
	l, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho)
	if err != nil {
		t.Fatal(err)
	}
	_, err = tcp.Dial(context.Background(), g, l.Addr().String(), tcp.HandlerBase{}, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
		if op == "connect" {
			return n, syscall.EHOSTUNREACH
		}
		return n, 0
	}))
	coretest.WantErr(t, "Dial", err, syscall.EHOSTUNREACH)
	if err == nil || !bytes.Contains([]byte(err.Error()), []byte("connect")) {
		t.Errorf("got %v, want the call's name in it", err)
	}
}

// TestG22FuturesCompleteInTheOrderOfWrites: a future is requested after its bytes were sent, but before the
// futures in front of it have completed. It completes after them.
func TestG22FuturesCompleteInTheOrderOfWrites(t *testing.T) {
	coretest.CheckLeaks(t)
	var w [3]tcp.WriteFuture
	var p *pair
	sends := 0
	p = newPair(t, nil, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
		if op != "send" {
			return n, 0
		}
		if sends++; sends == 1 {
			return 6, 0 // the first two writes
		}
		w[1].OnDone(func(int, error) { p.Add("w2") })
		return n, 0
	}))
	coretest.OnLoop(t, p.ch.EventLoop(), func() {
		for i := range w {
			w[i] = p.ch.Write([]byte("abc"))
		}
		w[2].OnDone(func(int, error) { p.Add("w3") })
		w[0].OnDone(func(int, error) { p.Add("w1") })
		p.ch.Flush()
	})
	p.Await(t, 1, "w3")
	p.Want(t, "G22: order", "Active w1 w2 w3")
}

// TestR218WriteSpin: a flush ends after so many system calls, and the rest follows.
func TestR218WriteSpin(t *testing.T) {
	for _, spin := range []int{1, 3, tcp.DefaultWriteSpin} {
		t.Run(strconv.Itoa(spin), func(t *testing.T) {
			coretest.CheckLeaks(t)
			p := newPair(t, nil, tcp.WithWriteSpin(spin), tcp.WithSocketBuffers(0, pinnedBuffer), tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
				if op == "send" {
					return 1, 0
				}
				return n, 0
			}))
			var write tcp.WriteFuture
			coretest.OnLoop(t, p.ch.EventLoop(), func() {
				write = p.ch.Write(make([]byte, 100))
				p.ch.Flush()
				if left := p.ch.PendingBytes(); left != int64(100-spin) {
					t.Errorf("R218: %d bytes are left of 100 after a flush of single bytes", left)
				}
			})
			if n, err := write.Wait(context.Background()); n != 100 || err != nil {
				t.Errorf("R218: the write: got %d, %v, want 100", n, err)
			}
		})
	}
}

// TestG13ReadsOfOneReadiness: the reads of one readiness event are bounded, however much input
// there is.
func TestG13ReadsOfOneReadiness(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil, tcp.WithReadBuffer(1))
	_, _ = p.peer.Write(make([]byte, 1000))
	p.Await(t, 1000, "Read")
	for _, reads := range strings.Split(p.String(), "ReadComplete") {
		if n := strings.Count(reads, "Read"); n > 16 {
			t.Errorf("G13: %d reads without a pause, want at most 16", n)
		}
	}
}

// TestR222LowMarkIsStrict: with exactly the low mark pending the channel is not yet
// writable again.
func TestR222LowMarkIsStrict(t *testing.T) {
	coretest.CheckLeaks(t)
	take := []int{7, 0, 1, 0, 0, 3} // bytes of each send; 0: it would block
	p := newPair(t, nil, tcp.WithWriteBufferWaterMarks(4, 10), tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
		if op != "send" {
			return n, 0
		}
		next := take[0]
		take = take[1:]
		if next == 0 {
			return n, syscall.EAGAIN
		}
		return next, 0
	}))
	for i, want := range []struct {
		pending  int64
		writable bool
		events   int
	}{{4, false, 1}, {3, true, 2}, {3, true, 2}, {0, true, 2}} {
		coretest.OnLoop(t, p.ch.EventLoop(), func() {
			if i == 0 {
				p.ch.Write(make([]byte, 11))
				p.ch.Flush()
			} else {
				p.ch.ContinueFlush()
			}
			if events := strings.Count(p.String(), "WritabilityChanged"); p.ch.PendingBytes() != want.pending || p.ch.IsWritable() != want.writable || events != want.events {
				t.Errorf("R222: step %d: got pending %d writable %v events %d, want %+v", i, p.ch.PendingBytes(), p.ch.IsWritable(), events, want)
			}
		})
	}
}
