package tcp_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestR222WaterMarks is a table of writes and flushes on the loop, with the writability and
// the pending bytes after each. The peer does not read until the end; the
// kernel takes all flushed bytes.
func TestR222WaterMarks(t *testing.T) {
	type step struct {
		write    int // bytes; 0: flush
		writable bool
		pending  int64
		before   int64 // BytesBeforeUnwritable, or BytesBeforeWritable
		events   int   // of WritabilityChanged, so far
	}
	cases := []struct {
		name      string
		low, high int
		steps     []step
	}{
		{"exactly high is writable", 4, 10, []step{{10, true, 10, 1, 0}}},
		{"one more is not", 4, 10, []step{{11, false, 11, 8, 1}}},
		{"the event comes once", 4, 10, []step{{11, false, 11, 8, 1}, {5, false, 16, 13, 1}, {1, false, 17, 14, 1}}},
		{"and once back", 4, 10, []step{{11, false, 11, 8, 1}, {0, true, 0, 11, 2}, {0, true, 0, 11, 2}}},
		{"again and again", 1, 1, []step{{2, false, 2, 2, 1}, {0, true, 0, 2, 2}, {2, false, 2, 2, 3}, {0, true, 0, 2, 4}}},
		{"low = high", 10, 10, []step{{10, true, 10, 1, 0}, {1, false, 11, 2, 1}, {0, true, 0, 11, 2}}},
		{"the defaults", tcp.DefaultLowWaterMark, tcp.DefaultHighWaterMark, []step{{65536, true, 65536, 1, 0}, {1, false, 65537, 65537 - 32768 + 1, 1}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			events := 0
			p := newPair(t, func(at string, ch *tcp.Channel, _ []byte) {
				if at == "WritabilityChanged" {
					events++
				}
			}, tcp.WithWriteBufferWaterMarks(c.low, c.high))
			coretest.OnLoop(t, p.ch.EventLoop(), func() {
				for i, s := range c.steps {
					if s.write > 0 {
						p.ch.Write(make([]byte, s.write))
					} else {
						p.ch.Flush()
					}
					before := p.ch.BytesBeforeUnwritable() + p.ch.BytesBeforeWritable()
					if p.ch.IsWritable() != s.writable || p.ch.PendingBytes() != s.pending || before != s.before || events != s.events {
						t.Errorf("R222: step %d: got writable %v pending %d before %d events %d, want %+v", i, p.ch.IsWritable(), p.ch.PendingBytes(), before, events, s)
					}
				}
				n := events
				p.ch.Write(make([]byte, c.high+1))
				n = max(n, events)
				p.ch.Close()
				if p.ch.IsWritable() || p.ch.BytesBeforeUnwritable() != 0 || p.ch.BytesBeforeWritable() != 0 {
					t.Error("R225: a closed channel says that it may be written to")
				}
				if events != n {
					t.Errorf("R224: the close fired %d events of writability", events-n)
				}
			})
		})
	}
}

// TestR223WritabilityFromOutside: if a write on another goroutine makes the channel
// unwritable, WritabilityChanged is called on the loop.
func TestR223WritabilityFromOutside(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil, tcp.WithWriteBufferWaterMarks(1, 10))
	p.ch.Write(make([]byte, 11))
	p.Await(t, 1, "WritabilityChanged")
	if p.ch.IsWritable() {
		t.Error("R222: writable with 11 bytes pending and a high mark of 10")
	}
	p.ch.Flush()
	p.Await(t, 2, "WritabilityChanged")
	if !p.ch.IsWritable() {
		t.Error("R222: not writable with nothing pending")
	}
}

// TestWritabilityIsNotEntered: a handler that writes whenever it may is not called
// from inside itself, and does not keep the loop.
func TestWritabilityIsNotEntered(t *testing.T) {
	coretest.CheckLeaks(t)
	depth, rounds := 0, 0
	p := newPair(t, func(at string, ch *tcp.Channel, _ []byte) {
		if at != "WritabilityChanged" {
			return
		}
		if depth++; depth > 1 {
			t.Error("WritabilityChanged was called from inside itself")
		}
		defer func() { depth-- }()
		if rounds++; rounds > 500 {
			return
		}
		if ch.IsWritable() {
			ch.Write(make([]byte, 100))
		} else {
			ch.Flush()
		}
	}, tcp.WithWriteBufferWaterMarks(1, 10))
	go func() { _, _ = readAll(p.peer) }()
	coretest.OnLoop(t, p.ch.EventLoop(), func() { p.ch.Write(make([]byte, 11)) })
	p.Await(t, 500, "WritabilityChanged")
}

