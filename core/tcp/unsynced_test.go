package tcp_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
	"eventide/core/tcp"
)

// steppingSocket is a Socket in memory. Any goroutine may change the fields that are atomic.
type steppingSocket struct {
	d                   *pollertest.Descriptor
	full, ended, broken atomic.Bool
	input               atomic.Int32
	unacknowledged      atomic.Int32
	atOnce              bool // loop only: Send takes no step, because the channel holds its lock
}

func (s *steppingSocket) FD() int                             { return s.d.FD() }
func (s *steppingSocket) Addrs() (local, peer netip.AddrPort) { return local, peer }

func (s *steppingSocket) Read(p []byte) (int, syscall.Errno) {
	coretest.TakeStep()
	switch n := min(int(s.input.Swap(0)), len(p)); {
	case s.broken.Load():
		return 0, syscall.ECONNRESET
	case n > 0 || s.ended.Load():
		return n, 0
	}
	return 0, syscall.EAGAIN
}

func (s *steppingSocket) Send(p []byte) (int, syscall.Errno) {
	if !s.atOnce {
		coretest.TakeStep()
	}
	switch {
	case s.broken.Load():
		return 0, syscall.ECONNRESET
	case s.full.Load():
		_ = s.d.Fill()
		return 0, syscall.EAGAIN
	}
	return min(len(p), 3), 0
}

func (s *steppingSocket) ShutdownWrite() error {
	coretest.TakeStep()
	return nil
}

func (s *steppingSocket) Close(bool) error {
	coretest.TakeStep()
	return s.d.Close()
}

func (s *steppingSocket) Unacknowledged() int {
	coretest.TakeStep()
	return int(s.unacknowledged.Load())
}

func (s *steppingSocket) Err() syscall.Errno {
	if s.broken.Load() {
		return syscall.ECONNRESET
	}
	return 0
}

// steppingHandler takes a step in each of its methods. ends counts the last calls.
type steppingHandler struct{ ends *int }

func (steppingHandler) Active(*tcp.Channel) { coretest.TakeStep() }
func (steppingHandler) Read(ch *tcp.Channel, p []byte) {
	coretest.TakeStep()
	ch.Write(p)
}
func (steppingHandler) ReadComplete(ch *tcp.Channel) {
	coretest.TakeStep()
	ch.Flush()
}
func (steppingHandler) WritabilityChanged(*tcp.Channel) { coretest.TakeStep() }
func (steppingHandler) InputShutdown(*tcp.Channel)      { coretest.TakeStep() }
func (steppingHandler) Inactive(*tcp.Channel)           { coretest.TakeStep() }
func (steppingHandler) Error(*tcp.Channel, error)       { coretest.TakeStep() }
func (steppingHandler) Idle(*tcp.Channel, tcp.IdleKind) { coretest.TakeStep() }
func (h steppingHandler) Unregistered(*tcp.Channel) {
	coretest.TakeStep()
	*h.ends++
}

// calledChannel is a channel with what its calls share.
type calledChannel struct {
	*tcp.Channel
	m       *pollertest.Model
	loop    *core.EventLoop
	s       *steppingSocket
	other   *tcp.Channel    // of the same loop
	write   tcp.WriteFuture // of bytes that may wait
	flush   tcp.WriteFuture // behind them
	release func()          // nil: the channel is not held
	ends    *int
}

// channelStates make the states of a channel. The loop of most is in the middle of some work.
var channelStates = []struct {
	name string
	opts []tcp.Option
	make func(t *testing.T, c *calledChannel)
}{
	{"open", nil, func(_ *testing.T, c *calledChannel) {
		c.Flush()
		coretest.Pass(3 * coretest.Step)
	}},
	{"not flushed", nil, func(*testing.T, *calledChannel) {}},
	{"unwritable", nil, func(_ *testing.T, c *calledChannel) { c.fill() }},
	{"held", nil, func(t *testing.T, c *calledChannel) { c.hold(t) }},
	{"held and draining", nil, func(t *testing.T, c *calledChannel) {
		c.hold(t)
		c.CloseGracefully(time.Now().Add(time.Second))
	}},
	{"held at the end of the stream, on a busy loop", nil, func(t *testing.T, c *calledChannel) {
		c.hold(t)
		c.endStream()
		coretest.Pass(3 * coretest.Step)
		c.keepLoopBusy(t)
	}},
	{"on a busy loop", nil, func(t *testing.T, c *calledChannel) { c.keepLoopBusy(t) }},
	{"draining", []tcp.Option{tcp.WithLinger(time.Second)}, func(_ *testing.T, c *calledChannel) {
		c.fill()
		c.CloseGracefully(time.Now().Add(time.Second))
	}},
	{"lingering", []tcp.Option{tcp.WithLinger(time.Second)}, func(_ *testing.T, c *calledChannel) {
		c.s.unacknowledged.Store(1)
		c.Close()
	}},
	{"paused", []tcp.Option{tcp.WithHalfClosure(true)}, func(_ *testing.T, c *calledChannel) {
		c.SetAutoRead(false)
		c.receive()
	}},
	{"reading", nil, func(_ *testing.T, c *calledChannel) {
		c.receive()
		coretest.Pass(coretest.Step + coretest.Step/2)
	}},
	{"flushing", nil, func(_ *testing.T, c *calledChannel) {
		c.Flush()
		coretest.Pass(coretest.Step / 2)
	}},
}

