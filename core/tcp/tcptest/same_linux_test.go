package tcptest_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
	"eventide/core/tcp/tcptest"
)

// world is a channel, its loop and its peer, on a socket or in memory.
type world struct {
	t        *testing.T
	journal  *coretest.Journal
	ch       *tcp.Channel
	loop     core.EventExecutor
	send     func(b []byte)
	end      func() // of the peer's side
	reset    func()
	received func() (string, error) // all until the channel's side ends
}

func (w *world) await(event string) { w.t.Helper(); w.journal.Await(w.t, 1, event) }

// on runs f on the loop.
func (w *world) on(f func()) { w.t.Helper(); coretest.OnLoop(w.t, w.loop, f) }

// recorder is a handler that records its calls, and then runs a function of the scenario.
type recorder struct {
	*coretest.Journal
	then func(event string, ch *tcp.Channel, p []byte)
}

func (r recorder) record(event string, ch *tcp.Channel, p []byte) {
	r.Add(event)
	if r.then != nil {
		r.then(event, ch, p)
	}
}

func (r recorder) Active(ch *tcp.Channel)             { r.record("Active", ch, nil) }
func (r recorder) Read(ch *tcp.Channel, p []byte)     { r.record("Read", ch, p) }
func (r recorder) ReadComplete(ch *tcp.Channel)       { r.record("ReadComplete", ch, nil) }
func (r recorder) WritabilityChanged(ch *tcp.Channel) { r.record("WritabilityChanged", ch, nil) }
func (r recorder) InputShutdown(ch *tcp.Channel)      { r.record("InputShutdown", ch, nil) }
func (r recorder) Inactive(ch *tcp.Channel)           { r.record("Inactive", ch, nil) }
func (r recorder) Unregistered(ch *tcp.Channel)       { r.record("Unregistered", ch, nil) }
func (r recorder) Error(ch *tcp.Channel, err error)   { r.record("Error", ch, nil) }

// outcome is everything of a scenario that is compared.
type outcome struct {
	journal, received, end, cause     string
	drained, aborted, held, discarded int64
}

type scenario struct {
	name    string
	opts    []tcp.Option
	handler func(j *coretest.Journal) func(event string, ch *tcp.Channel, p []byte)
	script  func(w *world)
}

func (s scenario) newHandler(j *coretest.Journal) recorder {
	r := recorder{Journal: j}
	if s.handler != nil {
		r.then = s.handler(j)
	}
	return r
}

// finish ends the loop after the script, and returns the outcome.
func (w *world) finish(term func() *core.Termination) outcome {
	w.await("Unregistered")
	report, err := term().Wait(context.Background())
	coretest.Must(w.t, err)
	received, err := w.received()
	o := outcome{journal: w.journal.String(), received: received, end: "in order",
		drained: report.ChannelsDrained, aborted: report.ChannelsAborted, held: report.ChannelsHeld, discarded: report.BytesDiscarded}
	if err != nil {
		o.end = "reset"
	}
	if cause := w.ch.CloseCause(); cause != nil {
		o.cause = cause.Error()
	}
	return o
}

func (s scenario) onASocket(t *testing.T) outcome {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	coretest.Must(t, err)
	defer l.Close()
	g := coretest.NewGroup(t, 1)
	w := &world{t: t, journal: new(coretest.Journal), loop: g}
	dialled := tcp.DialAsync(context.Background(), g, l.Addr().String(), s.newHandler(w.journal), s.opts...)
	c, err := l.Accept()
	coretest.Must(t, err)
	defer c.Close()
	peer := c.(*net.TCPConn)
	w.ch, err = dialled.Wait(context.Background())
	coretest.Must(t, err)
	w.send = func(b []byte) { _, _ = peer.Write(b) }
	w.end = func() { _ = peer.CloseWrite() }
	w.reset = func() { _ = peer.SetLinger(0); _ = peer.Close() }
	w.received = func() (string, error) {
		b, err := io.ReadAll(peer)
		return string(b), err
	}
	s.script(w)
	return w.finish(func() *core.Termination { return g.Shutdown() })
}