// TestStreamIsWhole sends a stream in writes of many sizes, from the loop and from
// outside, flushed now and then, to a reader that is slow in between: every byte
// arrives once, in order; the result of each future is right; and no bytes are pending at
// the end.
func TestStreamIsWhole(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, where := range []string{"outside", "loop", "both"} {
		t.Run(where, func(t *testing.T) {
			coretest.CheckLeaks(t)
			rng := rand.New(rand.NewPCG(seed, 1))
			p := newPair(t, nil, tcp.WithSocketBuffers(0, 64<<10), tcp.WithWriteSpin(3))
			const total = 4 << 20
			want := make([]byte, total)
			for i := 0; i < total; i += 4 {
				binary.LittleEndian.PutUint32(want[i:], rng.Uint32())
			}
			got := make(chan []byte, 1)
			go func() {
				b, _ := io.ReadAll(p.peer)
				got <- b
			}()
			var futures []tcp.WriteFuture
			var sizes []int
			for sent := 0; sent < total; {
				n := min(total-sent, 1+rng.IntN(1<<(6+rng.IntN(14))))
				write := p.ch.Write
				if rng.IntN(3) == 0 || sent+n == total {
					write = p.ch.WriteAndFlush
				}
				b := slices.Clone(want[sent : sent+n])
				if where == "loop" || where == "both" && rng.IntN(2) == 0 {
					coretest.OnLoop(t, p.ch.EventLoop(), func() { futures = append(futures, write(b)) })
				} else {
					futures = append(futures, write(b))
				}
				clear(b) // it was copied
				sizes = append(sizes, n)
				sent += n
			}
			p.ch.Flush()
			for i, f := range futures {
				coretest.Await(t, "a write", f.Done())
				if n, err := f.Wait(context.Background()); n != sizes[i] || err != nil {
					t.Fatalf("write %d: got %d and %v, want %d", i, n, err, sizes[i])
				}
			}
			if n := p.ch.PendingBytes(); n != 0 {
				t.Errorf("pending: got %d, want 0", n)
			}
			coretest.OnLoop(t, p.ch.EventLoop(), func() { p.ch.CloseOutput() })
			if b := <-got; !bytes.Equal(b, want) {
				t.Errorf("the stream is not what was written: %d bytes of %d", len(b), total)
			}
		})
	}
}

// TestWritersKeepTheirOrder has many goroutines write numbered messages: those of
// each arrive whole and in order.
func TestWritersKeepTheirOrder(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil)
	const writers, writes = 8, 2000
	for w := range writers {
		go func() {
			for i := range writes {
				var b [8]byte
				binary.LittleEndian.PutUint32(b[:], uint32(w))
				binary.LittleEndian.PutUint32(b[4:], uint32(i))
				p.ch.WriteAndFlush(b[:])
			}
		}()
	}
	var next [writers]uint32
	for range writers * writes {
		var b [8]byte
		if _, err := io.ReadFull(p.peer, b[:]); err != nil {
			t.Fatal(err)
		}
		w, i := binary.LittleEndian.Uint32(b[:]), binary.LittleEndian.Uint32(b[4:])
		if i != next[w] {
			t.Fatalf("writer %d: got message %d, want %d", w, i, next[w])
		}
		next[w]++
	}
}

