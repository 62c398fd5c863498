package tcp_test

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"golang.org/x/sys/unix"
)

// TestG22CloseOrder is the order of everything that follows a close, for each way in
// which a channel can end. The two writes are not flushed.
func TestG22CloseOrder(t *testing.T) {
	const (
		futures = "closed close graceful w1 w2 "
		end     = futures + "Inactive Unregistered"
		logged  = futures + "log Inactive Unregistered"
	)
	cases := []struct {
		name  string
		opts  []tcp.Option
		close func(t *testing.T, p *pair)
		want  string
		cause error // of the writes; nil: they succeed
	}{
		{name: "Close", close: func(t *testing.T, p *pair) { p.ch.Close() }, want: end, cause: tcp.ErrChannelClosed},
		{name: "Close on the loop", close: func(t *testing.T, p *pair) { coretest.OnLoop(t, p.ch.EventLoop(), func() { p.ch.Close() }) }, want: end, cause: tcp.ErrChannelClosed},
		{name: "Close twice", close: func(t *testing.T, p *pair) {
			if first, second := p.ch.Close(), p.ch.Close(); first != second {
				t.Error("G22: the second Close returned another future")
			}
		}, want: end, cause: tcp.ErrChannelClosed},
		{name: "Close with linger", opts: []tcp.Option{tcp.WithLinger(time.Minute)}, close: func(t *testing.T, p *pair) { p.ch.Close(); _ = p.peer.Close() }, want: end, cause: tcp.ErrChannelClosed},
		{name: "Close with linger 0", opts: []tcp.Option{tcp.WithLinger(0)}, close: func(t *testing.T, p *pair) { p.ch.Close() }, want: end, cause: tcp.ErrChannelClosed},
		{name: "EOF", close: func(t *testing.T, p *pair) { _ = p.peer.CloseWrite() }, want: "w1 w2 closed close graceful Inactive Unregistered"},
		{name: "reset", close: func(t *testing.T, p *pair) { _ = p.peer.SetLinger(0); _ = p.peer.Close() }, want: "Error " + end, cause: syscall.ECONNRESET},
		{name: "reset while paused", close: func(t *testing.T, p *pair) {
			p.ch.SetAutoRead(false)
			_ = p.peer.SetLinger(0)
			_ = p.peer.Close()
		}, want: "Error " + end, cause: syscall.ECONNRESET},
		{name: "Shutdown", close: func(t *testing.T, p *pair) { p.group.Shutdown() }, want: logged, cause: core.ErrShutdown},
		{name: "shutdown with no time", close: func(t *testing.T, p *pair) { _, _ = p.group.ShutdownGracefully(0, 0) }, want: logged, cause: tcp.ErrChannelClosed},
		{name: "shutdown deadline", close: func(t *testing.T, p *pair) { _, _ = p.group.ShutdownGracefully(0, 50*time.Millisecond) },
			want: "w1 w2 closed close graceful log Inactive Unregistered"},
		{name: "panic", close: func(t *testing.T, p *pair) {
			p.on(t, "Read", func() { panic("boom") })
			_, _ = p.peer.Write([]byte("x"))
		}, want: "Read " + logged, cause: tcp.ErrHandlerFailed},
		{name: "Goexit", close: func(t *testing.T, p *pair) {
			p.on(t, "Read", func() { runtime.Goexit() })
			_, _ = p.peer.Write([]byte("x"))
		}, want: "Read " + logged, cause: tcp.ErrHandlerFailed},
		{name: "CloseGracefully", close: func(t *testing.T, p *pair) { p.ch.CloseGracefully(time.Time{}); _ = p.peer.CloseWrite() },
			want: "w1 w2 closed close graceful Inactive Unregistered"},
		{name: "drain", close: func(t *testing.T, p *pair) {
			_, _ = p.group.ShutdownGracefully(0, coretest.HangGuard)
			_ = p.peer.CloseWrite()
		}, want: "w1 w2 closed close graceful Inactive Unregistered"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			var p *pair
			p = newPair(t, nil, append(c.opts, tcp.WithLogger(coretest.OnMessage(func() { p.Add("log") })))...)
			var errs [2]error
			coretest.OnLoop(t, p.ch.EventLoop(), func() {
				// Added in an order that is not the one in which they complete.
				w1, w2 := p.ch.Write([]byte("one")), p.ch.Write([]byte("two"))
				w2.OnDone(func(_ int, err error) { errs[1] = err; p.Add("w2") })
				w1.OnDone(func(_ int, err error) { errs[0] = err; p.Add("w1") })
				p.ch.CloseFuture().OnDone(func(struct{}, error) {
					if _, err := unix.FcntlInt(uintptr(p.ch.FD()), unix.F_GETFD, 0); err == nil {
						t.Error("G22: the socket is open when CloseFuture completes")
					}
					p.Add("closed")
				})
			})
			// The futures that the calls would return, without the calls.
			p.ch.OnClose("close", func() { p.Add("close") })
			p.ch.OnClose("graceful", func() { p.Add("graceful") })
			c.close(t, p)
			p.Await(t, 1, "Unregistered")
			p.Want(t, "G22: order", "Active "+c.want)
			for i, err := range errs {
				switch {
				case c.cause == nil && err != nil:
					t.Errorf("G22: write %d failed: %v", i+1, err)
				case c.cause != nil:
					coretest.WantErr(t, "G22: the write", err, tcp.ErrChannelClosed, c.cause)
				}
			}
			coretest.WantErr(t, "G22: a write after the close", p.ch.Write([]byte("x")).Err(), tcp.ErrChannelClosed)
		})
	}
}

