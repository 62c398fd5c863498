package tcp_test

import (
	"fmt"
	"net/netip"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
	"eventide/core/tcp"

	"pgregory.net/rapid"
)

// TestPropG22ConcurrentCalls makes calls of one or two channels of a loop on several goroutines and on the loop at the same time. With the race
// detector it finds each access without the lock. The peer gets the bytes of each goroutine in the order of its writes, and
// none is missing in between. The futures of the writes say which bytes the kernel has taken, and each future completes.
func TestPropG22ConcurrentCalls(t *testing.T) {
	checkInBubbles(t, func(r *rapid.T) func(t *testing.T) string {
		p := &concurrentProgram{
			linger:   rapid.SampledFrom([]time.Duration{-1, 0, time.Second}).Draw(r, "linger"),
			channels: rapid.IntRange(1, 2).Draw(r, "channels"),
			held:     rapid.Bool().Draw(r, "the channels are held"),
		}
		most := rapid.SampledFrom([]int{1, 2, 6}).Draw(r, "calls of each goroutine at most")
		for range rapid.IntRange(2, 4).Draw(r, "goroutines") {
			calls := rapid.SliceOfN(rapid.SampledFrom([]string{
				"Write", "WriteAndFlush", "Write", "WriteAndFlush", "Flush", "getters", "CloseFuture", "future", "Hold", "release", "pause",
				"input", "room", "full", "CloseOutput", "CloseGracefully", "Close",
			}), 1, most).Draw(r, "calls")
			p.calls = append(p.calls, calls)
		}
		if rapid.Bool().Draw(r, "the first goroutine closes the channel while it holds it") {
			p.calls[0] = append([]string{"Hold", "CloseGracefully", "Write", "release"}, p.calls[0]...)
		}
		p.onLoop = rapid.Bool().Draw(r, "the first calls are on the loop")
		return func(t *testing.T) string {
			for range 4 { // goroutines meet by chance
				if wrong := p.run(t); wrong != "" {
					return fmt.Sprintf("G22: %s: %+v", wrong, p)
				}
			}
			return ""
		}
	})
}

// concurrentProgram are the calls of each goroutine.
type concurrentProgram struct {
	linger   time.Duration // of WithLinger; negative: none
	channels int           // which share the chunks of their buffers
	held     bool          // by a call of Hold before the others
	calls    [][]string
	onLoop   bool // the first goroutine is the loop
}

// caller is a goroutine that makes calls.
type caller struct {
	id       byte
	s        *openSocket
	ch       *tcp.Channel
	writes   []tcp.WriteFuture // of one chunk each, in order
	futures  []*core.Future[struct{}]
	releases []func()
	written  byte
}

// run makes the calls, closes the channel, and describes what is wrong.
func (p *concurrentProgram) run(t *testing.T) string {
	opts := []tcp.Option{tcp.WithWriteBufferWaterMarks(3, 6), tcp.WithWriteSpin(2), tcp.WithReadBuffer(2), tcp.WithIdleTimeouts(time.Minute, 0, time.Minute)}
	if p.linger >= 0 {
		opts = append(opts, tcp.WithLinger(p.linger))
	}
	m := pollertest.NewModel(nil)
	loop, err := core.NewEventLoop(core.WithPoller(m))
	coretest.Must(t, err)
	defer func() { <-loop.Shutdown().Done() }()
	var channels []*tcp.Channel
	var sockets []*openSocket
	var releases []func()
	for range p.channels {
		s := &openSocket{d: m.Open()}
		ch, err := tcp.Embed(loop, s, tcp.HandlerBase{}, opts...).Wait(t.Context())
		coretest.Must(t, err)
		release := func() {}
		if p.held {
			release, err = ch.Hold()
			coretest.Must(t, err)
		}
		channels, sockets, releases = append(channels, ch), append(sockets, s), append(releases, release)
	}
	var arrived atomic.Int32
	begin := func() { // on each goroutine: they spin, because goroutines that a channel wakes begin one after the other
		arrived.Add(1)
		for int(arrived.Load()) < len(p.calls) {
			runtime.Gosched()
		}
	}
	end := make(chan struct{})
	var callers []*caller
	for i, calls := range p.calls {
		c := &caller{id: byte(i), s: sockets[i%p.channels], ch: channels[i%p.channels], releases: []func(){releases[i%p.channels]}}
		callers = append(callers, c)
		body := func() {
			defer func() { end <- struct{}{} }()
			begin()
			for _, call := range calls {
				c.call(call)
			}
		}
		if i == 0 && p.onLoop {
			coretest.Must(t, loop.Execute(body))
		} else {
			go body()
		}
	}
	for range callers {
		<-end
	}
	for _, ch := range channels {
		ch.Close()
		<-ch.CloseFuture().Done()
	}
	synctest.Wait()
	for i, s := range sockets {
		if wrong := wrongOf(callers, i, p.channels, s.received); wrong != "" {
			return wrong
		}
	}
	return ""
}