func (s scenario) inMemory(t *testing.T) (o outcome) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, journal: new(coretest.Journal)}
		peer := tcptest.Connect(t, s.newHandler(w.journal), s.opts...)
		w.ch, w.loop, w.send, w.end, w.reset = peer.Channel(), peer.EventLoop(), peer.Send, peer.End, peer.Reset
		w.received = func() (string, error) {
			err := peer.Err()
			if err == io.EOF {
				err = nil
			}
			return string(peer.Received()), err
		}
		s.script(w)
		o = w.finish(func() *core.Termination { return peer.EventLoop().Shutdown() })
	})
	return o
}

func (w *world) shutdownGracefully(timeout time.Duration) {
	_, err := w.ch.EventLoop().ShutdownGracefully(0, timeout)
	coretest.Must(w.t, err)
}

// when returns a handler that does f at an event.
func when(event string, f func(ch *tcp.Channel, p []byte)) func(*coretest.Journal) func(string, *tcp.Channel, []byte) {
	return func(*coretest.Journal) func(string, *tcp.Channel, []byte) {
		return func(at string, ch *tcp.Channel, p []byte) {
			if at == event {
				f(ch, p)
			}
		}
	}
}

var echo = when("Read", func(ch *tcp.Channel, p []byte) { ch.WriteAndFlush(p) })

var scenarios = []scenario{
	{"the peer ends", nil, echo, func(w *world) { w.send([]byte("hello")); w.await("ReadComplete"); w.end() }},
	{"the peer ends at once", nil, nil, func(w *world) { w.end() }},
	{"half closure", []tcp.Option{tcp.WithHalfClosure(true)}, when("InputShutdown", func(ch *tcp.Channel, _ []byte) {
		ch.Write([]byte("late"))
		ch.CloseOutput()
	}), func(w *world) { w.end() }},
	{"the peer resets", nil, nil, func(w *world) { w.reset() }},
	{"Close in Read", nil, when("Read", func(ch *tcp.Channel, p []byte) { ch.WriteAndFlush(p); ch.Close() }), func(w *world) { w.send([]byte("hello")) }},
	{"Close with unread input", []tcp.Option{tcp.WithReadBuffer(2)}, when("Read", func(ch *tcp.Channel, _ []byte) { ch.Close() }), func(w *world) { w.send([]byte("hello")) }},
	{"Close by reset", []tcp.Option{tcp.WithLinger(0)}, when("Active", func(ch *tcp.Channel, _ []byte) { ch.Close() }), func(*world) {}},
	{"CloseGracefully in Active", nil, when("Active", func(ch *tcp.Channel, _ []byte) {
		ch.Write([]byte("hello"))
		ch.CloseGracefully(time.Time{})
	}), func(w *world) { w.send([]byte("is not read")); w.end() }},
	{"CloseGracefully with a deadline", nil, nil, func(w *world) {
		w.ch.CloseGracefully(time.Now().Add(20 * time.Millisecond))
		w.await("Unregistered")
		w.end()
	}},
	{"a graceful shutdown", nil, echo, func(w *world) {
		w.send([]byte("hello"))
		w.await("ReadComplete")
		w.shutdownGracefully(coretest.HangGuard)
		w.send([]byte("is not read"))
		w.end()
	}},
	{"a graceful shutdown without a peer that ends", nil, nil, func(w *world) { w.shutdownGracefully(20 * time.Millisecond); w.await("Unregistered") }},
	{"Shutdown", nil, when("Active", func(ch *tcp.Channel, _ []byte) { ch.Write([]byte("lost")) }), func(w *world) {
		w.on(func() {})
		w.ch.EventLoop().Shutdown()
	}},
	{"a held channel", nil, when("Read", func(ch *tcp.Channel, p []byte) {
		release, err := ch.Hold()
		if err != nil {
			panic(err)
		}
		answer := strings.ToUpper(string(p))
		time.AfterFunc(20*time.Millisecond, func() { ch.WriteAndFlush([]byte(answer)); release() })
	}), func(w *world) {
		w.send([]byte("question"))
		w.await("ReadComplete")
		w.shutdownGracefully(coretest.HangGuard)
		w.end()
	}},
	{"held at the deadline", nil, when("Read", func(ch *tcp.Channel, _ []byte) { _, _ = ch.Hold() }), func(w *world) {
		w.send([]byte("question"))
		w.await("ReadComplete")
		w.shutdownGracefully(20 * time.Millisecond)
		w.await("Unregistered")
	}},
	{"a panic in Read", nil, when("Read", func(*tcp.Channel, []byte) { panic("read") }), func(w *world) { w.send([]byte("x")) }},
	{"writability", []tcp.Option{tcp.WithWriteBufferWaterMarks(10, 20)}, when("Active", func(ch *tcp.Channel, _ []byte) {
		ch.Write(make([]byte, 100))
		ch.Flush()
	}), func(w *world) { w.end() }},
	{"paused input", nil, when("Active", func(ch *tcp.Channel, _ []byte) { ch.SetAutoRead(false) }), func(w *world) {
		w.send([]byte("hello"))
		w.on(func() {})
		w.ch.SetAutoRead(true)
		w.await("ReadComplete")
		w.end()
	}},
	{"the order of the end", nil, func(j *coretest.Journal) func(string, *tcp.Channel, []byte) {
		return func(event string, ch *tcp.Channel, _ []byte) {
			if event != "Active" {
				return
			}
			for _, name := range []string{"first", "second"} {
				ch.Write([]byte(name)).OnDone(func(n int, err error) {
					j.Add(name + " failed: " + map[bool]string{true: "closed", false: "no"}[errors.Is(err, tcp.ErrChannelClosed)])
				})
			}
			ch.CloseFuture().OnDone(func(struct{}, error) { j.Add("CloseFuture") })
			ch.Close().OnDone(func(struct{}, error) { j.Add("Close") })
		}
	}, func(*world) {}},
}