// TestG22CloseInsideEveryCallback closes in each method of the handler, and checks the
// calls that follow, each exactly once.
func TestG22CloseInsideEveryCallback(t *testing.T) {
	const end = " Inactive Unregistered"
	for event, want := range map[string]string{
		"Active":             "Active" + end,
		"Read":               "Active WritabilityChanged Read" + end,
		"ReadComplete":       "Active WritabilityChanged Read ReadComplete" + end,
		"WritabilityChanged": "Active WritabilityChanged" + end,
		"InputShutdown":      "Active WritabilityChanged Read ReadComplete InputShutdown" + end,
		"Inactive":           "Active WritabilityChanged Read ReadComplete InputShutdown ReadComplete Inactive Unregistered",
		"Unregistered":       "Active WritabilityChanged Read ReadComplete InputShutdown ReadComplete Inactive Unregistered",
	} {
		for how, closes := range map[string]func(*tcp.Channel){
			"Close":           func(ch *tcp.Channel) { ch.Close() },
			"CloseGracefully": func(ch *tcp.Channel) { ch.CloseGracefully(time.Now()) },
			"panic":           func(*tcp.Channel) { panic("boom") },
			"Goexit":          func(*tcp.Channel) { runtime.Goexit() },
		} {
			t.Run(how+" in "+event, func(t *testing.T) {
				coretest.CheckLeaks(t)
				p := newPair(t, func(at string, ch *tcp.Channel, _ []byte) {
					if at == event {
						closes(ch)
					}
					if at == "Inactive" {
						coretest.WantErr(t, "G22: write in Inactive", ch.Write([]byte("x")).Err(), tcp.ErrChannelClosed)
						coretest.WantErr(t, "G22: flush in Inactive", ch.Flush().Err(), tcp.ErrChannelClosed)
					}
				}, tcp.WithHalfClosure(true), tcp.WithWriteBufferWaterMarks(1, 1))
				p.ch.Write([]byte("abc"))
				if event != "Active" && event != "WritabilityChanged" {
					p.Await(t, 1, "WritabilityChanged")
				}
				_, _ = p.peer.Write([]byte("x"))
				if !strings.Contains(want, "InputShutdown") {
					p.Await(t, 1, "Unregistered")
				} else {
					p.Await(t, 1, "ReadComplete")
					_ = p.peer.CloseWrite()
					if event != "InputShutdown" {
						p.Await(t, 2, "ReadComplete")
						p.ch.Close()
					}
				}
				p.Await(t, 1, "Unregistered")
				coretest.OnLoop(t, p.ch.EventLoop(), func() {}) // whatever else would be called has been
				p.Want(t, "G22: events", want)
			})
		}
	}
}

