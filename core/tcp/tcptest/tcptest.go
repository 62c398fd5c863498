// Package tcptest tests handlers of core/tcp without sockets: the test is the peer of the
// channel, and time is that of a testing/synctest bubble.
//
//	func TestEcho(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			peer := tcptest.Connect(t, echo{})
//			peer.Send([]byte("hello"))
//			if got := string(peer.Received()); got != "hello" {
//				t.Errorf("got %q, want hello", got)
//			}
//			time.Sleep(time.Hour) // virtual: it returns at once, and fires timers due by then
//		})
//	}
//
// The channel is one of core/tcp on an event loop of core: it calls its handler in the same
// order and ends in the same way (G22, G23). Only the kernel is replaced, by a peer
// whose receive buffer the test controls. The package works on every system.
package tcptest

import (
	"context"
	"io"
	"net/netip"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/pollertest"
	"eventide/core/tcp"
)

// Peer is the remote end of an embedded channel. Its methods, except Channel and EventLoop,
// return when every other goroutine of the bubble is durably blocked (synctest.Wait). So
// only one goroutine at a time may call them, and bodies of the loop must not.
type Peer struct {
	loop *core.EventLoop
	ch   *tcp.Channel
	end  *end
}

// Connect makes a channel with handler, waits until Handler.Active has returned, and returns
// the peer. It must be called in a testing/synctest bubble with the bubble's t. The loop of
// the channel is shut down when the test ends.
func Connect(t testing.TB, handler tcp.Handler, opts ...tcp.Option) *Peer {
	t.Helper()
	m := pollertest.NewModel(nil)
	loop, err := core.NewEventLoop(core.WithPoller(m))
	if err != nil {
		t.Fatalf("tcptest: %v", err)
	}
	t.Cleanup(func() {
		<-loop.Shutdown().Done()
	})
	d := m.Open()
	p := &Peer{loop: loop, end: &end{d: d, room: -1}}
	if p.ch, err = tcp.Embed(loop, (*socket)(p.end), handler, opts...).Wait(context.Background()); err != nil {
		t.Fatalf("tcptest: %v", err)
	}
	synctest.Wait()
	return p
}

// Channel returns the channel under test.
func (p *Peer) Channel() *tcp.Channel { return p.ch }

// EventLoop returns the loop of the channel. It has no other channels.
func (p *Peer) EventLoop() *core.EventLoop { return p.loop }

// Send sends b to the channel. As in TCP, one Read may get the bytes of several calls.
// After End or Reset, and once the channel is closed, Send drops b.
func (p *Peer) Send(b []byte) {
	p.change(func(e *end) {
		if e.ended || e.broken != 0 || e.closed {
			return
		}
		e.input = append(e.input, b...)
		_ = e.d.Input()
	})
}

// End ends the peer's side of the stream.
func (p *Peer) End() {
	p.change(func(e *end) {
		e.ended = true
		_ = e.d.Input()
		_ = e.d.HangUp()
	})
}

// Reset resets the connection: input that the channel has not read is lost.
func (p *Peer) Reset() {
	p.change(func(e *end) {
		e.broken, e.input = syscall.ECONNRESET, nil
		_ = e.d.Input()
		_ = e.d.HangUp()
		_ = e.d.Room() // a blocked send fails
	})
}

// SetRoom sets how many more bytes the peer receives. With 0 it is a peer that stops
// reading. A negative n, the default, sets no limit.
func (p *Peer) SetRoom(n int) {
	p.change(func(e *end) {
		e.room = n
		if n != 0 {
			_ = e.d.Room()
		}
	})
}

// change runs f with the lock held, and waits until the channel has handled the change.
func (p *Peer) change(f func(e *end)) {
	p.end.mu.Lock()
	f(p.end)
	p.end.mu.Unlock()
	synctest.Wait()
}

// Received returns the bytes that the peer has received since the previous call.
func (p *Peer) Received() []byte {
	synctest.Wait()
	p.end.mu.Lock()
	defer p.end.mu.Unlock()
	b := p.end.output
	p.end.output = nil
	return b
}

// Err returns nil while the channel's side of the stream is open, io.EOF after its orderly
// end, and syscall.ECONNRESET after a reset: by Reset, by WithLinger(0), or by a close with
// unread input. On a network, the last one loses bytes that the peer has not received yet.
func (p *Peer) Err() error {
	synctest.Wait()
	p.end.mu.Lock()
	defer p.end.mu.Unlock()
	switch {
	case p.end.broken != 0:
		return p.end.broken
	case p.end.outputEnded:
		return io.EOF
	}
	return nil
}

// end is a connection in memory. Fields below mu are guarded by it.
type end struct {
	d *pollertest.Descriptor

	mu          sync.Mutex
	input       []byte // sent by the peer, not read yet
	ended       bool   // the peer's side has ended
	output      []byte // received by the peer
	outputEnded bool
	room        int // bytes that the peer still receives; negative: no limit
	broken      syscall.Errno
	closed      bool
}

// socket implements tcp.Socket over end.
type socket end

func (s *socket) FD() int { return s.d.FD() }

func (s *socket) Read(p []byte) (int, syscall.Errno) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.broken != 0:
		return 0, s.broken
	case len(s.input) == 0 && s.ended:
		return 0, 0
	case len(s.input) == 0:
		return 0, syscall.EAGAIN
	}
	n := copy(p, s.input)
	if s.input = s.input[n:]; len(s.input) == 0 && !s.ended {
		_ = s.d.Drain()
	}
	return n, 0
}

func (s *socket) Send(p []byte) (int, syscall.Errno) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(p)
	if s.room >= 0 {
		n = min(n, s.room)
	}
	switch {
	case s.broken != 0:
		return 0, s.broken
	case n == 0:
		_ = s.d.Fill()
		return 0, syscall.EAGAIN
	}
	s.output = append(s.output, p[:n]...)
	if s.room > 0 {
		s.room -= n
	}
	return n, 0
}

func (s *socket) ShutdownWrite() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outputEnded = true
	return nil
}

func (s *socket) Close(reset bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.outputEnded = true, true
	if s.broken == 0 && (reset || len(s.input) > 0) {
		s.broken = syscall.ECONNRESET
	}
	return s.d.Close()
}

// Unacknowledged returns 0: the peer acknowledges bytes when it receives them.
func (s *socket) Unacknowledged() int { return 0 }

func (s *socket) Err() syscall.Errno {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// Addrs returns addresses of TEST-NET-1, which are reserved for documentation.
func (s *socket) Addrs() (local, remote netip.AddrPort) {
	return netip.MustParseAddrPort("192.0.2.1:7"), netip.MustParseAddrPort("192.0.2.2:49152")
}
