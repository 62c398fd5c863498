package tcp_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// gracefulEnds are the two ways to request a graceful end of a channel.
var gracefulEnds = map[string]func(p *pair){
	"CloseGracefully":    func(p *pair) { p.ch.CloseGracefully(time.Time{}) },
	"ShutdownGracefully": func(p *pair) { _, _ = p.group.ShutdownGracefully(0, coretest.HangGuard) },
}

// heldPair returns a pair whose handler has read a question and holds the channel for it.
func heldPair(t *testing.T, opts ...tcp.Option) (p *pair, release func()) {
	t.Helper()
	releases := make(chan func(), 1)
	p = newPair(t, func(at string, ch *tcp.Channel, b []byte) {
		if at != "Read" {
			return
		}
		if string(b) != "question" {
			t.Errorf("the handler read %q, want the question alone", b)
			return
		}
		release, err := ch.Hold()
		coretest.WantErr(t, "Hold in Read", err, nil)
		releases <- release
	}, opts...)
	_, _ = p.peer.Write([]byte("question"))
	select {
	case release = <-releases:
	case <-time.After(coretest.HangGuard):
		t.Fatal("waited for the hold in vain")
	}
	return p, release
}

// TestG23HeldChannelWaitsForTheAnswer: the answer is written on another goroutine, after
// the end was requested and the loop has begun it.
func TestG23HeldChannelWaitsForTheAnswer(t *testing.T) {
	for name, end := range gracefulEnds {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			p, release := heldPair(t)
			end(p)
			_, _ = p.peer.Write([]byte("not accepted")) // it is neither delivered nor does it reset the connection
			coretest.OnLoop(t, p.ch.EventLoop(), func() {})
			if p.ch.IsOpen() {
				t.Error("the channel says that it is open")
			}
			for _, part := range []string{"the ", "answer"} {
				coretest.WantErr(t, "G23: a write while the channel is held", awaitWrite(t, p.ch.WriteAndFlush([]byte(part))), nil)
			}
			inLoop := make(chan tcp.WriteFuture, 1)
			coretest.OnLoop(t, p.ch.EventLoop(), func() { inLoop <- p.ch.Write([]byte("!")) }) // not flushed: it is sent all the same
			last := <-inLoop
			coretest.WantErr(t, "G23: a write on the loop while the channel is held", last.Err(), nil)
			release()
			coretest.WantErr(t, "G22: a write after the release", p.ch.Write([]byte("x")).Err(), tcp.ErrChannelClosing)
			got, err := io.ReadAll(p.peer)
			if string(got) != "the answer!" || err != nil {
				t.Errorf("G23: the peer got %q, %v; want the answer, and the end", got, err)
			}
			_ = p.peer.Close()
			p.Await(t, 1, "Unregistered")
			coretest.WantErr(t, "G23: the close", coretest.AwaitErr(t, "it", p.ch.CloseGracefully(time.Time{})), nil)
			coretest.WantErr(t, "G23: the last write", last.Err(), nil)
			if name == "ShutdownGracefully" {
				if r := coretest.AwaitDone(t, p.group); r.ChannelsDrained != 1 || r.ChannelsHeld != 0 || r.Held != "" {
					t.Errorf("G23: the report is %+v, want 1 drained and none held", r)
				}
			}
		})
	}
}

// TestG23PeersEndWaitsForTheAnswer: a client that half-closes after its last question waits
// for the answer, as nc -N does. The end of the stream must not overtake it.
func TestG23PeersEndWaitsForTheAnswer(t *testing.T) {
	for name, end := range map[string]func(p *pair){
		"open":               func(*pair) {},
		"CloseGracefully":    gracefulEnds["CloseGracefully"],
		"ShutdownGracefully": gracefulEnds["ShutdownGracefully"],
	} {
		for _, first := range []bool{false, true} { // the end of the stream comes first
			t.Run(fmt.Sprintf("%s, end of stream first: %v", name, first), func(t *testing.T) {
				coretest.CheckLeaks(t)
				p, release := heldPair(t)
				if !first {
					end(p)
				}
				_ = p.peer.CloseWrite()
				coretest.Until(t, "the end of the stream to be seen", func() (ended bool) {
					coretest.OnLoop(t, p.ch.EventLoop(), func() { ended = p.ch.InputEnded() })
					return ended
				})
				if first {
					end(p)
				}
				// A second answer begins and ends while the first one is computed.
				if another, err := p.ch.Hold(); name == "open" {
					coretest.WantErr(t, "G23: another hold", err, nil)
					another()
					coretest.Want(t, "IsOpen after the end of the stream", p.ch.IsOpen(), true)
				}
				coretest.WantErr(t, "G23: the answer", p.ch.WriteAndFlush([]byte("answer")).Err(), nil)
				release()
				got, err := io.ReadAll(p.peer)
				if string(got) != "answer" || err != nil {
					t.Errorf("G23: the peer got %q, %v; want the answer, and the end", got, err)
				}
				_ = p.peer.Close()
				p.Await(t, 1, "Unregistered")
			})
		}
	}
}

