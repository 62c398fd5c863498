package tcp_test

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"slices"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// openServer returns a listener on boss and loops, and n clients of it whose channels are
// active.
func openServer(t *testing.T, boss, loops *core.Group, n int) (*tcp.Listener, []net.Conn) {
	t.Helper()
	active := make(chan struct{}, n)
	l, err := tcp.Listen(boss, loops, "127.0.0.1:0", func() tcp.Handler {
		return &recorder{then: func(at string, _ *tcp.Channel, _ []byte) {
			if at == "Active" {
				active <- struct{}{}
			}
		}}
	})
	coretest.Must(t, err)
	var clients []net.Conn
	for range n {
		c, err := net.Dial("tcp", l.Addr().String())
		coretest.Must(t, err)
		t.Cleanup(func() { _ = c.Close() })
		coretest.Await(t, "a channel to be active", active)
		clients = append(clients, c)
	}
	return l, clients
}

// remotes returns the addresses of the peers, sorted.
func remotes(channels iter.Seq[*tcp.Channel]) (all []string) {
	for ch := range channels {
		all = append(all, ch.RemoteAddr().String())
	}
	slices.Sort(all)
	return all
}

// TestChannels: of a group all, of a listener its own, each once; listeners and channels that
// close are none.
func TestChannels(t *testing.T) {
	coretest.CheckLeaks(t)
	loops := coretest.NewGroup(t, 3)
	first, ours := openServer(t, loops, loops, 7)
	second, others := openServer(t, loops, loops, 4)
	dialled := newPairOn(t, loops, nil)
	locals := func(more []string, clients ...net.Conn) []string {
		for _, c := range clients {
			more = append(more, c.LocalAddr().String())
		}
		slices.Sort(more)
		return more
	}
	wantRemotes := func(what string, got iter.Seq[*tcp.Channel], want []string) {
		t.Helper()
		if all := remotes(got); !slices.Equal(all, want) {
			t.Errorf("%s: got %v, want %v", what, all, want)
		}
	}
	dial := []string{dialled.ch.RemoteAddr().String()}
	wantRemotes("the first listener", first.Channels(), locals(nil, ours...))
	wantRemotes("the second listener", second.Channels(), locals(nil, others...))
	wantRemotes("the group", tcp.Channels(loops), locals(dial, append(ours, others...)...))
	coretest.OnLoop(t, loopOf(loops), func() { wantRemotes("on a loop", first.Channels(), locals(nil, ours...)) })
	n := 0
	for range tcp.Channels(loops) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("after a break: %d channels, want 2", n)
	}
	for ch := range first.Channels() { // each is closing from the return of the call on
		ch.CloseGracefully(time.Now().Add(coretest.HangGuard))
	}
	wantRemotes("the first listener, closing", first.Channels(), nil)
	second.Close()
	wantRemotes("a listener that is closed", second.Channels(), locals(nil, others...))
	_, err := loops.ShutdownGracefully(0, 0)
	coretest.Must(t, err)
	wantRemotes("a group that is shut down", tcp.Channels(loops), nil)
	coretest.AwaitDone(t, loops)
	wantRemotes("a group that has ended", tcp.Channels(loops), nil)
	wantRemotes("no group", tcp.Channels(nil), nil)
}

