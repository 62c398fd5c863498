package tcp_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
	"eventide/core/tcp/tcptest"
)

// TestPausedInput: during a pause no read begins and the end of the stream is not noticed, and
// a pause by the handler holds for the input of the same readiness event.
func TestPausedInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{}
		p := tcptest.Connect(t, h)
		p.Channel().SetAutoRead(false)
		p.Send([]byte("x"))
		p.End()
		h.Want(t, "in the pause", "Active")
		p.Channel().SetAutoRead(true)
		synctest.Wait()
		h.Want(t, "after the pause", "Active Read ReadComplete Inactive Unregistered")
	})
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{then: func(at string, ch *tcp.Channel, _ []byte) {
			if at == "Read" {
				ch.SetAutoRead(false)
			}
		}}
		p := tcptest.Connect(t, h, tcp.WithReadBuffer(1))
		p.Send([]byte("xyz"))
		h.Want(t, "a pause in Read", "Active Read ReadComplete")
	})
}

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

// TestNextLoops: listeners take the loops of the boss group in turn, and channels those of the
// worker group. newHandler is called on the loop of its channel.
func TestNextLoops(t *testing.T) {
	coretest.CheckLeaks(t)
	boss, workers := coretest.NewGroup(t, 2), coretest.NewGroup(t, 3)
	loops := make(chan core.EventExecutor, 6)
	newHandler := func() tcp.Handler {
		for loop := range workers.All() {
			if loop.InEventLoop() {
				loops <- loop
			}
		}
		return echo{}
	}
	first, err := tcp.Listen(boss, workers, "127.0.0.1:0", newHandler)
	coretest.Must(t, err)
	second, err := tcp.Listen(boss, workers, "127.0.0.1:0", newHandler)
	coretest.Must(t, err)
	coretest.Want(t, "both listeners are on one loop", first.EventLoop() == second.EventLoop(), false)
	counts := map[core.EventExecutor]int{}
	for range cap(loops) {
		mustEcho(t, mustDial(t, first.Addr()))
		counts[<-loops]++
	}
	coretest.Want(t, "loops that have channels", len(counts), 3)
	for _, n := range counts {
		coretest.Want(t, "channels of a loop", n, 2)
	}
}

// TestHoldDoesNotDelayInputShutdown: it is called while the channel is held, and the hold still
// keeps the output open at a later graceful close.
func TestHoldDoesNotDelayInputShutdown(t *testing.T) {
	coretest.CheckLeaks(t)
	p, release := heldPair(t, tcp.WithHalfClosure(true))
	coretest.Must(t, p.peer.CloseWrite())
	coretest.Until(t, "the end of the stream to be seen", func() (ended bool) {
		coretest.OnLoop(t, p.ch.EventLoop(), func() { ended = p.ch.InputEnded() })
		return ended
	})
	p.Want(t, "events", "Active Read ReadComplete InputShutdown ReadComplete")
	p.ch.CloseGracefully(time.Time{})
	coretest.OnLoop(t, p.group, func() {})
	coretest.WantErr(t, "G23: the answer", p.ch.Write([]byte("answer")).Err(), nil)
	release()
	got, err := io.ReadAll(p.peer)
	coretest.Must(t, err)
	coretest.Want(t, "G23: what the peer got", string(got), "answer")
	p.Await(t, 1, "Unregistered")
}

// TestWritesAfterThePeersEnd: while the channel sends its buffer, and once both sides have ended,
// a write fails with ErrChannelClosing.
func TestWritesAfterThePeersEnd(t *testing.T) {
	for name, halfClosure := range map[string]bool{"sends its buffer": false, "both sides have ended": true} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			p := newPair(t, nil, noWaterMarks(), tcp.WithHalfClosure(halfClosure))
			if halfClosure {
				p.ch.WriteAndFlush(make([]byte, p.ourKernelTakes(t))) // not acknowledged before the peer reads
				coretest.AwaitErr(t, "the output", p.ch.CloseOutput())
			} else {
				p.fill(t)
			}
			coretest.Must(t, p.peer.CloseWrite())
			coretest.Until(t, "the channel to close", func() bool { return !p.ch.IsOpen() })
			coretest.WantErr(t, "a write", p.ch.Write([]byte("x")).Err(), tcp.ErrChannelClosing)
			coretest.OnLoop(t, p.group, func() {
				coretest.WantErr(t, "a write on the loop", p.ch.Write([]byte("x")).Err(), tcp.ErrChannelClosing)
			})
			_, _ = readAll(p.peer)
			_ = p.peer.Close()
			p.Await(t, 1, "Unregistered")
			coretest.WantErr(t, "the cause", p.ch.CloseCause(), io.EOF)
		})
	}
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
	select {
	case <-p.ch.CloseFuture().Done():
		t.Error("the socket is closed before the peer has read")
	default:
	}
	_, _ = readAll(p.peer)
	_ = p.peer.Close()
	p.Await(t, 1, "Unregistered")
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
	ch, err := tcp.DialEach(t.Context(), g, tcp.HandlerBase{}, dead, netip.MustParseAddrPort(l.Addr().String()))
	coretest.Must(t, err)
	coretest.Want(t, "the peer", ch.RemoteAddr().String(), l.Addr().String())
	_, err = tcp.DialEach(t.Context(), g, tcp.HandlerBase{}, dead, other)
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