// TestG23HoldAfterTheReleaseThatTheEndAwaits: between the last release and the loop another hold begins, and then
// perhaps a graceful close. The end of the channel waits for that hold too.
func TestG23HoldAfterTheReleaseThatTheEndAwaits(t *testing.T) {
	for name, closes := range map[string]bool{"the peer's end": false, "CloseGracefully": true} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			p, release := heldPair(t)
			_ = p.peer.CloseWrite()
			coretest.Until(t, "the end of the stream to be seen", func() (ended bool) {
				coretest.OnLoop(t, p.ch.EventLoop(), func() { ended = p.ch.InputEnded() })
				return ended
			})
			second := make(chan func(), 1)
			coretest.OnLoop(t, p.ch.EventLoop(), func() {
				released := make(chan struct{})
				go func() { defer close(released); release() }()
				coretest.Await(t, "the release", released)
				hold, err := p.ch.Hold()
				coretest.WantErr(t, "a hold before the loop has seen the release", err, nil)
				second <- hold
				if closes {
					p.ch.CloseGracefully(time.Time{})
				}
			})
			coretest.OnLoop(t, p.ch.EventLoop(), func() {})
			coretest.WantErr(t, "G23: the second answer", awaitWrite(t, p.ch.WriteAndFlush([]byte("answer"))), nil)
			(<-second)()
			got, err := io.ReadAll(p.peer)
			if string(got) != "answer" || err != nil {
				t.Errorf("G23: the peer got %q, %v; want the answer, and the end", got, err)
			}
			_ = p.peer.Close()
			p.Await(t, 1, "Unregistered")
		})
	}
}

// TestHoldIsRefused by a channel that closes, with the error of a write.
func TestHoldIsRefused(t *testing.T) {
	wantRefused := func(t *testing.T, what string, ch *tcp.Channel, want ...error) {
		t.Helper()
		release, err := ch.Hold()
		coretest.WantErr(t, what, err, want...)
		release() // does nothing
	}
	for name, end := range gracefulEnds {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			p, release := heldPair(t)
			end(p)
			wantRefused(t, "a second hold after the call", p.ch, tcp.ErrChannelClosing)
			coretest.OnLoop(t, p.ch.EventLoop(), func() {
				wantRefused(t, "a second hold on the loop that drains", p.ch, tcp.ErrChannelClosing)
			})
			coretest.WantErr(t, "G23: a write after the refusals", p.ch.Write([]byte("x")).Err(), nil)
			release()
			_ = p.peer.Close()
			p.Await(t, 1, "Unregistered")
			wantRefused(t, "a hold after the end", p.ch, tcp.ErrChannelClosed, tcp.ErrChannelClosing)
		})
	}
	t.Run("Close", func(t *testing.T) {
		coretest.CheckLeaks(t)
		p, release := heldPair(t)
		coretest.WantErr(t, "Close", coretest.AwaitErr(t, "it does not wait", p.ch.Close()), nil)
		coretest.WantErr(t, "a write of the holder", p.ch.Write([]byte("x")).Err(), tcp.ErrChannelClosed)
		wantRefused(t, "a hold", p.ch, tcp.ErrChannelClosed)
		p.Await(t, 1, "Unregistered")
		release()
	})
	t.Run("CloseOutput", func(t *testing.T) {
		coretest.CheckLeaks(t)
		p, release := heldPair(t)
		coretest.WantErr(t, "CloseOutput", coretest.AwaitErr(t, "it does not wait", p.ch.CloseOutput()), nil)
		coretest.WantErr(t, "a write of the holder", p.ch.Write([]byte("x")).Err(), tcp.ErrOutputShutdown)
		wantRefused(t, "a hold", p.ch, tcp.ErrOutputShutdown)
		p.ch.CloseGracefully(time.Time{})
		_ = p.peer.Close()
		p.Await(t, 1, "Unregistered")
		release()
	})
	t.Run("CloseOutput while it drains", func(t *testing.T) {
		coretest.CheckLeaks(t)
		p, release := heldPair(t)
		p.ch.CloseGracefully(time.Time{})
		coretest.WantErr(t, "the answer", p.ch.Write([]byte("answer")).Err(), nil)
		coretest.WantErr(t, "CloseOutput", coretest.AwaitErr(t, "it does not wait", p.ch.CloseOutput()), nil)
		coretest.WantErr(t, "a write of the holder", p.ch.Write([]byte("x")).Err(), tcp.ErrChannelClosing)
		got, err := io.ReadAll(p.peer)
		if string(got) != "answer" || err != nil {
			t.Errorf("the peer got %q, %v; want the answer", got, err)
		}
		_ = p.peer.Close()
		p.Await(t, 1, "Unregistered")
		release()
	})
}

