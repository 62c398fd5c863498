package tcp_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"golang.org/x/sys/unix"
)

// TestCloseGracefully is the drain of TestG23Drain outside of a shutdown.
func TestCloseGracefully(t *testing.T) {
	cases := []struct {
		name     string
		deadline func() time.Time
		peer     func(t *testing.T, p *pair, sent int)
		after    func(p *pair)
		want     error
	}{
		{"reader", func() time.Time { return time.Time{} }, func(t *testing.T, p *pair, sent int) {
			if n, err := readAll(p.peer); n != int64(sent) || err != nil {
				t.Errorf("G23: received %d of %d: %v", n, sent, err)
			}
			_ = p.peer.Close()
		}, nil, nil},
		{"deadline", func() time.Time { return time.Now().Add(50 * time.Millisecond) }, nil, nil, tcp.ErrCloseDeadline},
		{"deadline in the past", func() time.Time { return time.Now().Add(-time.Hour) }, nil, nil, tcp.ErrCloseDeadline},
		{"Close meanwhile", func() time.Time { return time.Time{} }, nil, func(p *pair) { p.ch.Close() }, tcp.ErrChannelClosed},
		{"earlier deadline meanwhile", func() time.Time { return time.Now().Add(time.Hour) }, nil,
			func(p *pair) { p.ch.CloseGracefully(time.Now().Add(time.Millisecond)) }, tcp.ErrCloseDeadline},
		{"a later one changes nothing", func() time.Time { return time.Now().Add(20 * time.Millisecond) }, nil,
			func(p *pair) { p.ch.CloseGracefully(time.Now().Add(time.Hour)); p.ch.CloseGracefully(time.Time{}) }, tcp.ErrCloseDeadline},
		{"shutdown with an earlier deadline", func() time.Time { return time.Now().Add(time.Hour) }, nil,
			func(p *pair) { _, _ = p.group.ShutdownGracefully(0, 50*time.Millisecond) }, core.ErrShutdownTimeout},
		{"shutdown with a later one", func() time.Time { return time.Now().Add(50 * time.Millisecond) }, nil,
			func(p *pair) { _, _ = p.group.ShutdownGracefully(0, coretest.HangGuard) }, tcp.ErrCloseDeadline},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			p := newPair(t, nil)
			sent := p.kernelHolds(t) + 1
			write := p.ch.Write(make([]byte, sent)) // not flushed: it is sent all the same
			f := p.ch.CloseGracefully(c.deadline())
			coretest.WantErr(t, "G22: write after CloseGracefully", p.ch.Write([]byte("x")).Err(), tcp.ErrChannelClosing)
			if p.ch.IsOpen() {
				t.Error("the channel says that it is open")
			}
			if c.peer != nil {
				go c.peer(t, p, sent)
			}
			if c.after != nil {
				c.after(p)
			}
			err := coretest.AwaitErr(t, "the graceful close", f)
			coretest.WantErr(t, "CloseGracefully", err, c.want)
			n, writeErr := write.Wait(context.Background())
			if c.want == nil && (n != sent || writeErr != nil) {
				t.Errorf("the write: got %d and %v, want %d", n, writeErr, sent)
			}
			if c.want != nil {
				coretest.WantErr(t, "the write", writeErr, tcp.ErrChannelClosed)
			}
			coretest.WantErr(t, "CloseGracefully again", coretest.AwaitErr(t, "the second call", p.ch.CloseGracefully(time.Time{})), c.want)
		})
	}
}

// TestG23UnreadInput shows that the tempting wrong version resets the connection, and that
// CloseGracefully does not: the peer has sent input that is not read.
func TestG23UnreadInput(t *testing.T) {
	coretest.CheckLeaks(t)
	g := coretest.NewGroup(t, 1)
	lost := 0
	for _, graceful := range []bool{false, true} {
		for range 20 {
			p := newPairOn(t, g, nil)
			sent := p.ourKernelTakes(t)
			p.ch.SetAutoRead(false)
			_, _ = p.peer.Write([]byte("unread"))
			write := p.ch.WriteAndFlush(make([]byte, sent))
			coretest.Await(t, "the write", write.Done())
			if graceful {
				p.ch.CloseGracefully(time.Time{})
			} else {
				coretest.AwaitErr(t, "the close", p.ch.Close())
			}
			n, err := readAll(p.peer)
			_ = p.peer.Close()
			if !graceful && (n != int64(sent) || err != nil) {
				lost++
			}
			if graceful && (n != int64(sent) || err != nil) {
				t.Errorf("G23: received %d of %d: %v", n, sent, err)
			}
			coretest.AwaitErr(t, "the close", p.ch.CloseFuture())
		}
	}
	t.Logf("a plain close lost bytes in %d of 20 tries", lost)
}