// TestG22ErrorCloses closes in Error, and panics in it. Whatever Error does, the error
// is why the channel closed, and why its writes failed.
func TestG22ErrorCloses(t *testing.T) {
	for how, act := range map[string]func(*tcp.Channel){
		"return":          func(*tcp.Channel) {},
		"Close":           func(ch *tcp.Channel) { ch.Close() },
		"CloseGracefully": func(ch *tcp.Channel) { ch.CloseGracefully(time.Time{}) },
		"panic":           func(*tcp.Channel) { panic("boom") },
		"Goexit":          func(*tcp.Channel) { runtime.Goexit() },
	} {
		for linger, opts := range map[string][]tcp.Option{"": nil, " with linger": {tcp.WithLinger(coretest.HangGuard)}} {
			t.Run(how+linger, func(t *testing.T) {
				coretest.CheckLeaks(t)
				p := newPair(t, func(at string, ch *tcp.Channel, _ []byte) {
					if at == "Error" {
						act(ch)
					}
				}, opts...)
				write := p.ch.Write([]byte("never flushed"))
				_ = p.peer.SetLinger(0)
				_ = p.peer.Close()
				p.Await(t, 1, "Unregistered")
				p.Want(t, "G22: events", "Active Error Inactive Unregistered")
				coretest.WantErr(t, "G22: the cause", p.ch.CloseCause(), syscall.ECONNRESET)
				coretest.WantErr(t, "G22: the write", awaitWrite(t, write), tcp.ErrChannelClosed, syscall.ECONNRESET)
			})
		}
	}
}

// TestG22WriteFuturesOnceInOrder has writers on many goroutines, while the channel is
// closed by yet another: each future completes once, in the order of the offsets,
// the successful ones first, and the bytes are accounted for.
func TestG22WriteFuturesOnceInOrder(t *testing.T) {
	coretest.CheckLeaks(t)
	rounds := 40
	if testing.Short() {
		rounds = 10
	}
	g := coretest.NewGroup(t, 1)
	for round := range rounds {
		p := newPairOn(t, g, nil)
		go func() { _, _ = readAll(p.peer) }()
		const writers, writes = 4, 200
		var calls [writers * writes]atomic.Int32
		var order sync.Map // of completion: each writer's are in order
		var wg sync.WaitGroup
		var completed atomic.Int64
		for w := range writers {
			wg.Add(1)
			go func() {
				defer wg.Done()
				last := -1
				failed := false
				for i := range writes {
					f := p.ch.WriteAndFlush(make([]byte, 100))
					f.OnDone(func(n int, err error) {
						calls[w*writes+i].Add(1)
						completed.Add(1)
						if i <= last {
							order.Store("G22: a writer's futures are out of order", [2]int{last, i})
						}
						if failed && err == nil {
							order.Store("G22: a write succeeded after one before it had failed", i)
						}
						if (err == nil) != (n == 100) {
							order.Store("G22: bytes taken do not match the error", n)
						}
						if err != nil && !errors.Is(err, tcp.ErrChannelClosed) {
							order.Store("G22: error", err)
						}
						last, failed = i, failed || err != nil
					})
				}
			}()
		}
		if round%2 == 0 {
			runtime.Gosched()
		}
		p.ch.Close()
		wg.Wait()
		p.Await(t, 1, "Unregistered")
		coretest.OnLoop(t, p.ch.EventLoop(), func() {})
		order.Range(func(k, v any) bool { t.Error(k, v); return true })
		for i := range calls {
			if n := calls[i].Load(); n != 1 {
				t.Fatalf("G22: future %d completed %d times, want once", i, n)
			}
		}
		_ = p.peer.Close()
	}
}

// TestG22ListenersAddedLate: a listener that is added to a completed future runs
// behind all steps of the close, unless a listener of the same future adds it.
func TestG22ListenersAddedLate(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil)
	coretest.OnLoop(t, p.ch.EventLoop(), func() {
		p.ch.CloseFuture().OnDone(func(struct{}, error) {
			p.Add("A")
			p.ch.CloseFuture().OnDone(func(struct{}, error) { p.Add("next") })
		})
		p.ch.OnClose("close", func() {
			p.Add("C")
			p.ch.CloseFuture().OnDone(func(struct{}, error) { p.Add("behind") })
		})
		p.ch.Close()
	})
	p.Await(t, 1, "behind")
	p.Want(t, "G22: order", "Active A next C Inactive Unregistered behind")
}