// TestHoldIsReleasedOnce: the second call of a release does not end the hold of another.
func TestHoldIsReleasedOnce(t *testing.T) {
	coretest.CheckLeaks(t)
	p, first := heldPair(t)
	var others []func()
	for range 3 {
		release, err := p.ch.Hold()
		coretest.WantErr(t, "Hold", err, nil)
		others = append(others, release)
	}
	p.ch.CloseGracefully(time.Time{})
	for _, release := range []func(){others[1], others[1], first, others[1], first, others[2], others[2]} {
		release()
		coretest.WantErr(t, "G23: a write while one hold is left", p.ch.WriteAndFlush([]byte("x")).Err(), nil)
	}
	others[0]()
	coretest.WantErr(t, "G22: a write after the last release", p.ch.Write([]byte("x")).Err(), tcp.ErrChannelClosing)
	if got, err := io.ReadAll(p.peer); string(got) != "xxxxxxx" || err != nil {
		t.Errorf("G23: the peer got %q, %v; want what was accepted", got, err)
	}
	_ = p.peer.Close()
	p.Await(t, 1, "Unregistered")
	first()
	others[0]()
}

// TestG23HeldAtTheDeadline: the deadline does not wait for a release. Only a channel that our
// side ended is reported as held: a peer that is gone waits for no answer.
func TestG23HeldAtTheDeadline(t *testing.T) {
	const soon = 50 * time.Millisecond
	for name, c := range map[string]struct {
		end  func(p *pair) core.Report
		held int64
	}{
		"timeout": {func(p *pair) core.Report {
			_, _ = p.group.ShutdownGracefully(0, soon)
			return coretest.AwaitDone(t, p.group)
		}, 1},
		"Shutdown": {func(p *pair) core.Report {
			p.group.Shutdown()
			return coretest.AwaitDone(t, p.group)
		}, 1},
		"deadline of CloseGracefully in a shutdown": {func(p *pair) core.Report {
			_, _ = p.group.ShutdownGracefully(0, coretest.HangGuard)
			f := p.ch.CloseGracefully(time.Now().Add(soon))
			coretest.WantErr(t, "G23: CloseGracefully", coretest.AwaitErr(t, "it", f), tcp.ErrCloseDeadline)
			return coretest.AwaitDone(t, p.group)
		}, 1},
		"reset by the peer": {func(p *pair) core.Report {
			_, _ = p.group.ShutdownGracefully(0, coretest.HangGuard)
			_ = p.peer.SetLinger(0)
			_ = p.peer.Close()
			return coretest.AwaitDone(t, p.group)
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			before := time.Now().Truncate(time.Millisecond)
			p, release := heldPair(t)
			defer release()
			held := time.Now()
			r := c.end(p)
			if r.ChannelsAborted != 1 || r.ChannelsDrained != 0 || r.ChannelsHeld != c.held {
				t.Errorf("G23: the report is %+v, want 1 aborted and %d held", r, c.held)
			}
			name, since, _ := strings.Cut(r.Held, ", held since ")
			if c.held == 0 {
				if r.Held != "" {
					t.Errorf("Held is %q, want none", r.Held)
				}
				return
			}
			if want := fmt.Sprintf("tcp %v to %v, holds 1", p.ch.LocalAddr(), p.ch.RemoteAddr()); name != want {
				t.Errorf("Held names %q, want %q", name, want)
			}
			if at, err := time.Parse("2006-01-02T15:04:05.000Z07:00", since); err != nil || at.Before(before) || at.After(held) {
				t.Errorf("held since %q (%v), want %v to %v", since, err, before, held)
			}
			coretest.WantErr(t, "G22: a write of the holder", p.ch.Write([]byte("x")).Err(), tcp.ErrChannelClosed, tcp.ErrChannelClosing)
		})
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