// TestChannelsOfExecutors: a group that is not made of event loops has none.
func TestChannelsOfExecutors(t *testing.T) {
	for range tcp.Channels(coretest.NewExecutorGroup(t, 1)) {
		t.Error("an executor without I/O has a channel")
	}
}

// levels records the level of each message.
type levels struct {
	slog.Handler
	mu  *sync.Mutex
	all *[]slog.Level
}

func newLevels(t *testing.T) (l levels, option tcp.Option) {
	text := slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})
	l = levels{text, new(sync.Mutex), new([]slog.Level)}
	return l, tcp.WithLogger(slog.New(l))
}

func (l levels) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	*l.all = append(*l.all, r.Level)
	return nil
}

// TestLevels: failures are logged at Warn or Error; of the pauses of a listener the first at Warn,
// and later short ones at Debug.
func TestLevels(t *testing.T) {
	want := func(t *testing.T, l levels, want ...slog.Level) {
		t.Helper()
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(*l.all) != len(want) {
			t.Fatalf("levels: got %v, want %v", *l.all, want)
		}
		for i := range want {
			coretest.Want(t, "level", (*l.all)[i], want[i])
		}
	}
	t.Run("pauses", func(t *testing.T) {
		coretest.CheckLeaks(t)
		l, logger := newLevels(t)
		var attempts atomic.Int64
		g := coretest.NewGroup(t, 1)
		listener, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho, logger, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
			if op == "accept" && attempts.Add(1) <= 3 {
				return n, syscall.EMFILE
			}
			return n, 0
		}))
		coretest.Must(t, err)
		mustEcho(t, mustDial(t, listener.Addr()))
		want(t, l, slog.LevelWarn, slog.LevelDebug, slog.LevelDebug)
	})
	t.Run("a handler that panics", func(t *testing.T) {
		coretest.CheckLeaks(t)
		l, logger := newLevels(t)
		p := newPair(t, func(at string, _ *tcp.Channel, _ []byte) {
			if at == "Read" {
				panic("boom")
			}
		}, logger)
		_, _ = p.peer.Write([]byte("x"))
		p.Await(t, 1, "Unregistered")
		awaitGroupDown(t, p.group)
		want(t, l, slog.LevelError)
	})
	t.Run("a refused connection", func(t *testing.T) {
		coretest.CheckLeaks(t)
		l, logger := newLevels(t)
		g := coretest.NewGroup(t, 1)
		listener, err := tcp.Listen(g, g, "127.0.0.1:0", func() tcp.Handler { return nil }, logger)
		coretest.Must(t, err)
		wantEnd(t, mustDial(t, listener.Addr()))
		want(t, l, slog.LevelWarn)
	})
}

// stub is a Socket that counts the calls of Close.
type stub struct {
	tcp.Socket
	closed *int
}

func (stub) FD() int                      { return 1 << 20 }
func (stub) Addrs() (l, r netip.AddrPort) { return }
func (s stub) Close(bool) error           { *s.closed++; return nil }

// TestEmbedThatFails leaves the socket to the caller, and does not call the handler.
func TestEmbedThatFails(t *testing.T) {
	coretest.CheckLeaks(t)
	closed := 0
	s := stub{closed: &closed}
	h := &recorder{}
	g, ended := coretest.NewGroup(t, 1), coretest.NewGroup(t, 1)
	ended.Shutdown()
	coretest.AwaitDone(t, ended)
	for name, f := range map[string]*core.Future[*tcp.Channel]{
		"no loop":                      tcp.Embed(nil, s, h),
		"no socket":                    tcp.Embed(loopOf(g), nil, h),
		"no handler":                   tcp.Embed(loopOf(g), s, nil),
		"a bad option":                 tcp.Embed(loopOf(g), s, h, tcp.WithWriteSpin(0)),
		"a loop that has ended":        tcp.Embed(loopOf(ended), s, h),
		"a poller that has no such FD": tcp.Embed(loopOf(g), s, h),
	} {
		if err := coretest.AwaitErr(t, name, f); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	coretest.OnLoop(t, g, func() {})
	coretest.Want(t, "calls of Close", closed, 0)
	h.Want(t, "the handler", "")
}

// TestEmbedWhoseActivePanics: the future completes with the channel, which closes, and its
// listeners run on the loop.
func TestEmbedWhoseActivePanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{then: func(at string, _ *tcp.Channel, _ []byte) {
			if at == "Active" {
				panic("boom")
			}
		}}
		p := tcptest.Connect(t, h)
		coretest.WantErr(t, "the cause", p.Channel().CloseCause(), tcp.ErrHandlerFailed)
		h.Want(t, "events", "Active Inactive Unregistered")
	})
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

// TestErrorOfAListenersClose is that of close(2) for Close, and nil for CloseFuture.
func TestErrorOfAListenersClose(t *testing.T) {
	coretest.CheckLeaks(t)
	g := coretest.NewGroup(t, 1)
	l, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
		if op == "close" {
			return n, syscall.EIO
		}
		return n, 0
	}))
	coretest.Must(t, err)
	always := l.CloseFuture()
	coretest.WantErr(t, "Close", coretest.AwaitErr(t, "the close", l.Close()), syscall.EIO)
	coretest.WantErr(t, "CloseFuture", coretest.AwaitErr(t, "it", always), nil)
	coretest.WantErr(t, "a second Close", coretest.AwaitErr(t, "it", l.Close()), syscall.EIO)
}
