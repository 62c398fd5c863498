package blocking_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// steppingConn is a connection in memory. Any goroutine may change its fields. It looks at them once in each step.
type steppingConn struct {
	full, ended, broken, closed atomic.Bool
	input                       atomic.Int32
	deadline                    atomic.Int64 // of reads; 0: none
	handshakes                  atomic.Int32 // steps of the handshake
}

func (c *steppingConn) Read(p []byte) (int, error) {
	for {
		coretest.TakeStep()
		switch until := c.deadline.Load(); {
		case c.closed.Load():
			return 0, net.ErrClosed
		case c.broken.Load():
			return 0, syscall.ECONNRESET
		case until != 0 && time.Now().UnixNano() >= until:
			return 0, os.ErrDeadlineExceeded
		}
		if n := min(int(c.input.Swap(0)), len(p)); n > 0 {
			return n, nil
		}
		if c.ended.Load() {
			return 0, io.EOF
		}
	}
}

func (c *steppingConn) Write(p []byte) (int, error) {
	for {
		coretest.TakeStep()
		switch {
		case c.closed.Load():
			return 0, net.ErrClosed
		case c.broken.Load():
			return 0, syscall.ECONNRESET
		case !c.full.Load():
			return len(p), nil
		}
	}
}

func (c *steppingConn) CloseWrite() error {
	coretest.TakeStep()
	return nil
}

func (c *steppingConn) Close() error {
	coretest.TakeStep()
	c.closed.Store(true)
	return nil
}

func (c *steppingConn) HandshakeContext(ctx context.Context) error {
	for range c.handshakes.Load() {
		coretest.TakeStep()
		if c.closed.Load() {
			return net.ErrClosed
		}
	}
	return ctx.Err()
}

func (c *steppingConn) SetReadDeadline(t time.Time) error {
	coretest.TakeStep()
	if t.IsZero() {
		c.deadline.Store(0)
	} else {
		c.deadline.Store(t.UnixNano())
	}
	return nil
}

func (c *steppingConn) SetDeadline(time.Time) error {
	coretest.TakeStep()
	return nil
}

func (*steppingConn) SetWriteDeadline(time.Time) error { return nil }
func (*steppingConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (*steppingConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }

// steppingLog is a slog.Handler. Each record takes a step.
type steppingLog struct{}

func (steppingLog) Enabled(context.Context, slog.Level) bool { return true }
func (l steppingLog) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l steppingLog) WithGroup(string) slog.Handler          { return l }
func (steppingLog) Handle(context.Context, slog.Record) error {
	coretest.TakeStep()
	return nil
}

// newSteppingHandler returns a handler that takes a step in each of its methods. It counts the calls of Active in begins, and
// those of Unregistered in ends.
func newSteppingHandler(begins, ends *int) *handler {
	step := func(*blocking.Channel) { coretest.TakeStep() }
	return &handler{
		active:        func(*blocking.Channel) { coretest.TakeStep(); *begins++ },
		read:          func(ch *blocking.Channel, p []byte) { coretest.TakeStep(); ch.Write(p) },
		readComplete:  step,
		inputShutdown: step,
		inactive:      step,
		unregistered:  func(*blocking.Channel) { coretest.TakeStep(); *ends++ },
		failed:        func(*blocking.Channel, error) { coretest.TakeStep() },
	}
}

// calledChannel is a channel with what its calls share.
type calledChannel struct {
	*blocking.Channel
	group        *blocking.Group
	conn         *steppingConn
	write        blocking.WriteFuture // of bytes that may wait
	flush        blocking.WriteFuture // behind them
	panics       atomic.Bool          // ReadComplete panics
	begins, ends int
}