// newCalledChannel returns a channel in a state.
func newCalledChannel(t *testing.T, opts []tcp.Option, enter func(t *testing.T, c *calledChannel)) *calledChannel {
	m := pollertest.NewModel(nil)
	loop, err := core.NewEventLoop(core.WithPoller(m))
	coretest.EndWithTest(t, loop, err)
	opts = append([]tcp.Option{tcp.WithWriteBufferWaterMarks(3, 6), tcp.WithWriteSpin(2), tcp.WithReadBuffer(2),
		tcp.WithIdleTimeouts(4*coretest.Step, 0, time.Minute)}, opts...)
	c := &calledChannel{m: m, loop: loop, s: &steppingSocket{d: m.Open()}, ends: new(int)}
	c.Channel, err = tcp.Embed(loop, c.s, steppingHandler{c.ends}, opts...).Wait(t.Context())
	coretest.Must(t, err)
	c.other, err = tcp.Embed(loop, &steppingSocket{d: m.Open()}, steppingHandler{c.ends}, opts[:4]...).Wait(t.Context())
	coretest.Must(t, err)
	synctest.Wait()
	c.write = c.Write([]byte("ab"))
	c.other.WriteAndFlush([]byte("a")) // the loop has a spare chunk for later writes
	coretest.Pass(2 * coretest.Step)
	enter(t, c)
	return c
}

func (c *calledChannel) fill() {
	c.s.full.Store(true)
	c.flush = c.WriteAndFlush([]byte("cdefghi"))
	coretest.Pass(2*coretest.Step + coretest.Step/2)
}

func (c *calledChannel) hold(t *testing.T) {
	release, err := c.Hold()
	coretest.Must(t, err)
	c.release = release
}

// keepLoopBusy gives the loop two tasks. The first ends between the first call and the second ones. What the calls post waits
// for the second task, during which the loop takes no lock of the channel.
func (c *calledChannel) keepLoopBusy(t *testing.T) {
	coretest.MustExecute(t, c.loop, func() { coretest.Pass(coretest.Step / 2) })
	coretest.MustExecute(t, c.loop, func() { coretest.Pass(3 * coretest.Step) })
	coretest.Pass(coretest.Step / 4)
}

func (c *calledChannel) receive() {
	c.s.input.Store(2)
	_ = c.s.d.Input()
}

func (c *calledChannel) endStream() {
	c.s.ended.Store(true)
	_ = c.s.d.HangUp()
}

// writeDirectly is WriteAndFlush on the loop. Without earlier bytes, the channel holds its lock while the socket sends.
func (c *calledChannel) writeDirectly(p string) {
	c.s.atOnce = true
	c.WriteAndFlush([]byte(p))
	c.s.atOnce = false
	coretest.TakeStep()
}