// TestOthersGetTheirTurn: one channel that could send for ever does not keep
// another one on the loop from being served, and neither does one that could read
// for ever.
func TestOthersGetTheirTurn(t *testing.T) {
	for _, what := range []string{"reads", "writes"} {
		t.Run(what, func(t *testing.T) {
			coretest.CheckLeaks(t)
			g := coretest.NewGroup(t, 1)
			busy := newPairOn(t, g, nil)
			stop := make(chan struct{})
			var wg sync.WaitGroup
			run := func(f func() error) {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for f() == nil {
						select {
						case <-stop:
							return
						default:
						}
					}
				}()
			}
			big := make([]byte, 1<<20)
			if what == "reads" {
				coretest.OnLoop(t, g.Next(), func() { busy.then = nil })
				run(func() error { _, err := busy.peer.Write(big); return err })
			} else {
				run(func() error { _, err := busy.peer.Read(make([]byte, 1<<16)); return err })
				run(func() error { _, err := busy.ch.WriteAndFlush(big).Wait(context.Background()); return err })
			}
			other := newPairOn(t, g, func(at string, ch *tcp.Channel, b []byte) {
				if at == "Read" {
					ch.WriteAndFlush(b)
				}
			})
			_ = other.peer.SetDeadline(time.Now().Add(coretest.HangGuard))
			for i := range 200 {
				if _, err := other.peer.Write([]byte("ping")); err != nil {
					t.Fatal(err)
				}
				var b [4]byte
				if _, err := io.ReadFull(other.peer, b[:]); err != nil {
					t.Fatalf("G13: echo %d beside a busy channel: %v", i, err)
				}
			}
			close(stop)
			busy.ch.Close()
			_ = busy.peer.Close()
			wg.Wait()
		})
	}
}

// TestG18WaitOnTheLoop: a wait for the loop from inside it is an error at once, and
// so is Dial; a write that has completed has a result there too.
func TestG18WaitOnTheLoop(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil)
	coretest.OnLoop(t, p.ch.EventLoop(), func() {
		_, err := p.ch.Write([]byte("x")).Wait(context.Background())
		coretest.WantErr(t, "G18: Wait of a pending write on the loop", err, core.ErrInEventLoop)
		if n, err := p.ch.WriteAndFlush([]byte("xyz")).Wait(context.Background()); n != 3 || err != nil {
			t.Errorf("Wait of a write that is over, on the loop: got %d and %v, want 3", n, err)
		}
		_, err = p.ch.Close().Wait(context.Background())
		if err != nil && !errors.Is(err, core.ErrInEventLoop) {
			t.Error(err)
		}
		_, err = tcp.Dial(context.Background(), p.group, "127.0.0.1:1", tcp.HandlerBase{})
		coretest.WantErr(t, "G18: Dial on the loop", err, core.ErrInEventLoop)
	})
}

// TestWriteFutureValues checks the results of futures in the corner cases.
func TestWriteFutureValues(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil)
	var zero tcp.WriteFuture
	if n, err := zero.Wait(context.Background()); n != 0 || err != nil || zero.Err() != nil {
		t.Errorf("the zero future: got %d and %v, want success", n, err)
	}
	coretest.OnLoop(t, p.ch.EventLoop(), func() {
		if n, err := p.ch.WriteAndFlush(nil).Wait(context.Background()); n != 0 || err != nil {
			t.Errorf("an empty write: got %d and %v, want success", n, err)
		}
	})
	first := p.ch.Write([]byte("one"))
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough")
	cancel(cause)
	if _, err := first.Wait(ctx); !errors.Is(err, cause) || first.Err() != nil {
		t.Errorf("a wait whose context ended: got %v, want the cause; Err %v, want nil", err, first.Err())
	}
	flushed := p.ch.Flush()
	if n, err := flushed.Wait(context.Background()); n != 0 || err != nil {
		t.Errorf("Flush: got %d and %v, want success", n, err)
	}
	if n, err := first.Wait(context.Background()); n != 3 || err != nil {
		t.Errorf("a flushed write: got %d and %v, want 3", n, err)
	}
	first.OnDone(nil)
	coretest.AwaitErr(t, "the close", p.ch.Close())
	if n, err := first.Wait(context.Background()); n != 3 || err != nil {
		t.Errorf("a flushed write after the close: got %d and %v, want 3", n, err)
	}
	late := p.ch.Write([]byte("late"))
	n, err := late.Wait(context.Background())
	coretest.WantErr(t, "a write after the close", err, tcp.ErrChannelClosed)
	if n != 0 {
		t.Errorf("a write after the close took %d bytes, want 0", n)
	}
}

// TestAddresses are known, also after the close.
func TestAddresses(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil)
	same := func(what string, got, want net.Addr) {
		if got.String() != want.String() {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	coretest.AwaitErr(t, "the close", p.ch.Close())
	same("LocalAddr", p.ch.LocalAddr(), p.peer.RemoteAddr())
	same("RemoteAddr", p.ch.RemoteAddr(), p.peer.LocalAddr())
}