// channelStates make the states of a channel. The executor of most is in the middle of some work.
var channelStates = []struct {
	name  string
	opts  []blocking.Option
	enter func(t *testing.T, c *calledChannel)
}{
	{"in its handshake", nil, func(*testing.T, *calledChannel) {}},
	{"open", nil, func(_ *testing.T, c *calledChannel) { c.flushed() }},
	{"not flushed", nil, func(*testing.T, *calledChannel) {}},
	{"flushing", nil, func(_ *testing.T, c *calledChannel) { c.fill() }},
	{"on a busy executor", nil, func(t *testing.T, c *calledChannel) { c.keepBusy(t) }},
	{"reading", []blocking.Option{blocking.WithHalfClosure(true)}, func(_ *testing.T, c *calledChannel) {
		c.conn.input.Store(2)
		coretest.Pass(coretest.Step + coretest.Step/2)
	}},
	{"half closed", []blocking.Option{blocking.WithHalfClosure(true)}, func(_ *testing.T, c *calledChannel) {
		c.conn.ended.Store(true)
		coretest.Pass(6 * coretest.Step)
	}},
	{"blocked after Close", nil, func(_ *testing.T, c *calledChannel) {
		c.fill()
		c.Close()
		coretest.Pass(coretest.Step / 2)
	}},
	{"draining", nil, func(_ *testing.T, c *calledChannel) {
		c.fill()
		c.CloseGracefully(time.Now().Add(5 * coretest.Step))
		coretest.Pass(coretest.Step / 2)
	}},
	{"closed", nil, func(_ *testing.T, c *calledChannel) {
		c.Close()
		coretest.Pass(20 * coretest.Step)
	}},
}

// newCalledChannel returns a channel in a state.
func newCalledChannel(t *testing.T, opts []blocking.Option, state string, enter func(t *testing.T, c *calledChannel)) *calledChannel {
	c := &calledChannel{conn: &steppingConn{}}
	group, err := blocking.NewGroup(2)
	c.group = coretest.EndWithTest(t, group, err)
	if state == "in its handshake" {
		c.conn.handshakes.Store(5)
	}
	opts = append([]blocking.Option{blocking.WithReadBuffer(2), blocking.WithLogger(slog.New(steppingLog{})),
		blocking.WithCloseTimeout(2 * coretest.Step), blocking.WithHandshakeTimeout(10 * coretest.Step)}, opts...)
	h := newSteppingHandler(&c.begins, &c.ends)
	h.readComplete = func(ch *blocking.Channel) {
		coretest.TakeStep()
		if c.panics.Load() {
			panic("of a handler")
		}
		ch.Flush()
	}
	c.Channel = mustRegister(t, c.group, c.conn, h, opts...)
	coretest.Pass(3*coretest.Step + coretest.Step/4)
	c.write, c.flush = c.Write([]byte("ab")), c.Write([]byte("ab"))
	enter(t, c)
	return c
}

// flushed has the executor send what was written.
func (c *calledChannel) flushed() {
	c.Flush()
	coretest.Pass(6 * coretest.Step)
}

// fill has the executor block in a write.
func (c *calledChannel) fill() {
	c.conn.full.Store(true)
	c.flush = c.WriteAndFlush([]byte("cdefghi"))
	coretest.Pass(4 * coretest.Step)
	c.write = c.Write([]byte("jk"))
}

// keepBusy gives the executor two tasks. The first ends between the first call and the second ones.
func (c *calledChannel) keepBusy(t *testing.T) {
	coretest.MustExecute(t, c.EventLoop(), func() { coretest.Pass(3 * coretest.Step) })
	coretest.MustExecute(t, c.EventLoop(), func() { coretest.Pass(3 * coretest.Step) })
	coretest.Pass(3 * coretest.Step)
}

// onLoopOf returns the call in a task of the channel's executor.
func onLoopOf(call func(c *calledChannel)) func(c *calledChannel) {
	return func(c *calledChannel) { _ = c.EventLoop().Execute(func() { call(c) }) }
}

// channelCall is a call of one goroutine. It makes one call only: a second one would be synchronised with the first of another
// goroutine.
type channelCall struct {
	name string
	call func(c *calledChannel)
}

var channelCallsAtOnce = []channelCall{
	{"Write", func(c *calledChannel) { c.Write([]byte("abc")) }},
	{"WriteAndFlush", func(c *calledChannel) { c.WriteAndFlush([]byte("abcdefgh")) }},
	{"Flush", func(c *calledChannel) { c.Flush() }},
	{"CloseFuture", func(c *calledChannel) { c.CloseFuture().OnDone(func(struct{}, error) { coretest.TakeStep() }) }},
	{"CloseGracefully", func(c *calledChannel) { c.CloseGracefully(time.Now().Add(3 * coretest.Step)) }},
	{"Close", func(c *calledChannel) { c.Close().OnDone(func(struct{}, error) { coretest.TakeStep() }) }},
	{"OnDone of a write", func(c *calledChannel) { c.write.OnDone(func(int, error) { coretest.TakeStep() }) }},
	{"Done of a flush", func(c *calledChannel) { c.flush.Done() }},
	{"Wait for a write", func(c *calledChannel) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*coretest.Step)
		defer cancel()
		_, _ = c.write.Wait(ctx)
	}},
}