// TestG22ListenerThatPanics: those behind it keep their place in the order.
func TestG22ListenerThatPanics(t *testing.T) {
	for name, fail := range map[string]func(){"panic": func() { panic("boom") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			p := newPair(t, nil)
			p.ch.CloseFuture().OnDone(func(struct{}, error) { p.Add("A"); fail() })
			p.ch.CloseFuture().OnDone(func(struct{}, error) { p.Add("B") })
			p.ch.Write([]byte("x")).OnDone(func(int, error) { p.Add("W") })
			p.ch.OnClose("close", func() { p.Add("C") })
			p.ch.Close()
			p.Await(t, 1, "Unregistered")
			coretest.OnLoop(t, p.ch.EventLoop(), func() {})
			p.Want(t, "G22: order", "Active A B C W Inactive Unregistered")
		})
	}
}

// afterTheHandlerFailed calls between on the loop after a method of the handler has panicked or called
// runtime.Goexit, and before the channel closes; and check after that. A listener runs then.
func afterTheHandlerFailed(t *testing.T, between func(ch *tcp.Channel), check func(t *testing.T, p *pair)) {
	for name, fail := range map[string]func(){"panic": func() { panic("boom") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			p := newPair(t, func(at string, ch *tcp.Channel, _ []byte) {
				if at != "Read" {
					return
				}
				listener := core.NewPromise[int](ch.EventLoop())
				listener.Future().OnDone(func(int, error) { between(ch) })
				listener.TrySuccess(1)
				fail()
			})
			_, _ = p.peer.Write([]byte("x"))
			p.Await(t, 1, "Unregistered")
			check(t, p)
		})
	}
}

// TestG22NothingIsSentAfterTheHandlerFailed: a write on the loop is refused with the cause, and the
// peer gets no byte of it; the output is not shut down either.
func TestG22NothingIsSentAfterTheHandlerFailed(t *testing.T) {
	var errs [3]error
	var output *core.Future[struct{}]
	afterTheHandlerFailed(t, func(ch *tcp.Channel) {
		errs = [3]error{ch.WriteAndFlush([]byte("after")).Err(), ch.Write([]byte("after")).Err(), ch.Flush().Err()}
		output = ch.CloseOutput()
	}, func(t *testing.T, p *pair) {
		for i, err := range errs {
			coretest.WantErr(t, "G22: "+[]string{"WriteAndFlush", "Write", "Flush"}[i], err, tcp.ErrChannelClosed, tcp.ErrHandlerFailed)
		}
		coretest.WantErr(t, "G22: CloseOutput", coretest.AwaitErr(t, "CloseOutput", output), tcp.ErrChannelClosed, tcp.ErrHandlerFailed)
		if b, err := io.ReadAll(p.peer); len(b) > 0 || err != nil {
			t.Errorf("G22: the peer got %q, %v; want the end of the stream", b, err)
		}
	})
}

// TestG22OnlyTheLoopKnowsThatTheHandlerFailed: a write of another goroutine is accepted until the
// channel closes, and fails with it.
func TestG22OnlyTheLoopKnowsThatTheHandlerFailed(t *testing.T) {
	var elsewhere tcp.WriteFuture
	accepted := false
	afterTheHandlerFailed(t, func(ch *tcp.Channel) {
		made := make(chan tcp.WriteFuture)
		go func() { made <- ch.Write([]byte("after")) }()
		elsewhere = <-made
		accepted = elsewhere.Err() == nil
	}, func(t *testing.T, p *pair) {
		coretest.Want(t, "the write is accepted", accepted, true)
		coretest.WantErr(t, "G22: the write", elsewhere.Err(), tcp.ErrChannelClosed, tcp.ErrHandlerFailed)
	})
}

// TestCloseBehindAFlush: bytes that the closing goroutine has flushed before are sent.
func TestCloseBehindAFlush(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil)
	held, gate := make(chan struct{}), make(chan struct{})
	coretest.MustExecute(t, p.group, func() { close(held); <-gate })
	coretest.Await(t, "the task", held)
	p.ch.WriteAndFlush([]byte("last words"))
	p.ch.Close()
	close(gate)
	got, err := io.ReadAll(p.peer)
	coretest.Must(t, err)
	coretest.Want(t, "what the peer got", string(got), "last words")
	p.Await(t, 1, "Unregistered")
}