// TestG23DrainInsideTheReadOfAnother drains a channel inside the Read of another channel
// of its loop: the input that the drain discards must not be read into the buffer of
// this Read.
func TestG23DrainInsideTheReadOfAnother(t *testing.T) {
	coretest.CheckLeaks(t)
	g := coretest.NewGroup(t, 1)
	b := newPairOn(t, g, nil)
	b.ch.SetAutoRead(false)
	coretest.OnLoop(t, g, func() {})
	_, _ = b.peer.Write(bytes.Repeat([]byte("B"), 100))
	input := []unix.PollFd{{Fd: int32(b.ch.FD()), Events: unix.POLLIN}}
	if n, err := unix.Poll(input, int(coretest.HangGuard.Milliseconds())); n != 1 || err != nil {
		t.Fatalf("poll: %d, %v: b has no input", n, err)
	}
	want := bytes.Repeat([]byte("A"), 50)
	got := make(chan []byte, 1)
	a := newPairOn(t, g, func(at string, _ *tcp.Channel, p []byte) {
		if at == "Read" {
			b.ch.CloseGracefully(time.Time{})
			got <- bytes.Clone(p)
		}
	})
	_, _ = a.peer.Write(want)
	a.Await(t, 1, "ReadComplete")
	if p := <-got; !bytes.Equal(p, want) {
		t.Errorf("G23: what a was given to read became %q, want %q", p, want)
	}
	_ = b.peer.CloseWrite()
	coretest.AwaitErr(t, "the graceful close", b.ch.CloseFuture()) // its input was discarded all the same
}

// TestG23WritesOnTheLoopWhileDraining: once the drain has begun, writes on the loop are
// refused too, and the peer gets the bytes accepted before and no others.
func TestG23WritesOnTheLoopWhileDraining(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil)
	const sent = 16 << 20 // more than the kernels hold, and the peer does not read yet
	write := p.ch.WriteAndFlush(make([]byte, sent))
	closed := p.ch.CloseGracefully(time.Time{})
	coretest.OnLoop(t, p.ch.EventLoop(), func() {
		coretest.WantErr(t, "G23: a write on the loop that drains", p.ch.WriteAndFlush([]byte("x")).Err(), tcp.ErrChannelClosing)
	})
	n, err := readAll(p.peer)
	if n != sent || err != nil {
		t.Errorf("G23: received %d of %d: %v", n, int64(sent), err)
	}
	_ = p.peer.Close()
	coretest.WantErr(t, "G23: the write", awaitWrite(t, write), nil)
	coretest.WantErr(t, "G23: the close", coretest.AwaitErr(t, "the close", closed), nil)
}

// TestG23DeadlineOfAClockThatIsSetBack: the deadline has no monotonic reading, as one
// that a caller was sent has none, and the clock is set back while its timer runs. The
// timer is set again; a timer that was superseded meanwhile leaves one behind, not two.
func TestG23DeadlineOfAClockThatIsSetBack(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil)
	f := p.ch.CloseGracefully(time.Now().Add(time.Hour).Round(0))
	coretest.OnLoop(t, p.ch.EventLoop(), func() {
		for i := range 2 {
			if !p.ch.GraceFiresEarly() {
				t.Errorf("G23: early for the time number %d, the timer of the graceful close is not set again", i+1)
			}
		}
	})
	p.ch.CloseGracefully(time.Now().Add(-time.Second))
	coretest.WantErr(t, "G23: CloseGracefully", coretest.AwaitErr(t, "the graceful close", f), tcp.ErrCloseDeadline)
	p.Await(t, 1, "Unregistered")
}