// channelGettersAtOnce are calls that change nothing: they are made beside each of the others.
var channelGettersAtOnce = []channelCall{
	{"IsOpen", func(c *calledChannel) { c.IsOpen() }},
	{"PendingBytes", func(c *calledChannel) { c.PendingBytes() }},
	{"CloseCause", func(c *calledChannel) { _ = c.CloseCause() }},
	{"Err of a write", func(c *calledChannel) { _ = c.write.Err() }},
}

// channelCausesAtOnce are calls that make work for the executor.
var channelCausesAtOnce = []channelCall{
	{"Write on the executor", onLoopOf(func(c *calledChannel) { c.Write([]byte("abcdefgh")); coretest.TakeStep() })},
	{"Flush on the executor", onLoopOf(func(c *calledChannel) { c.Flush(); coretest.TakeStep() })},
	{"Close on the executor", onLoopOf(func(c *calledChannel) { c.Close() })},
	{"CloseGracefully on the executor", onLoopOf(func(c *calledChannel) { c.CloseGracefully(time.Time{}) })},
	{"a panic on the executor", onLoopOf(func(*calledChannel) { panic("of a task") })},
	{"input", func(c *calledChannel) { c.conn.input.Store(2) }},
	{"input for a handler that panics", func(c *calledChannel) {
		c.panics.Store(true)
		c.conn.input.Store(2)
	}},
	{"the end of the stream", func(c *calledChannel) { c.conn.ended.Store(true) }},
	{"room", func(c *calledChannel) { c.conn.full.Store(false) }},
	{"a reset", func(c *calledChannel) { c.conn.broken.Store(true) }},
	{"CloseGracefully, and a reset at its deadline", func(c *calledChannel) {
		deadline := time.Now().Add(7 * coretest.Step)
		c.CloseGracefully(deadline)
		coretest.Pass(time.Until(deadline) + coretest.Step/8)
		c.conn.broken.Store(true)        // before the connection is cut: that takes a step
		coretest.Pass(2 * coretest.Step) // before the test closes the channel
	}},
	{"Shutdown", func(c *calledChannel) { c.group.Shutdown() }},
	{"ShutdownGracefully", func(c *calledChannel) { _, _ = c.group.ShutdownGracefully(0, 5*coretest.Step) }},
}

// TestChannelCallsNeedNoSynchronisation: all methods of a channel and of its futures may be called from any goroutine, at any time.
// For each pair of calls, one goroutine makes the first, and others make the second, each after another part of the work that the
// first has caused. Virtual time orders the calls, and nothing else does, so the race detector sees each access that the channel
// does not guard: the test needs the detector, and no two goroutines that really run at once.
func TestChannelCallsNeedNoSynchronisation(t *testing.T) {
	for _, state := range channelStates {
		for _, first := range slices.Concat(channelCallsAtOnce, channelCausesAtOnce) {
			t.Run(state.name+"/"+first.name, func(t *testing.T) {
				for _, second := range slices.Concat(channelCallsAtOnce, channelGettersAtOnce) {
					coretest.InNamedBubble(t, fmt.Sprintf("S17: %s beside %s of a channel that is %s", second.name, first.name, state.name), func(t *testing.T) {
						c := newCalledChannel(t, state.opts, state.name, state.enter)
						coretest.CallBeside(6, func() { first.call(c) }, func(int) { second.call(c) })
						c.end(t)
					})
				}
			})
		}
	}
}

// end closes the channel and checks that it has come to its end.
func (c *calledChannel) end(t *testing.T) {
	c.Close()
	_, err := c.CloseFuture().Wait(context.Background())
	coretest.Must(t, err)
	c.group.Shutdown()
	coretest.AwaitDone(t, c.group)
	coretest.Want(t, "calls of Unregistered", c.ends, c.begins)
	coretest.Want(t, "channels of the group", c.group.Stats().Channels, 0)
}