// TestBroadcast by each policy, to channels of which one is above its high water mark and
// one closes.
func TestBroadcast(t *testing.T) {
	for _, tt := range []struct {
		policy   tcp.BroadcastPolicy
		want     tcp.BroadcastResult
		got      string // by the peer of the channel that was unwritable
		gotOther string
		err      bool
	}{
		{tcp.SkipUnwritable, tcp.BroadcastResult{Accepted: 2, Unwritable: 1, Refused: 1}, "", "news", false},
		{tcp.WriteUnwritable, tcp.BroadcastResult{Accepted: 3, Refused: 1}, "news", "news", false},
		{tcp.CloseUnwritable, tcp.BroadcastResult{Accepted: 2, Unwritable: 1, Refused: 1}, "", "news", false},
		{tcp.StopAtUnwritable, tcp.BroadcastResult{Unwritable: 1}, "", "", true},
	} {
		t.Run(fmt.Sprint(tt.policy), func(t *testing.T) {
			coretest.CheckLeaks(t)
			loops := coretest.NewGroup(t, 2)
			slow, closing := newPairOn(t, loops, nil), newPairOn(t, loops, nil)
			others := []*pair{newPairOn(t, loops, nil), newPairOn(t, loops, nil)}
			filled := slow.fill(t)
			closing.ch.CloseGracefully(time.Now().Add(coretest.HangGuard))
			channels := slices.Values([]*tcp.Channel{slow.ch, others[0].ch, closing.ch, others[1].ch})
			pending := slow.ch.PendingBytes()
			message := []byte("news")
			sent, err := tcp.Broadcast(channels, message, tt.policy)
			clear(message) // it was copied
			if sent != tt.want {
				t.Errorf("got %+v, want %+v", sent, tt.want)
			}
			var unwritable *tcp.UnwritableError
			if tt.err != errors.As(err, &unwritable) || !tt.err && err != nil {
				t.Errorf("got error %v, want an *UnwritableError: %v", err, tt.err)
			}
			if want := fmt.Sprintf("tcp: Broadcast: channel to %v is not writable: %d bytes wait to be sent, want at most %d",
				slow.ch.RemoteAddr(), pending, tcp.DefaultHighWaterMark); tt.err && err.Error() != want {
				t.Errorf("the error is %q, want %q", err, want)
			}
			if tt.policy == tcp.CloseUnwritable {
				if slow.ch.IsOpen() {
					t.Fatal("the slow channel is open")
				}
				coretest.AwaitErr(t, "the slow channel to be closed", slow.ch.CloseFuture())
			}
			_ = slow.peer.CloseWrite()
			for _, p := range others {
				_ = p.peer.CloseWrite()
				if got, err := io.ReadAll(p.peer); string(got) != tt.gotOther || err != nil {
					t.Errorf("a peer got %q, %v; want %q", got, err, tt.gotOther)
				}
			}
			got, _ := io.ReadAll(slow.peer)
			if tail := string(got[max(0, len(got)-4):]); tail == "news" != (tt.got == "news") {
				t.Errorf("the slow peer got %d bytes that end in %q, want the message: %v", len(got), tail, tt.got == "news")
			}
			coretest.Await(t, "the first write", filled.Done())
			_ = closing.peer.Close()
		})
	}
}

// TestBroadcastOverAClosingChannel: a channel that another goroutine closes is not one whose peer reads
// slowly, though it is not writable any more, and does not end a Broadcast before the loop has closed it.
func TestBroadcastOverAClosingChannel(t *testing.T) {
	p := newPair(t, nil)
	coretest.OnLoop(t, p.ch.EventLoop(), func() {
		closed := make(chan struct{})
		go func() {
			p.ch.Close()
			close(closed)
		}()
		<-closed
		coretest.Want(t, "IsWritable", p.ch.IsWritable(), false)
		sent, err := tcp.Broadcast(slices.Values([]*tcp.Channel{p.ch}), []byte("x"), tcp.StopAtUnwritable)
		coretest.Want(t, "the error", err, nil)
		coretest.Want(t, "the channels", sent, tcp.BroadcastResult{Accepted: 1})
	})
}

// TestBroadcastArguments are errors of which nothing follows.
func TestBroadcastArguments(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil)
	for want, call := range map[string]func() (tcp.BroadcastResult, error){
		"tcp: Broadcast: channels is nil, want an iterator": func() (tcp.BroadcastResult, error) { return tcp.Broadcast(nil, []byte("x"), tcp.SkipUnwritable) },
		"tcp: Broadcast: policy is 4, want SkipUnwritable, WriteUnwritable, CloseUnwritable or StopAtUnwritable": func() (tcp.BroadcastResult, error) {
			return tcp.Broadcast(tcp.Channels(p.group), []byte("x"), 4)
		},
	} {
		if sent, err := call(); sent != (tcp.BroadcastResult{}) || err == nil || err.Error() != want {
			t.Errorf("got %+v, %v; want %q", sent, err, want)
		}
	}
	if n := p.ch.PendingBytes(); n != 0 {
		t.Errorf("%d bytes were written", n)
	}
}

// TestChannelsOfExecutors: a group that is not made of event loops has none.
func TestChannelsOfExecutors(t *testing.T) {
	for range tcp.Channels(coretest.NewExecutorGroup(t, 1)) {
		t.Error("an executor without I/O has a channel")
	}
}