// TestSameAsASocket runs each scenario on a socket of the kernel and in memory: the calls of
// the handler, the bytes that the peer gets, and the report are equal.
func TestSameAsASocket(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			real, memory := s.onASocket(t), s.inMemory(t)
			if s.name == "the peer resets" { // it has closed its socket, and cannot ask for what it got
				real.received, real.end = memory.received, memory.end
			}
			if real != memory {
				t.Errorf("on a socket %+v\n in memory %+v", real, memory)
			}
		})
	}
}

// TestRoom: a peer that stops reading is one whose kernel has no room.
func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := new(coretest.Journal)
		peer := tcptest.Connect(t, recorder{Journal: j})
		peer.SetRoom(3)
		write := peer.Channel().WriteAndFlush([]byte("hello"))
		if got := string(peer.Received()); got != "hel" || peer.Channel().PendingBytes() != 2 {
			t.Errorf("got %q, %d bytes wait; want hel and 2", got, peer.Channel().PendingBytes())
		}
		peer.SetRoom(-1)
		if got := string(peer.Received()); got != "lo" {
			t.Errorf("got %q, want lo", got)
		}
		n, err := write.Wait(t.Context())
		if n != 5 || err != nil {
			t.Errorf("the write: %d, %v; want 5", n, err)
		}
		peer.SetRoom(0)
		last := peer.Channel().WriteAndFlush([]byte("x"))
		peer.Reset()
		if err := last.Err(); !errors.Is(err, syscall.ECONNRESET) || peer.Err() != syscall.ECONNRESET {
			t.Errorf("the write after the reset: %v, the end %v; want ECONNRESET", err, peer.Err())
		}
		j.Want(t, "the handler", "Active Error Inactive Unregistered")
	})
}

// TestVirtualTime: timers of the loop, and of the channel, run on the clock of the bubble.
func TestVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := tcptest.Connect(t, tcp.HandlerBase{})
		if _, err := peer.EventLoop().Schedule(time.Hour, func() { peer.Channel().WriteAndFlush([]byte("tick")) }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour - 1)
		if got := string(peer.Received()); got != "" {
			t.Errorf("an hour less 1 ns: got %q", got)
		}
		time.Sleep(time.Nanosecond)
		if got := string(peer.Received()); got != "tick" {
			t.Errorf("after an hour: got %q, want tick", got)
		}
		began := time.Now()
		f := peer.Channel().CloseGracefully(time.Now().Add(time.Minute))
		_, err := f.Wait(t.Context())
		if took := time.Since(began); took != time.Minute || !errors.Is(err, tcp.ErrCloseDeadline) {
			t.Errorf("the graceful close ended after %v with %v, want 1m and ErrCloseDeadline", took, err)
		}
	})
}