// onLoop returns the call in a task of the loop.
func onLoop(call func(c *calledChannel)) func(c *calledChannel) {
	return func(c *calledChannel) { _ = c.loop.Execute(func() { call(c) }) }
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
	{"Hold", func(c *calledChannel) { _, _ = c.Hold() }},
	{"release", func(c *calledChannel) {
		if c.release != nil {
			c.release()
		}
	}},
	{"SetAutoRead", func(c *calledChannel) { c.SetAutoRead(true) }},
	{"CloseFuture", func(c *calledChannel) { c.CloseFuture().OnDone(func(struct{}, error) { coretest.TakeStep() }) }},
	{"CloseOutput", func(c *calledChannel) { c.CloseOutput().OnDone(func(struct{}, error) { coretest.TakeStep() }) }},
	{"CloseGracefully", func(c *calledChannel) { c.CloseGracefully(time.Now().Add(5 * coretest.Step)) }},
	{"Close", func(c *calledChannel) { c.Close().OnDone(func(struct{}, error) { coretest.TakeStep() }) }},
	{"OnDone of a write", func(c *calledChannel) { c.write.OnDone(func(int, error) { coretest.TakeStep() }) }},
	{"Done of a flush", func(c *calledChannel) { c.flush.Done() }},
	{"Write of the other channel", func(c *calledChannel) { c.other.Write([]byte("abc")) }},
	{"Broadcast", func(c *calledChannel) {
		_, _ = tcp.Broadcast(slices.Values([]*tcp.Channel{c.Channel}), []byte("abc"), tcp.SkipUnwritable)
	}},
	{"Broadcast to all channels", func(c *calledChannel) {
		_, _ = tcp.Broadcast(tcp.ChannelsOn(c.loop), []byte("abc"), tcp.CloseUnwritable)
	}},
}

// channelGettersAtOnce are calls that change nothing: they are made beside each of the others.
var channelGettersAtOnce = []channelCall{
	{"IsOpen", func(c *calledChannel) { c.IsOpen() }},
	{"IsWritable", func(c *calledChannel) { c.IsWritable() }},
	{"PendingBytes", func(c *calledChannel) { c.PendingBytes() }},
	{"BytesBeforeUnwritable", func(c *calledChannel) { c.BytesBeforeUnwritable() }},
	{"BytesBeforeWritable", func(c *calledChannel) { c.BytesBeforeWritable() }},
	{"CloseCause", func(c *calledChannel) { _ = c.CloseCause() }},
	{"Err of a write", func(c *calledChannel) { _ = c.write.Err() }},
}

// channelCausesAtOnce are calls that make work for the loop.
var channelCausesAtOnce = []channelCall{
	{"Write on the loop", onLoop(func(c *calledChannel) { c.Write([]byte("abcdefgh")) })},
	{"WriteAndFlush on the loop", onLoop(func(c *calledChannel) { c.writeDirectly("abc") })},
	{"WriteAndFlush on the loop of more than the room", onLoop(func(c *calledChannel) { c.writeDirectly("abcdefgh") })},
	{"Embed", func(c *calledChannel) {
		s := &steppingSocket{d: c.m.Open()}
		tcp.Embed(c.loop, s, steppingHandler{new(int)}).OnDone(func(ch *tcp.Channel, err error) {
			if err != nil {
				_ = s.d.Close()
			}
		})
	}},
	{"Close on the loop", onLoop(func(c *calledChannel) { c.Close() })},
	{"CloseGracefully on the loop", onLoop(func(c *calledChannel) { c.CloseGracefully(time.Time{}) })},
	{"input", func(c *calledChannel) { c.receive() }},
	{"the end of the stream", func(c *calledChannel) { c.endStream() }},
	{"room", func(c *calledChannel) {
		c.s.full.Store(false)
		_ = c.s.d.Room()
	}},
	{"a reset", func(c *calledChannel) {
		c.s.broken.Store(true)
		_ = c.s.d.HangUp()
	}},
	{"Shutdown", func(c *calledChannel) { c.loop.Shutdown() }},
	{"ShutdownGracefully", func(c *calledChannel) { _, _ = c.loop.ShutdownGracefully(0, 5*coretest.Step) }},
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
					name := fmt.Sprintf("S17: %s beside %s of a channel that is %s", second.name, first.name, state.name)
					coretest.InNamedBubble(t, name, func(t *testing.T) {
						c := newCalledChannel(t, state.opts, state.make)
						coretest.CallBeside(6, func() { first.call(c) }, func(int) { second.call(c) })
						c.end(t)
					})
				}
			})
		}
	}
}

// end closes both channels and checks that each has come to its end.
func (c *calledChannel) end(t *testing.T) {
	for _, ch := range []*tcp.Channel{c.Channel, c.other} {
		ch.Close()
		_, err := ch.CloseFuture().Wait(context.Background())
		coretest.Must(t, err)
	}
	c.loop.Shutdown()
	coretest.AwaitDone(t, c.loop)
	coretest.Want(t, "calls of Unregistered", *c.ends, 2)
}