// call makes a call.
func (c *caller) call(what string) {
	switch what {
	case "Write", "WriteAndFlush":
		write := c.ch.Write
		if what == "WriteAndFlush" {
			write = c.ch.WriteAndFlush
		}
		if w := write([]byte{c.id, c.written}); w.Err() == nil { // else the kernel has not taken it, and never will
			c.writes = append(c.writes, w)
			c.written++
		}
	case "Flush":
		c.ch.Flush()
	case "getters":
		_, _, _, _ = c.ch.IsOpen(), c.ch.IsWritable(), c.ch.PendingBytes(), c.ch.CloseCause()
		_, _ = c.ch.BytesBeforeUnwritable(), c.ch.BytesBeforeWritable()
	case "CloseFuture":
		c.futures = append(c.futures, c.ch.CloseFuture())
	case "future":
		if len(c.writes) > 0 {
			c.writes[0].OnDone(func(int, error) {})
		}
	case "Hold":
		release, _ := c.ch.Hold()
		c.releases = append(c.releases, release)
	case "release":
		for _, release := range c.releases {
			release()
		}
	case "pause":
		c.ch.SetAutoRead(false)
		c.ch.SetAutoRead(true)
	case "input":
		c.s.input.Store(3)
		_ = c.s.d.Input()
	case "room":
		c.s.full.Store(false)
		_ = c.s.d.Room()
	case "full":
		c.s.full.Store(true)
	case "CloseOutput":
		c.futures = append(c.futures, c.ch.CloseOutput())
	case "CloseGracefully":
		c.futures = append(c.futures, c.ch.CloseGracefully(time.Now().Add(time.Second)))
	case "Close":
		c.futures = append(c.futures, c.ch.Close())
	}
}

// wrongOf compares the futures of a channel with what its peer has received.
func wrongOf(callers []*caller, socket, sockets int, received []byte) string {
	got := make([]byte, len(callers)) // bytes of each goroutine, and so the number of its next
	for ; len(received) >= 2; received = received[2:] {
		id, number := received[0], received[1]
		if int(id) >= len(callers) || int(id)%sockets != socket || number != got[id] {
			return fmt.Sprintf("the peer got write %d of goroutine %d, want write %d", number, id, got[id])
		}
		got[id]++
	}
	for i, c := range callers {
		if i%sockets != socket {
			continue
		}
		for number, w := range c.writes {
			<-w.Done()
			if taken := w.Err() == nil; taken != (number < int(got[i])) {
				return fmt.Sprintf("write %d of goroutine %d has the error %v, and the peer got %d writes", number, i, w.Err(), got[i])
			}
		}
		for _, f := range c.futures {
			<-f.Done()
		}
	}
	return ""
}

// openSocket is a Socket in memory. Any goroutine may change what it has room for and its input.
type openSocket struct {
	d        *pollertest.Descriptor
	full     atomic.Bool
	input    atomic.Int32
	received []byte // loop only, until the channel has closed
}

func (s *openSocket) FD() int                             { return s.d.FD() }
func (s *openSocket) Addrs() (local, peer netip.AddrPort) { return local, peer }
func (s *openSocket) ShutdownWrite() error                { return nil }
func (s *openSocket) Close(bool) error                    { return s.d.Close() }
func (s *openSocket) Unacknowledged() int                 { return 0 }
func (s *openSocket) Err() syscall.Errno                  { return 0 }

func (s *openSocket) Read(p []byte) (int, syscall.Errno) {
	if n := min(int(s.input.Swap(0)), len(p)); n > 0 {
		return n, 0
	}
	return 0, syscall.EAGAIN
}

func (s *openSocket) Send(p []byte) (int, syscall.Errno) {
	if s.full.Load() {
		_ = s.d.Fill()
		return 0, syscall.EAGAIN
	}
	s.received = append(s.received, p...)
	return len(p), 0
}
